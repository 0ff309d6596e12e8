package irpgo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmorder"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// randomRuns are n raw profiles of one program, loaded at different addresses.
func randomRuns(rng *rand.Rand, base *rawBuild, n int) [][]byte {
	var out [][]byte
	for range n {
		b := *base
		b.slide = uint64(rng.IntN(1<<20)) << 12
		b.funcs = slices.Clone(base.funcs)
		for i := range b.funcs {
			f := &b.funcs[i]
			f.counts = slices.Clone(f.counts)
			for j := range f.counts {
				f.counts[j] = uint64(rng.IntN(1000))
				if rng.IntN(20) == 0 {
					f.counts[j] = largeCounter - 1 - uint64(rng.IntN(3))
				}
				if b.variant.Has(SingleByte) {
					f.counts[j] &= 1
				}
			}
			f.stamp = uint64(rng.IntN(6))
			f.bitmap = slices.Clone(f.bitmap)
			for j := range f.bitmap {
				f.bitmap[j] = byte(rng.IntN(256))
			}
			for k := range f.values {
				f.values[k] = slices.Clone(f.values[k])
				for s := range f.values[k] {
					f.values[k][s] = randomRawSite(rng, k, base)
				}
			}
		}
		out = append(out, b.build())
	}
	return out
}

// randomRawSite holds addresses, some of them of no function, so that a value can stand at a site several times.
func randomRawSite(rng *rand.Rand, k int, b *rawBuild) []ValueData {
	var s []ValueData
	for range rng.IntN(6) {
		v := uint64(rng.IntN(9))
		switch {
		case k == IndirectCallTarget && rng.IntN(3) > 0:
			v = b.funcs[rng.IntN(len(b.funcs))].addr
		case k == IndirectCallTarget:
			v = 0x9000 + 16*v
		case k == VTableTarget:
			v = 0x5000 + 8*uint64(rng.IntN(50))
		case rng.IntN(3) > 0: // else twice at many sites
			v = uint64(rng.IntN(200))
		}
		if v == 0 {
			v = 0x9000
		}
		s = append(s, ValueData{v, uint64(1 + rng.IntN(50))})
	}
	return s
}

type weightedInput struct {
	data   []byte
	weight uint64
}

// mergeShapes merges in order and returns the indexed file, what was added and the warnings, and how many inputs
// were added by a catalog; byRecord makes no use of catalogs.
func mergeWeighted(t testing.TB, opt MergeOptions, byRecord bool, inputs []weightedInput) (file []byte, added []Added, warnings []string, fromCatalogs int) {
	t.Helper()
	opt.KeepVTableNames = true
	opt.Warn = func(w profile.Warning) { warnings = append(warnings, w.String()) }
	m := NewMerger(opt)
	if byRecord {
		m.catalogs = nil
	}
	for i, in := range inputs {
		r := openReader(t, fmt.Sprint("in", i), in.data, ReaderOptions{Lenient: opt.LLVMCompat, Warn: opt.Warn})
		a, err := m.Add(r, in.weight)
		if err != nil {
			warnings = append(warnings, err.Error())
		}
		if refs := r.Info.NameRefs; refs != nil {
			fromCatalogs++
			want := slices.Collect(func(yield func(uint64) bool) { NameRefs("in", in.data, yield) })
			if got := slices.Collect(refs); !slices.Equal(got, want) {
				t.Fatalf("input %d: the catalog has %d name references, the file %d", i, len(got), len(want))
			}
		}
		a.Layout = 0 // only a catalog has one
		added = append(added, a)
	}
	file = indexedBytes(t, m.Finish().Profile(), IndexedOptions{})
	return file, added, warnings, fromCatalogs
}

// TestCatalogsEqualRecords merges random runs of programs of every version, word
// size, byte order and variant by catalogs and record by record.
func TestCatalogsEqualRecords(t *testing.T) {
	for seed, b := range rawVersions() {
		t.Run(b.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(seed), 8))
			for round := 0; round < 6; round += oracle.Step(3) {
				weighted := round%2 == 1
				var inputs []weightedInput
				for _, data := range randomRuns(rng, b, 6) {
					in := weightedInput{data, 1}
					if weighted {
						in.weight = uint64(1 + rng.IntN(5))
					}
					if round == 4 {
						in.weight = 1 << 60 // saturates
					}
					inputs = append(inputs, in)
				}
				for _, opt := range []MergeOptions{{}, {LLVMCompat: true}} {
					want, wantAdded, wantWarn, _ := mergeWeighted(t, opt, true, inputs)
					got, gotAdded, gotWarn, fast := mergeWeighted(t, opt, false, inputs)
					if !bytes.Equal(got, want) {
						t.Fatalf("%+v, round %d: files differ at byte %d", opt, round, firstDifference(got, want))
					}
					if diff := cmp.Diff(wantAdded, gotAdded); diff != "" {
						t.Errorf("%+v: added (-records +catalogs):\n%s", opt, diff)
					}
					if round != 4 {
						if diff := cmp.Diff(wantWarn, gotWarn); diff != "" {
							t.Errorf("%+v: warnings (-records +catalogs):\n%s", opt, diff)
						}
					}
					// Before version 8 counter pointers are absolute: no catalog is kept, and LLVM's rules need one
					// that is. Inputs that might saturate are added record by record.
					if round != 4 && fast < 6 && (b.version >= 8 || b.version >= 3 && !opt.LLVMCompat) {
						t.Errorf("%+v, round %d: %d of 6 inputs were added by a catalog", opt, round, fast)
					}
				}
			}
		})
	}
}

// TestCatalogsMixed deals profiles of several programs, of several formats, and
// damaged ones to workers; the result is that of adding record by record.
func TestCatalogsMixed(t *testing.T) {
	for seed := range uint64(40 / oracle.Step(5)) {
		rng := rand.New(rand.NewPCG(seed, 21))
		a := newRawBuild(10, 8, binary.LittleEndian, IRLevel)
		b := newRawBuild(10, 8, binary.LittleEndian, IRLevel)
		b.funcs = b.funcs[1:] // shares functions with a
		c := newRawBuild(10, 8, binary.LittleEndian, IRLevel)
		c.funcs[1].counts = append(c.funcs[1].counts, 1) // same hash, other form
		d := newRawBuild(10, 8, binary.LittleEndian, IRLevel)
		d.funcs[0].values[IndirectCallTarget] = d.funcs[0].values[IndirectCallTarget][:1] // the key of a, another form
		var inputs []weightedInput
		e := newRawBuild(10, 8, binary.LittleEndian, IRLevel)
		e.funcs[1].addr, e.funcs[2].addr = e.funcs[2].addr, e.funcs[1].addr // another function at an address
		for _, build := range []*rawBuild{a, b, c, d, e} {
			for _, data := range randomRuns(rng, build, 4) {
				inputs = append(inputs, weightedInput{data, uint64(1 + rng.IntN(3))})
			}
		}
		text := relatedInputs(t, rng, 1, false)[0].text
		inputs = append(inputs,
			weightedInput{[]byte(text), 1},
			weightedInput{a.build()[:500], 1},
			weightedInput{append(a.build(), b.build()...), 2},
			weightedInput{append(a.build(), "garbage, long enough to be looked at as another header: "+string(make([]byte, 100))...), 1})
		rng.Shuffle(len(inputs), func(i, j int) { inputs[i], inputs[j] = inputs[j], inputs[i] })
		for i := range inputs {
			if _, err := NewReader("in", inputs[i].data, ReaderOptions{}); err != nil {
				inputs[i].data = a.build() // NewReader refuses it already
			}
		}
		want, _, _, _ := mergeWeighted(t, MergeOptions{}, true, inputs)
		if got, _, _, fast := mergeWeighted(t, MergeOptions{}, false, inputs); !bytes.Equal(got, want) || fast == 0 {
			t.Fatalf("seed %d: files differ at byte %d, %d fast", seed, firstDifference(got, want), fast)
		}
		compatWant, _, _, _ := mergeWeighted(t, MergeOptions{LLVMCompat: true}, true, inputs)
		if got, _, _, _ := mergeWeighted(t, MergeOptions{LLVMCompat: true}, false, inputs); !bytes.Equal(got, compatWant) {
			t.Fatalf("seed %d, compatible: files differ at byte %d", seed, firstDifference(got, compatWant))
		}
		if got := mergeForked(t, rng, inputs); !bytes.Equal(got, want) {
			t.Fatalf("seed %d, forked: files differ at byte %d", seed, firstDifference(got, want))
		}
	}
}

func mergeForked(t testing.TB, rng *rand.Rand, inputs []weightedInput) []byte {
	root := NewMerger(MergeOptions{KeepVTableNames: true})
	forks := []*Merger{root.Fork(), root.Fork(), root.Fork()}
	for i, in := range inputs {
		r := openReader(t, "in", in.data, ReaderOptions{})
		_, _ = forks[rng.IntN(len(forks))].AddAt(i, uint64(i), r, in.weight) // a damaged input adds nothing
	}
	for _, f := range forks {
		must(t, root.Merge(f))
	}
	file := indexedBytes(t, root.Finish().Profile(), IndexedOptions{})
	return file
}

// TestContextsEqualRecords merges runs of programs that share functions, by LLVM's rules and in several contexts,
// by catalogs and record by record, which is what the rules define: that a profile's catalog is known changes
// nothing, whatever weights, repeated values, more than 255 values of a site, other forms and saturation do.
func TestContextsEqualRecords(t *testing.T) {
	again := 0
	for seed := range uint64(60 / oracle.Step(4)) {
		rng := rand.New(rand.NewPCG(seed, 34))
		var programs []*rawBuild
		for i := range 4 {
			b := newRawBuild(10, 8, binary.LittleEndian, IRLevel)
			b.funcs = slices.Clone(b.funcs[i%2:])
			if i == 2 {
				f := &b.funcs[0]
				f.counts = append(slices.Clone(f.counts), 1) // same hash, other form
			}
			own := rawFunc{name: fmt.Sprint("own", i), hash: 1, counts: []uint64{1}, addr: 0x7000}
			own.values[MemOPSize] = [][]ValueData{{}}
			b.funcs = append(b.funcs, own)
			for _, hash := range turningHashes(rng, i) {
				b.funcs = append(b.funcs, rawFunc{name: "several", hash: hash, counts: []uint64{1}, addr: 0x7100 + hash})
			}
			programs = append(programs, b)
		}
		var inputs []weightedInput
		for range 5 + 3*(seed%7) {
			in := weightedInput{randomRuns(rng, programs[rng.IntN(1+int(seed%4))], 1)[0], 1}
			if seed%5 == 4 && rng.IntN(4) == 0 {
				in.weight = uint64(1 + rng.IntN(3))
			}
			if seed%7 == 6 && rng.IntN(8) == 0 {
				in.weight = 1 << 60 // saturates
			}
			inputs = append(inputs, in)
		}
		if seed%3 == 2 {
			inputs = append(inputs, weightedInput{manySizes(rng), 1}, weightedInput{manySizes(rng), 1})
			rng.Shuffle(len(inputs), func(i, j int) { inputs[i], inputs[j] = inputs[j], inputs[i] })
		}
		for _, n := range []int{1, 2, 5} {
			want, wantWarn, _ := mergeContexts(t, n, true, inputs)
			got, gotWarn, known := mergeContexts(t, n, false, inputs)
			if !bytes.Equal(got, want) {
				t.Fatalf("seed %d, %d contexts: files differ at byte %d", seed, n, firstDifference(got, want))
			}
			if diff := cmp.Diff(wantWarn, gotWarn); diff != "" {
				t.Errorf("seed %d, %d contexts: warnings (-records +catalogs):\n%s", seed, n, diff)
			}
			again += known
		}
	}
	if again == 0 {
		t.Error("no profile had one of several catalogs that its context knew")
	}
}

// turningHashes returns n hashes that LLVM's map of the records of one name does not keep in order.
func turningHashes(rng *rand.Rand, n int) []uint64 {
	for {
		hashes := make([]uint64, n)
		for i, h := range rng.Perm(200)[:n] {
			hashes[i] = uint64(h)
		}
		if n < 2 || !slices.IsSorted(llvmorder.DenseMap(hashes, 4, releaseOf(22).hash)) {
			return hashes
		}
	}
}

// manySizes is a text profile with a function that the raw ones have, and one of whose sites has hundreds of sizes.
func manySizes(rng *rand.Rand) []byte {
	b := newRawBuild(10, 8, binary.LittleEndian, IRLevel)
	p, err := Read("in", b.build(), ReaderOptions{})
	if err != nil {
		panic(err)
	}
	for i := range p.Functions {
		for _, r := range p.Functions[i].Records {
			for s := range r.Values[MemOPSize] {
				r.Values[MemOPSize][s] = nil
				for range 200 {
					r.Values[MemOPSize][s] = append(r.Values[MemOPSize][s], ValueData{uint64(rng.IntN(400)), uint64(rng.IntN(100))})
				}
			}
		}
	}
	var out bytes.Buffer
	if err := WriteText(&out, p, TextOptions{}); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// mergeContexts merges in n contexts and joins them. It returns the file, the warnings and
// how many profiles had a layout that their context knew beside another one.
func mergeContexts(t testing.TB, n int, byRecord bool, inputs []weightedInput) (file []byte, warnings []string, known int) {
	t.Helper()
	opt := MergeOptions{LLVMCompat: true, Warn: func(w profile.Warning) { warnings = append(warnings, w.String()) }}
	contexts, layouts := make([]*Merger, n), make([]map[int]bool, n)
	for i := range contexts {
		layouts[i] = make(map[int]bool)
		if i > 0 {
			opt.Like = contexts[0]
		}
		contexts[i] = NewMerger(opt)
	}
	for i := range contexts {
		if byRecord {
			contexts[i].catalogs = nil
		}
	}
	for i, in := range inputs {
		r := openReader(t, fmt.Sprint("in", i), in.data, ReaderOptions{Lenient: true})
		added, err := contexts[i%n].Add(r, in.weight)
		must(t, err)
		if layouts[i%n][added.Layout] && len(layouts[i%n]) > 1 {
			known++
		}
		if added.Layout != 0 {
			layouts[i%n][added.Layout] = true
		}
	}
	for i := n - 1; i > 0; i-- {
		must(t, contexts[i/2].Merge(contexts[i]))
	}
	file = indexedBytes(t, contexts[0].Finish().Profile(), IndexedOptions{})
	return file, warnings, known
}

// TestCatalogNotTrusted flips every bit of a third run: what its catalog makes of
// it is what adding it record by record makes of it.
func TestCatalogNotTrusted(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	b := newRawBuild(10, 8, binary.LittleEndian, IRLevel)
	checkDamagedCatalogs(t, randomRuns(rng, b, 3))
}

// checkDamagedCatalogs flips every bit of the third run.
func checkDamagedCatalogs(t *testing.T, runs [][]byte) {
	t.Helper()
	for bit, flipped := range hostile.Flips(runs[2], 7) {
		if _, err := NewReader("in", flipped, ReaderOptions{}); err != nil {
			continue
		}
		inputs := []weightedInput{{runs[0], 1}, {runs[1], 1}, {flipped, 1}}
		want, wantAdded, _, _ := mergeWeighted(t, MergeOptions{AllowMixed: true}, true, inputs)
		got, gotAdded, _, _ := mergeWeighted(t, MergeOptions{AllowMixed: true}, false, inputs)
		if !bytes.Equal(got, want) || !slices.Equal(gotAdded, wantAdded) {
			t.Fatalf("bit %d: files differ at byte %d", bit, firstDifference(got, want))
		}
	}
}

// BenchmarkMergeRuns merges runs of one program of 20,000 functions.
func BenchmarkMergeRuns(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	base := &rawBuild{version: 10, ptr: 8, order: binary.LittleEndian, variant: IRLevel, kinds: 3, compress: true}
	for i := range 20000 {
		f := rawFunc{name: fmt.Sprintf("_ZN5space8function%dEv", i), hash: rng.Uint64() >> 4, counts: make([]uint64, 1+rng.IntN(12)), addr: 0x1000 + 64*uint64(i)}
		if i%10 == 0 {
			f.values[MemOPSize] = [][]ValueData{{{8, 1}}}
		}
		base.funcs = append(base.funcs, f)
	}
	runs := randomRuns(rng, base, 4)
	for _, byRecord := range []bool{false, true} {
		b.Run(map[bool]string{false: "catalogs", true: "records"}[byRecord], func(b *testing.B) {
			b.SetBytes(int64(len(runs[0])))
			b.ReportAllocs()
			m := NewMerger(MergeOptions{})
			if byRecord {
				m.catalogs = nil
			}
			for i := 0; b.Loop(); i++ {
				addTo(b, m, openReader(b, "in", runs[i%len(runs)], ReaderOptions{}), 1)
			}
		})
	}
}

// TestIdleFork: workers that got no input change nothing of what is written.
func TestIdleFork(t *testing.T) {
	name := filepath.Join(oracle.Root(t), "testdata", "irpgo", "clang22", "ir-run1.profraw")
	data := oracle.ReadFile(t, name)
	add := func(m *Merger) {
		addTo(t, m, openReader(t, name, data, ReaderOptions{}), 1)
	}
	m, alone := NewMerger(MergeOptions{}), NewMerger(MergeOptions{})
	busy, idle := m.Fork(), m.Fork()
	add(busy)
	add(alone)
	for _, o := range []*Merger{idle, busy, m.Fork()} {
		must(t, m.Merge(o))
	}
	var got, want bytes.Buffer
	must(t, errors.Join(m.Finish().WriteIndexed(&got, IndexedOptions{}), alone.Finish().WriteIndexed(&want, IndexedOptions{})))
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("files differ at byte %d", firstDifference(got.Bytes(), want.Bytes()))
	}
}

// TestNothingBesideText: profiles without functions take nothing away from a sum in the table.
func TestNothingBesideText(t *testing.T) {
	var empty bytes.Buffer
	must(t, WriteIndexed(&empty, &Profile{Variant: IRLevel}, IndexedOptions{}))
	some := []byte(":ir\nmain\n1\n1\n7\n")
	for at := range 4 {
		m := NewMerger(MergeOptions{})
		for i := range 4 {
			data := empty.Bytes()
			if i == at {
				data = some
			}
			addTo(t, m, openReader(t, "a", data, ReaderOptions{}), 1)
		}
		if p := m.Finish().Profile(); len(p.Functions) != 1 || p.Functions[0].Records[0].Counts[0] != 7 {
			t.Errorf("text as input %d of 4: the sum is %+v", at, p.Functions)
		}
	}
}
