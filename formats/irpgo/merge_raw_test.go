package irpgo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// relatedProgram is one of several programs with functions in common, most of which are the same in all.
func relatedProgram(rng *rand.Rand) *rawBuild {
	b := newRawBuild(10, 8, binary.LittleEndian, IRLevel)
	values := b.funcs[0].values
	b.funcs = nil
	for i := range 60 {
		if rng.IntN(4) == 0 {
			continue // the linker dropped it
		}
		f := rawFunc{name: fmt.Sprint("f", i), hash: uint64(1000 + i), addr: uint64(0x10_0000 + 64*i), counts: make([]uint64, 1+i%7)}
		for j := range f.counts {
			f.counts[j] = uint64(rng.IntN(1000))
		}
		switch {
		case i%9 == 0:
			f.values = values
		case i%13 == 0:
			f.bitmap = []byte{byte(i)}
		}
		switch rng.IntN(60) {
		case 0:
			f.counts = append(f.counts, 1) // of another form
		case 1:
			f.hash++
		case 2:
			f.bitmap = []byte{1, 2}
		case 3:
			f.counts[0] = 1<<64 - 1 - uint64(rng.IntN(2)) // says that it is hot or warm
		case 4:
			f.counts[0] = largeCounter + 5
		case 5:
			f.name += ".copy"
		}
		b.funcs = append(b.funcs, f)
	}
	return b
}

// TestRelatedPrograms merges profiles of programs that share functions, by catalogs and record by record.
func TestRelatedPrograms(t *testing.T) {
	for seed := range uint64(200 / oracle.Step(8)) {
		rng := rand.New(rand.NewPCG(seed, 77))
		var inputs []weightedInput
		saturates := false // of a sum of a shape, each input does not warn anew
		for range 6 {
			in := weightedInput{relatedProgram(rng).build(), 1}
			switch rng.IntN(8) {
			case 0:
				in.weight, saturates = 1<<60, true
			case 1:
				in.weight = 3
			case 2: // damaged
				whole := bytes.Clone(in.data)
				in.data[rng.IntN(len(in.data))] ^= 1 << rng.IntN(8)
				if _, err := NewReader("in", in.data, ReaderOptions{}); err != nil {
					in.data = whole
				}
			}
			inputs = append(inputs, in)
		}
		want, wantAdded, wantWarn, _ := mergeWeighted(t, MergeOptions{}, true, inputs)
		got, gotAdded, gotWarn, _ := mergeWeighted(t, MergeOptions{}, false, inputs)
		if !bytes.Equal(got, want) {
			t.Fatalf("seed %d: files differ at byte %d", seed, firstDifference(got, want))
		}
		if diff := cmp.Diff(wantAdded, gotAdded); diff != "" {
			t.Errorf("seed %d: added (-records +catalogs):\n%s", seed, diff)
		}
		if diff := cmp.Diff(wantWarn, gotWarn); diff != "" && !saturates {
			t.Errorf("seed %d: warnings (-records +catalogs):\n%s", seed, diff)
		}
	}
}
