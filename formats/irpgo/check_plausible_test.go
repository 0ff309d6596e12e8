package irpgo

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestCheckPlausible: numbers that the format allows, and no compiler or run gives, are
// told in files of the real tools.
func TestCheckPlausible(t *testing.T) {
	fixture := func(name string) []byte {
		return oracle.ReadFile(t, filepath.Join(oracle.Root(t), "testdata", "irpgo", filepath.FromSlash(name)))
	}
	const raw, indexed, text = "clang22/ir-run1.profraw", "llvm22/dispatch-indexed.profdata", "text/llvm22-ir.proftext"
	// pair returns where the first target or size of a profile is, followed by its count.
	pair := func(data []byte, kind int) int {
		p := readProfile(t, "f", data, ReaderOptions{})
		for _, f := range p.Functions {
			for _, site := range f.Records[0].Values[kind] {
				for _, v := range site {
					value := v.Value
					if format, _ := Detect(data); format == FormatRaw && kind == IndirectCallTarget {
						value = addressOf(t, data, v.Value)
					}
					if at := bytes.Index(data, le.AppendUint64(le.AppendUint64(nil, value), v.Count)); value != 0 && at >= 0 {
						return at
					}
				}
			}
		}
		t.Fatal("no values of kind", kind)
		return 0
	}
	hash := func(data []byte) int {
		p := readProfile(t, "f", data, ReaderOptions{})
		return bytes.Index(data, le.AppendUint64(nil, p.Functions[3].Records[0].Hash))
	}
	const lonelyBit = 37
	for _, c := range []struct {
		file string
		bit  func(data []byte) int
		want string
	}{
		{raw, func(d []byte) int { return 8*hash(d) + 59 }, "function hash is 0x"},
		{raw, func(d []byte) int { return 8*hash(d) + 32 }, "function hash is 0x"},
		{indexed, func(d []byte) int { return 8*hash(d) + 45 }, "function hash is 0x"},
		{raw, func(d []byte) int { return 8*pair(d, MemOPSize) + 20 }, "size of a memory operation of "},
		{raw, func(d []byte) int { return 8*pair(d, MemOPSize) + 64 + 40 }, "values that a site of kind IPVK_MemOPSize of "},
		{raw, func(d []byte) int { return 8*pair(d, IndirectCallTarget) + 64 + 40 }, "values that a site of kind IPVK_IndirectCallTarget of "},
		{raw, func(d []byte) int { return 8*pair(d, IndirectCallTarget) + 30 }, "target of an indirect call is 0x"},
		{raw, func(d []byte) int { return 8*pair(d, IndirectCallTarget) + 1 }, "target of an indirect call is 0x"},
		{indexed, func(d []byte) int { return 8*pair(d, IndirectCallTarget) + 30 }, "name reference of a target is 0x"},
		{raw, func(d []byte) int {
			r := openReader(t, "f", d, ReaderOptions{})
			return 8*int(r.dec.(*rawReader).cur.counters.off) + lonelyBit
		}, "counter of "},
		{text, func(d []byte) int { return 8*bytes.Index(d, []byte("\nmain\n")) + 8 + 7 }, "function name is "},
		{text, func(d []byte) int { return 8*bytes.Index(d, []byte("\n_ZNK3SumIlLj0EE5totalEv:")) + 8 + 1 }, "target is "},
	} {
		data := fixture(c.file)
		if rep := Check(c.file, data); len(rep.Remarks)+len(rep.Findings) > 0 {
			t.Fatalf("%s: %v %v", c.file, rep.Findings, rep.Remarks)
		}
		bit := c.bit(data)
		data[bit/8] ^= 1 << (bit % 8)
		rep := Check(c.file, data)
		told := ""
		for _, err := range rep.Remarks {
			told += err.Error() + "\n"
		}
		if !strings.Contains(told, c.want) {
			t.Errorf("%s, bit %d: %q, findings %v, want %q", c.file, bit, told, rep.Findings, c.want)
		}
		if c.want == "counter of " { // a higher one is a finding, also in a merge
			data[bit/8] ^= 1 << (bit % 8)
			bit += 52 - lonelyBit
			data[bit/8] ^= 1 << (bit % 8)
			p := readProfile(t, "f", data, ReaderOptions{})
			var merged bytes.Buffer
			oracle.NoError(t, WriteIndexed(&merged, p, IndexedOptions{}))
			for _, data := range [][]byte{data, merged.Bytes()} {
				if rep := Check("f", data); len(rep.Findings) != 1 || !strings.Contains(rep.Findings[0].Error(), "it is 2^52 above one of theirs") {
					t.Errorf("%v", rep.Findings)
				}
			}
		}
	}
}

// TestCheckHashes: of records of one function, hashes that differ in a bit are of one
// damaged input of a merge; others are of several builds.
func TestCheckHashes(t *testing.T) {
	const hash = 0x0a1bfc6fed398548
	for other, want := range map[uint64]int{hash ^ 1<<5: 1, hash ^ 3<<5: 0, hash | csHashBit: 0, hash ^ 1<<40: 1} {
		p := &Profile{Variant: IRLevel | ContextSens, Functions: []Function{{Name: "f", Records: []*Record{
			{Name: "f", Hash: hash, Counts: []uint64{1, 2}}, {Name: "f", Hash: other, Counts: []uint64{1, 2}},
		}}}}
		data := indexedBytes(t, p, IndexedOptions{})
		if got := strings.Count(findings(Check("f", data)), "differs in more than a bit"); got != want {
			t.Errorf("%#x: %d remarks, want %d", other, got, want)
		}
	}
}

// TestCheckPromoted: context-sensitive records of functions that ThinLTO exported have names that the build which uses
// the profile does not have.
func TestCheckPromoted(t *testing.T) {
	const hash = 0x0a1bfc6fed398548
	for _, c := range []struct {
		name string
		hash uint64
		want bool
	}{
		{"f.llvm.123", hash | csHashBit, true}, {"f.llvm.123", hash, false}, {"a.c;f", hash | csHashBit, false}, {"f.llvm.x", hash | csHashBit, false},
	} {
		p := &Profile{Variant: IRLevel | ContextSens, Functions: []Function{{Name: c.name, Records: []*Record{
			{Name: c.name, Hash: c.hash, Counts: []uint64{1, 2}},
		}}}}
		rep := Check("f", indexedBytes(t, p, IndexedOptions{}))
		if got := strings.Contains(fmt.Sprint(rep.Remarks), "ThinLTO exported is 1, such as f.llvm.123"); got != c.want {
			t.Errorf("%s, %#x: %v", c.name, c.hash, rep.Remarks)
		}
	}
}

// TestCheckRepeated: static functions of files of one name may have the name and hash of another, which merges add up.
func TestCheckRepeated(t *testing.T) {
	for second, want := range map[string]bool{"x.c;f\n5\n1\n8\n": true, "x.c;f\n6\n1\n8\n": false, "y.c;f\n5\n1\n8\n": false} {
		rep := Check("f", []byte(":ir\nx.c;f\n5\n1\n7\n\n"+second))
		if got := strings.Contains(fmt.Sprint(rep.Findings, rep.Remarks), "function is x.c;f with hash 0x5 again"); got != want {
			t.Errorf("%q: %v", second, rep)
		}
	}
}

// addressOf returns the address of a function in a raw profile.
func addressOf(t *testing.T, data []byte, ref uint64) uint64 {
	r := openReader(t, "f", data, ReaderOptions{})
	p := r.dec.(*rawReader).cur
	for i := range p.numRecords() {
		if b := p.record(i); p.nameRef(b) == ref {
			return p.addr(b, p.layout.funcPtr)
		}
	}
	return 0
}

// TestSizesOfMemoryOperations: sizes stand for the ranges of InstrProfGetRangeRepValue.
func TestSizesOfMemoryOperations(t *testing.T) {
	var got []uint64
	for size := range uint64(10000) {
		if sizeOfMemOP(size) {
			got = append(got, size)
		}
	}
	want := []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 32, 33, 64, 65, 128, 129, 256, 257, 512, 513, 8192}
	if len(got) != len(want) {
		t.Fatal(got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatal(got)
		}
	}
	if sizeOfMemOP(1<<64 - 1) {
		t.Error("2^64-1")
	}
}
