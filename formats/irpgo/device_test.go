package irpgo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/alike"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// deviceProfile returns a raw profile of a program for a GPU with waves of 64 lanes.
func deviceProfile(funcs ...rawFunc) []byte {
	b := newRawBuild(11, 8, binary.LittleEndian, IRLevel)
	b.funcs, b.kinds, b.ids = funcs, 3, nil
	return b.build()
}

// indexed14 is an indexed profile of version 14 of one function per name, laid out by hand. A bucket has the last
// name first.
func indexed14(funcs ...rawFunc) []byte {
	word := binary.LittleEndian.AppendUint64
	packed := func(d, bytes []byte) []byte {
		d = append(word(d, uint64(len(bytes))), bytes...)
		return append(d, make([]byte, (8-len(bytes)%8)%8)...)
	}
	bucket := binary.LittleEndian.AppendUint16(nil, uint16(len(funcs)))
	for _, f := range slices.Backward(funcs) {
		d := word(word(nil, f.hash), uint64(len(f.counts)))
		for _, c := range f.counts {
			d = word(d, c)
		}
		d = packed(packed(d, f.bitmap), f.bits)
		d = word(d, 8) // value data: its size, and no kinds
		bucket = word(word(word(bucket, NameRef(f.name)), uint64(len(f.name))), uint64(len(d)))
		bucket = append(append(bucket, f.name...), d...)
	}
	var file []byte
	header := func(table, ids uint64) {
		file = nil
		for _, w := range []uint64{indexedMagic, 14 | uint64(IRLevel), 0, 0, table, 0, ids, 0, ids + 8} {
			file = word(file, w)
		}
		file = word(word(file, 6), 0) // a summary of six fields without cutoffs
		file = append(file, make([]byte, 6*8)...)
	}
	header(0, 0)
	start := len(file)
	padding := make([]byte, (8-(start+len(bucket))%8)%8)
	table := uint64(start + len(bucket) + len(padding))
	header(table, table+24)
	file = append(append(file, bucket...), padding...)
	file = word(word(word(file, 1), uint64(len(funcs))), uint64(start))
	return word(word(file, 0), 0) // no binary ids, no virtual tables
}

// mergeDevice merges profiles, each with the weight 1, and writes them as version 14.
func mergeDevice(t *testing.T, profiles ...[]byte) (*Profile, []byte) {
	t.Helper()
	m := NewMerger(MergeOptions{})
	for i, data := range profiles {
		oracle.Must(m.Add(oracle.Must(NewReader(fmt.Sprint(i), data, ReaderOptions{}))(t), 1))(t)
	}
	merged := m.Finish()
	var out bytes.Buffer
	oracle.NoError(t, merged.WriteIndexed(&out, IndexedOptions{Version: 14}))
	return merged.Profile(), out.Bytes()
}

// TestUniformity: a block is uniform if nine tenths of its runs had all lanes active, in whole numbers; the unused bits
// of the last byte are set.
func TestUniformity(t *testing.T) {
	data := deviceProfile(rawFunc{
		name: "kernel", hash: 7,
		counts:  []uint64{100, 100, 19, 19, 9, 0, 1000, 5, 5},
		uniform: []uint64{90, 89, 18, 17, 9, 0, 0, 5, 4},
	})
	p, out := mergeDevice(t, data)
	want := []byte{1<<0 | 1<<2 | 1<<4 | 1<<5 | 1<<7, 0xfe}
	if got := p.Functions[0].Records[0].Uniformity; !bytes.Equal(got, want) {
		t.Errorf("%08b, want %08b", got, want)
	}
	r := oracle.Must(NewReader("14", out, ReaderOptions{}))(t)
	if !r.Info.Variant.Has(device) || r.Info.Version != 14 {
		t.Errorf("version %d, %v", r.Info.Version, r.Info.Variant)
	}
	records, _ := readAll(t, out, ReaderOptions{})
	if got := records[0].Uniformity; !bytes.Equal(got, want) {
		t.Errorf("written and read: %08b, want %08b", got, want)
	}
}

// TestUniformityMerged: bits of raw profiles follow from the sums; of indexed profiles the common bits stay.
func TestUniformityMerged(t *testing.T) {
	function := func(counts, uniform []uint64) rawFunc {
		return rawFunc{name: "k", hash: 1, counts: counts, uniform: uniform}
	}
	bits := func(b byte) rawFunc { return rawFunc{name: "k", hash: 1, counts: []uint64{1, 1, 1}, bits: []byte{b}} }
	rare := deviceProfile(function([]uint64{10, 10, 10}, []uint64{0, 10, 10})) // not uniform: counter 0
	often := deviceProfile(function([]uint64{990, 10, 10}, []uint64{990, 0, 10}))
	for _, tc := range []struct {
		name   string
		inputs [][]byte
		want   byte
	}{
		{"raw sums decide", [][]byte{rare, often}, 0b11111101},
		{"bits are common", [][]byte{indexed14(bits(0xfe)), indexed14(bits(0xfd))}, 0xfc},
		{"raw and bits", [][]byte{rare, indexed14(bits(0xfb)), often}, 0b11111001},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, first := mergeDevice(t, tc.inputs...)
			records, _ := readAll(t, first, ReaderOptions{})
			if got := records[0].Uniformity; !bytes.Equal(got, []byte{tc.want}) {
				t.Errorf("%08b, want %08b", got, tc.want)
			}
			slices.Reverse(tc.inputs)
			_, second := mergeDevice(t, tc.inputs...)
			again, _ := readAll(t, second, ReaderOptions{})
			alike.Values(t, "in reverse", again, records)
		})
	}
}

// TestUniformityPartials: sums of partials, and of forks, are sums of all inputs.
func TestUniformityPartials(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var inputs [][]byte
	for range 12 {
		var funcs []rawFunc
		for k := range 1 + rng.IntN(6) {
			f := rawFunc{name: fmt.Sprint("kernel", k), hash: uint64(k)}
			for range 1 + k*5 {
				n := rng.Uint64N(1000)
				f.counts, f.uniform = append(f.counts, n), append(f.uniform, n-rng.Uint64N(n/5+1))
				f.bits = append(f.bits, 0)
			}
			f.bits = f.bits[:uniformitySize(len(f.counts))]
			for i := range f.bits {
				f.bits[i] = byte(rng.Uint32() | rng.Uint32())
			}
			if rng.IntN(4) == 0 {
				f.bitmap = []byte{1}
			}
			funcs = append(funcs, f)
		}
		if rng.IntN(3) == 0 {
			inputs = append(inputs, indexed14(funcs...))
		} else {
			inputs = append(inputs, deviceProfile(funcs...))
		}
	}
	_, want := mergeDevice(t, inputs...)
	reader := func(data []byte) *Reader { return oracle.Must(NewReader("in", data, ReaderOptions{}))(t) }
	for range 20 {
		whole := NewMerger(MergeOptions{})
		fork := whole.Fork()
		for from := 0; from < len(inputs); {
			part := NewMerger(MergeOptions{})
			to := min(from+1+rng.IntN(4), len(inputs))
			for i := from; i < to; i++ {
				oracle.Must(part.AddAt(i, uint64(i), reader(inputs[i]), 1))(t)
			}
			var data bytes.Buffer
			oracle.NoError(t, part.WritePartial(&data, nil))
			into := whole
			if rng.IntN(2) == 0 {
				into = fork
			}
			oracle.Must(into.AddAt(0, 0, reader(data.Bytes()), 1))(t)
			from = to
		}
		oracle.NoError(t, whole.Merge(fork))
		var out bytes.Buffer
		oracle.NoError(t, whole.Finish().WriteIndexed(&out, IndexedOptions{Version: 14}))
		if !bytes.Equal(out.Bytes(), want) {
			t.Fatal("partials and forks give another sum")
		}
	}
}

// TestIndexed14: host profiles have packed bitmaps and no bits. What is written is what the layout says; catalogs
// give the same sums as records.
func TestIndexed14(t *testing.T) {
	host := []rawFunc{
		{name: "f", hash: 1, counts: []uint64{5, 7}, bitmap: []byte{1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{name: "g", hash: 2, counts: []uint64{1}},
	}
	data := indexed14(host...)
	p, out := mergeDevice(t, data, data, data)
	records, _ := readAll(t, out, ReaderOptions{})
	want := []Record{
		{Name: "f", Hash: 1, Counts: []uint64{15, 21}, Bitmap: host[0].bitmap},
		{Name: "g", Hash: 2, Counts: []uint64{3}},
	}
	slices.SortFunc(records, func(a, b Record) int { return strings.Compare(a.Name, b.Name) })
	alike.Values(t, "three of one catalog", records, want)
	var direct bytes.Buffer
	oracle.NoError(t, WriteIndexed(&direct, p, IndexedOptions{Version: 14}))
	if !bytes.Equal(direct.Bytes(), out) {
		t.Errorf("the profile is written with other bytes than the sums:\n%x\n%x", direct.Bytes(), out)
	}
	if rep := Check("14", out); len(rep.Findings)+len(rep.Remarks) > 0 {
		t.Errorf("check: %v %v", rep.Findings, rep.Remarks)
	}
}

// TestUniformityLost: older versions and text have no place for the bits, and say so.
func TestUniformityLost(t *testing.T) {
	p, _ := mergeDevice(t, deviceProfile(rawFunc{name: "k", hash: 1, counts: []uint64{1}, uniform: []uint64{1}}))
	var warned []string
	warn := func(w profile.Warning) { warned = append(warned, w.Err.Error()) }
	oracle.NoError(t, WriteIndexed(new(bytes.Buffer), p, IndexedOptions{Warn: warn}))
	oracle.NoError(t, WriteText(new(bytes.Buffer), p, TextOptions{Warn: warn}))
	if len(warned) != 2 || !strings.Contains(warned[0], "uniformity bits") || !strings.Contains(warned[1], "uniformity bits") {
		t.Errorf("%q", warned)
	}
}

// TestDeviceAndHost: a profile of a GPU and a profile of the host are not added up.
func TestDeviceAndHost(t *testing.T) {
	gpu := deviceProfile(rawFunc{name: "k", hash: 1, counts: []uint64{1}, uniform: []uint64{1}})
	host := deviceProfile(rawFunc{name: "k", hash: 1, counts: []uint64{1}})
	_, gpu14 := mergeDevice(t, gpu)
	_, host14 := mergeDevice(t, host)
	for _, pair := range [][2][]byte{{gpu, host}, {host14, gpu}, {gpu14, host14}, {host, gpu14}} {
		m := NewMerger(MergeOptions{})
		oracle.Must(m.Add(oracle.Must(NewReader("a", pair[0], ReaderOptions{}))(t), 1))(t)
		_, err := m.Add(oracle.Must(NewReader("b", pair[1], ReaderOptions{}))(t), 1)
		if err == nil || !strings.Contains(err.Error(), "device") {
			t.Errorf("merged: %v", err)
		}
	}
}

// TestUniformCountersDamaged: LLVM 23's three refusals.
func TestUniformCountersDamaged(t *testing.T) {
	data := deviceProfile(rawFunc{name: "k", hash: 1, counts: []uint64{1, 2}, uniform: []uint64{1, 2}})
	record := 8 * 19
	pointer := record + 24
	whole := binary.LittleEndian.Uint64(data[pointer:])
	for _, tc := range []struct {
		at   int
		word uint64
		want string
	}{
		{pointer, whole - 1, "uniform counter offset -1 is negative"},
		{pointer, whole + 16, "uniform counter offset 16 is greater than the maximum uniform counter offset 15"},
		{pointer, whole + 8, "number of uniform counters 2 is greater than the maximum number of uniform counters 1"},
	} {
		damaged := bytes.Clone(data)
		binary.LittleEndian.PutUint64(damaged[tc.at:], tc.word)
		err := oracle.Must(NewReader("x", damaged, ReaderOptions{}))(t).readable()
		var cause *llvmerr.Error
		if err == nil || !errors.As(err, &cause) || cause.Detail != tc.want {
			t.Errorf("%v, want %q", err, tc.want)
		}
	}
}
