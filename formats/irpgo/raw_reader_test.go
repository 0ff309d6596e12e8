package irpgo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/alike"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// rawVersions are all combinations worth building: every released version,
// both word sizes, both byte orders, and the variants of each version.
func rawVersions() []*rawBuild {
	var out []*rawBuild
	for _, version := range []uint32{1, 2, 3, 4, 5, 7, 8, 9, 10, 11} {
		for _, ptr := range []int{4, 8} {
			for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
				variants := []Variant{0}
				if version >= 3 {
					variants = append(variants, IRLevel)
				}
				if version >= 8 {
					variants = append(variants, IRLevel|EntryFirst, IRLevel|HasTemporal,
						IRLevel|SingleByte, IRLevel|SingleByte|HasTemporal)
				}
				for _, variant := range variants {
					out = append(out, newRawBuild(version, ptr, order, variant))
				}
				if order == binary.LittleEndian && version >= 4 {
					b := newRawBuild(version, ptr, order, IRLevel)
					b.coff = true
					out = append(out, b)
				}
			}
		}
	}
	return out
}

func newRawBuild(version uint32, ptr int, order binary.AppendByteOrder, variant Variant) *rawBuild {
	b := &rawBuild{version: version, ptr: ptr, order: order, variant: variant, compress: version%2 == 0}
	switch {
	case version >= 10:
		b.kinds = 3
		b.vtables = []rawVTable{{"_ZTV3Bar", 0x5100, 16}, {"_ZTV3Foo", 0x5000, 24}}
	case version >= 4:
		b.kinds = 2
	case version >= 2:
		b.kinds = 1
	}
	if version >= 7 {
		b.ids = [][]byte{[]byte("twenty bytes of SHA1"), {1, 2, 3}}
	}
	if version >= 5 {
		b.padCnts = 16
	}
	count := func(v uint64) uint64 {
		if variant.Has(SingleByte) {
			return min(v, 1)
		}
		return v
	}
	b.funcs = []rawFunc{
		{name: "main", hash: 0x1234, stamp: 1, counts: []uint64{count(1), 0, count(7)}, addr: 0x1000},
		{name: "a.c;helper", hash: 0xfeed_0000_0001, stamp: 3, counts: []uint64{count(1<<40 + 99)}, addr: 0x2000},
		{name: "_ZN3foo3barEv", hash: 77, stamp: 2, counts: []uint64{count(3), count(4), count(5), count(6)}, addr: 0x3000},
		{name: "never", hash: 9, counts: []uint64{0, 0}},
	}
	if b.version >= 2 {
		b.funcs[0].values[IndirectCallTarget] = [][]ValueData{{{0x2000, 10}, {0x3000, 5}, {0x9999, 1}}, {}}
	}
	if b.kinds >= 2 {
		b.funcs[2].values[MemOPSize] = [][]ValueData{{{8, 100}, {513, 2}}}
		b.funcs[3].values[MemOPSize] = [][]ValueData{{}} // a blob without values
	}
	if b.kinds >= 3 {
		b.funcs[2].values[VTableTarget] = [][]ValueData{{{0x5010, 4}, {0x5100, 3}, {0x5110, 2}}}
	}
	if b.version >= 9 {
		b.funcs[0].bitmap = []byte{0x80, 0x01, 0xff}
		b.funcs[2].bitmap = []byte{0x05}
	}
	return b
}

func readAll(t *testing.T, data []byte, opt ReaderOptions) ([]Record, *Reader) {
	t.Helper()
	r := openReader(t, "test.profraw", data, opt)
	var out []Record
	for rec, err := range r.Records() {
		oracle.NoError(t, err)
		out = append(out, *rec)
	}
	return out, r
}

var sameRecords = cmpopts.EquateEmpty()

func TestRawVersions(t *testing.T) {
	for _, b := range rawVersions() {
		t.Run(b.String(), func(t *testing.T) {
			got, r := readAll(t, b.build(), ReaderOptions{})
			alike.Values(t, "records (-want +got)", b.want(), got, sameRecords)
			in := r.Info
			if in.Version != b.version || in.PointerSize != b.ptr || in.Variant != b.variant ||
				in.BigEndian != (b.order == binary.AppendByteOrder(binary.BigEndian)) || in.Profiles != 1 {
				t.Errorf("info = %+v", in)
			}
			alike.Values(t, "binary ids (-want +got)", b.ids, in.BinaryIDs, sameRecords)
			traces, stream := r.Traces()
			if b.variant.Has(HasTemporal) {
				want := []Trace{{1, []uint64{NameRef("main"), NameRef("_ZN3foo3barEv"), NameRef("a.c;helper")}}}
				if diff := cmp.Diff(want, traces); diff != "" || stream != 1 {
					t.Errorf("stream size %d, traces (-want +got):\n%s", stream, diff)
				}
			} else if traces != nil {
				t.Errorf("traces of a profile without timestamps: %v", traces)
			}
			// A second walk gives the same.
			n := 0
			for _, err := range r.ReusedRecords() {
				oracle.NoError(t, err)
				n++
			}
			if n != len(got) {
				t.Errorf("second walk gave %d records, first %d", n, len(got))
			}
		})
	}
}

// TestBinaryIDLengths: build ids of all lengths are read, also those that LLVM 13
// wrote without padding. check has no finding.
func TestBinaryIDLengths(t *testing.T) {
	for _, version := range []uint32{7, 8, 9, 10, 11} {
		for _, tight := range []bool{false, version == 7} {
			for length := range 22 {
				b := newRawBuild(version, 8, binary.LittleEndian, IRLevel)
				b.ids, b.tight = nil, tight
				if length > 0 {
					b.ids = [][]byte{[]byte("a build id of 21 bytes")[:length]}
				}
				got, r := readAll(t, b.build(), ReaderOptions{})
				alike.Values(t, fmt.Sprintf("version %d, %d bytes: records (-want +got)", version, length), b.want(), got, sameRecords)
				alike.Values(t, fmt.Sprintf("version %d, %d bytes: binary ids (-want +got)", version, length), b.ids, r.Info.BinaryIDs, sameRecords)
				if rep := Check("in", b.build()); len(rep.Findings) > 0 {
					t.Errorf("version %d, %d bytes: %v", version, length, rep.Findings)
				}
			}
		}
	}
}

// TestNamesWithNUL: the size of a name in version 1 may count the NUL at its end.
func TestNamesWithNUL(t *testing.T) {
	b := newRawBuild(1, 8, binary.LittleEndian, 0)
	want := b.want()
	for i := range b.funcs {
		b.funcs[i].name += "\x00"
	}
	got, _ := readAll(t, b.build(), ReaderOptions{})
	alike.Values(t, "records (-want +got)", want, got, sameRecords)
}

// TestCheckRawBuilds: check has nothing to say about what the runtimes of all versions write.
func TestCheckRawBuilds(t *testing.T) {
	for _, b := range rawVersions() {
		b.ids = b.ids[:min(len(b.ids), 1)] // the second is as short as no linker's own
		if got := findings(Check("in", b.build())); got != "" {
			t.Errorf("%v: %s", b, got)
		}
	}
}

// TestRawBuildAgainstLLVM has the real tool read what rawBuild makes, for the versions it can read, in every word
// size, byte order and variant, and compares the indexed bytes.
func TestRawBuildAgainstLLVM(t *testing.T) {
	for _, llvm := range []struct {
		release      int
		raw, indexed uint32
	}{{14, 8, 7}, {16, 8, 9}, {19, 10, 12}, {22, 10, 13}} {
		tool := oracle.LLVM(t, llvm.release)
		for _, b := range rawVersions() {
			if b.version != llvm.raw || llvm.release < 17 && b.variant.Has(HasTemporal) {
				continue
			}
			if llvm.release < 17 && b.order == binary.AppendByteOrder(binary.BigEndian) {
				// These releases look callees up before swapping the bytes and lose every target.
				b.funcs[0].values = valueSites{}
			}
			t.Run(fmt.Sprintf("llvm%d/%s", llvm.release, b), func(t *testing.T) {
				if llvm.release != 22 {
					oracle.Slow(t)
				}
				t.Parallel()
				data := b.build()
				dir := t.TempDir()
				in, out := filepath.Join(dir, "in.profraw"), filepath.Join(dir, "out.profdata")
				oracle.WriteFile(t, in, data)
				_, stderr, code := oracle.Run(t, tool, "merge", "-o", out, in)
				if code != 0 || stderr != "" {
					t.Fatalf("llvm-profdata exits %d: %s", code, stderr)
				}
				want := oracle.ReadFile(t, out)
				got := mergeBytes(t, llvm.indexed, data)
				if !bytes.Equal(got, want) {
					t.Errorf("indexed files differ at byte %d", firstDifference(got, want))
				}
			})
		}
	}
}

// mergeBytes merges the inputs exactly and returns the indexed file.
func mergeBytes(t *testing.T, version uint32, inputs ...[]byte) []byte {
	t.Helper()
	m := NewMerger(MergeOptions{})
	for i, data := range inputs {
		addTo(t, m, openReader(t, fmt.Sprint("input ", i), data, ReaderOptions{}), 1)
	}
	return indexedBytes(t, m.Finish().Profile(), IndexedOptions{Version: version})
}

// sameBytes ends the test if two files differ.
func sameBytes(t testing.TB, got, want []byte, format string, args ...any) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Fatalf(format+": files differ at byte %d", append(args, firstDifference(got, want))...)
	}
}

func firstDifference(a, b []byte) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return i
}

// TestRawConcatenated reads several profiles in one file, with other deltas,
// names and flags each, and padding between them.
func TestRawConcatenated(t *testing.T) {
	a := newRawBuild(10, 8, binary.LittleEndian, IRLevel|HasTemporal)
	b := newRawBuild(10, 8, binary.LittleEndian, IRLevel)
	b.funcs[0].name, b.funcs[1].name = "other_main", "other_helper"
	c := newRawBuild(10, 8, binary.LittleEndian, IRLevel|SingleByte)
	empty := &rawBuild{version: 10, ptr: 8, order: binary.LittleEndian, variant: IRLevel, kinds: 3, ids: [][]byte{{9}}}
	var file []byte
	var want []Record
	for _, x := range []*rawBuild{a, empty, b, c} {
		file = append(file, x.build()...)
		file = append(file, make([]byte, 24)...)
		want = append(want, x.want()...)
	}
	got, r := readAll(t, file, ReaderOptions{})
	alike.Values(t, "records (-want +got)", want, got, sameRecords)
	if r.Info.Profiles != 4 || r.Info.Variant != a.variant || len(r.Info.BinaryIDs) != 7 {
		t.Errorf("info = %+v", r.Info)
	}
	again := 0
	for _, err := range r.ReusedRecords() {
		oracle.NoError(t, err)
		again++
	}
	if again != len(want) || r.Info.Profiles != 4 || len(r.Info.BinaryIDs) != 7 {
		t.Errorf("second walk: %d records, info %+v", again, r.Info)
	}
}

// TestRawRelativeV7 covers the profiles of compilers between the bumps to 7
// and 8: version 7 with counter pointers relative to their record.
func TestRawRelativeV7(t *testing.T) {
	b := newRawBuild(8, 8, binary.LittleEndian, IRLevel)
	data := b.build()
	data[8] = 7
	got, _ := readAll(t, data, ReaderOptions{})
	alike.Values(t, "records (-want +got)", b.want(), got, sameRecords)
}

// TestRawWin64 covers COFF, whose label differences are 32 bits wide in 64-bit files too.
func TestRawWin64(t *testing.T) {
	b := newRawBuild(8, 8, binary.LittleEndian, IRLevel)
	data := b.build()
	size := len(b.record(0, 0, 0, 0, 0))
	le.PutUint64(data[8*8:], uint64(uint32(le.Uint64(data[8*8:])))) // CountersDelta
	first := 88 + 32 + 16                                           // header, two binary ids
	for i := range b.funcs {
		at := first + i*size + 16
		le.PutUint64(data[at:], uint64(uint32(le.Uint64(data[at:]))))
	}
	got, _ := readAll(t, data, ReaderOptions{})
	alike.Values(t, "records (-want +got)", b.want(), got, sameRecords)
}

// TestRawUnnamed: a record whose name is not in the file is left out with a
// warning, or kept under the empty name as LLVM does.
func TestRawUnnamed(t *testing.T) {
	b := newRawBuild(10, 8, binary.LittleEndian, IRLevel)
	data := b.build()
	data = bytes.Replace(data, le.AppendUint64(nil, NameRef("a.c;helper")), le.AppendUint64(nil, 0x4242), 1)
	var warnings []profile.Warning
	opt := ReaderOptions{Warn: func(w profile.Warning) { warnings = append(warnings, w) }}
	got, _ := readAll(t, data, opt)
	if len(got) != 3 || len(warnings) != 1 || !strings.Contains(warnings[0].String(), "0x4242") {
		t.Errorf("%d records, warnings %v", len(got), warnings)
	}
	opt.Lenient = true
	if got, _ = readAll(t, data, opt); len(got) != 4 || got[1].Name != "" {
		t.Errorf("lenient: %d records", len(got))
	}
}

// TestRawLargeCounter: one warning a file for counters above 2^56.
func TestRawLargeCounter(t *testing.T) {
	b := newRawBuild(9, 8, binary.BigEndian, 0)
	b.funcs[0].counts[1] = 1<<56 + 1
	b.funcs[2].counts[1] = 1 << 60
	var warnings []profile.Warning
	readAll(t, b.build(), ReaderOptions{Warn: func(w profile.Warning) { warnings = append(warnings, w) }})
	if len(warnings) != 1 {
		t.Fatalf("warnings: %v", warnings)
	}
	if got := llvmerr.Message(warnings[0].Err); got != "excessively large counter value suggests corrupted profile data: 72057594037927937" {
		t.Errorf("message %q", got)
	}
}

// TestRawErrors damages a version 10 profile in one place each and compares
// class, place and LLVM's words, where there is a tool also with what it says.
func TestRawErrors(t *testing.T) {
	base := newRawBuild(10, 8, binary.LittleEndian, IRLevel)
	clean := base.build()
	const header, idsSize = 128, 48
	records := header + idsSize
	size := len(base.record(0, 0, 0, 0, 0))
	blob := len(clean)
	for i := range base.funcs {
		blob -= len(base.valueData(&base.funcs[i]))
	}
	put := func(off int, v uint64) func([]byte) []byte {
		return func(d []byte) []byte { le.PutUint64(d[off:], v); return d }
	}
	put32 := func(off int, v uint32) func([]byte) []byte {
		return func(d []byte) []byte { le.PutUint32(d[off:], v); return d }
	}
	for _, tc := range []struct {
		name    string
		damage  func([]byte) []byte
		class   error
		section string
		offset  int64
		record  int
		llvm    string
		differs string // why LLVM 22 says something else, or nothing
	}{
		{"version 6", put(8, 6|uint64(IRLevel)), profile.ErrUnsupported, "header", 8, -1, "raw profile version mismatch: Profile uses raw profile format version = 6; expected version = 10\nPLEASE update this tool to version in the raw profile, or regenerate raw profile with expected version.", ""},
		{"version 12", put(8, 12|uint64(IRLevel)), profile.ErrUnsupported, "header", 8, -1, "raw profile version mismatch: Profile uses raw profile format version = 12; expected version = 10\nPLEASE update this tool to version in the raw profile, or regenerate raw profile with expected version.", ""},
		{"short header", func(d []byte) []byte { return d[:100] }, profile.ErrTruncated, "header", 0, -1, "invalid instrumentation profile data (file header is corrupt)", ""},
		{"id size odd", put(16, 47), profile.ErrCorrupt, "header", 16, -1, "invalid instrumentation profile data (file header is corrupt)", ""},
		{"id length 0", put(header, 0), profile.ErrCorrupt, "binary ids", header, 0, "malformed instrumentation profile data: binary id length is 0", ""},
		{"id too long", put(header, 1000), profile.ErrCorrupt, "binary ids", header, 0, "malformed instrumentation profile data: not enough data to read binary id data", ""},
		{"value kinds", put(120, 9), profile.ErrCorrupt, "header", 120, -1, "invalid instrumentation profile data (file header is corrupt)", "LLVM ignores the field"},
		{"too many records", put(24, 1<<40), profile.ErrTruncated, "data", int64(records), -1, "invalid instrumentation profile data (file header is corrupt)", ""},
		{"record overflow", put(24, 1<<60), profile.ErrTruncated, "data", int64(records), -1, "invalid instrumentation profile data (file header is corrupt)", "LLVM multiplies without checking"},
		{"no counters", put32(records+48, 0), profile.ErrCorrupt, "data", int64(records + 48), 0, "malformed instrumentation profile data: number of counters is zero", ""},
		{"negative offset", put(records+16, le.Uint64(clean[records+16:])-8), profile.ErrCorrupt, "data", int64(records + 16), 0, "malformed instrumentation profile data: counter offset -8 is negative", ""},
		{"offset past end", put(records+16, le.Uint64(clean[records+16:])+800), profile.ErrCorrupt, "data", int64(records + 16), 0, "malformed instrumentation profile data: counter offset 800 is greater than the maximum counter offset 79", ""},
		{"counters past end", put32(records+size+48, 100), profile.ErrCorrupt, "data", int64(records + size + 48), 1, "malformed instrumentation profile data: number of counters 100 is greater than the maximum number of counters 7", ""},
		{"bitmap offset", put(records+24, le.Uint64(clean[records+24:])+80), profile.ErrCorrupt, "data", int64(records + 24), 0, "malformed instrumentation profile data: bitmap offset 80 is greater than the maximum bitmap offset 3", ""},
		{"bitmap negative", put(records+24, le.Uint64(clean[records+24:])-1), profile.ErrCorrupt, "data", int64(records + 24), 0, "malformed instrumentation profile data: bitmap offset -1 is negative", ""},
		{"bitmap size", put32(records+60, 5), profile.ErrCorrupt, "data", int64(records + 60), 0, "malformed instrumentation profile data: number of bitmap bytes 5 is greater than the maximum number of bitmap bytes 4", ""},
		{"value kinds in blob", put32(blob+4, 4), profile.ErrCorrupt, "value data", int64(blob + 4), 0, "malformed instrumentation profile data: number of value profile kinds is invalid", ""},
		{"blob size odd", put32(blob, 79), profile.ErrCorrupt, "value data", int64(blob), 0, "malformed instrumentation profile data: total size is not multiples of quardword", ""},
		{"blob kind", put32(blob+8, 3), profile.ErrCorrupt, "value data", int64(blob + 8), 0, "malformed instrumentation profile data: value kind is invalid", ""},
		{"blob too large", put32(blob, 1<<20), profile.ErrCorrupt, "value data", int64(blob), 0, "too much profile data", ""},
		{"blob overrun", put32(blob+12, 1<<16), profile.ErrCorrupt, "value data", int64(blob + 12), 0, "malformed instrumentation profile data: value profile address is greater than total size", ""},
		{"value data cut off", func(d []byte) []byte { return d[:blob+4] }, profile.ErrTruncated, "value data", int64(blob), 0, "truncated profile data", ""},
		{"site count", func(d []byte) []byte { d[records+52]++; return d }, profile.ErrCorrupt, "value data", int64(blob), 0, "malformed instrumentation profile data", "LLVM does not compare the two site counts"},
		{"garbage after", func(d []byte) []byte { return append(d, bytes.Repeat([]byte("garbage "), 20)...) }, profile.ErrCorrupt, "header", int64(len(clean)), -1, "invalid instrumentation profile data (bad magic)", ""},
		{"little after", func(d []byte) []byte { return append(d, "garbage "...) }, profile.ErrCorrupt, "header", int64(len(clean)), -1, "malformed instrumentation profile data: not enough space for another header", ""},
		{"misaligned", func(d []byte) []byte { return append(append(d, 0, 0, 0), clean...) }, profile.ErrCorrupt, "header", int64(len(clean) + 3), -1, "malformed instrumentation profile data: insufficient padding", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			data := tc.damage(bytes.Clone(clean))
			err := readErr(data)
			var fe *profile.FormatError
			if !errors.As(err, &fe) {
				t.Fatalf("error %v, want a FormatError", err)
			}
			if profile.ClassOf(fe) != tc.class || fe.Section != tc.section || fe.Offset != tc.offset || fe.Record != tc.record || fe.File != "test.profraw" {
				t.Errorf("%v\nclass %v, section %q, offset %d, record %d; want %v, %q, %d, %d",
					fe, profile.ClassOf(fe), fe.Section, fe.Offset, fe.Record, tc.class, tc.section, tc.offset, tc.record)
			}
			if fe.Got == "" || fe.Want == "" || fe.Field == "" || strings.Contains(fe.Want, "-1") {
				t.Errorf("found, want or field missing: %v", fe)
			}
			if got := llvmerr.Message(err); got != tc.llvm {
				t.Errorf("LLVM's words\n got %q\nwant %q", got, tc.llvm)
			}
			checkLLVMWords(t, data, tc.llvm, tc.differs)
		})
	}
}

// readErr reads everything and returns the first error.
func readErr(data []byte) error {
	r, err := NewReader("test.profraw", data, ReaderOptions{})
	if err != nil {
		return err
	}
	return r.readable()
}

// checkLLVMWords compares with what llvm-profdata 22 says of the same bytes.
func checkLLVMWords(t *testing.T, data []byte, want, differs string) {
	t.Helper()
	tool := oracle.LLVM(t, 22)
	in := filepath.Join(t.TempDir(), "in.profraw")
	oracle.WriteFile(t, in, data)
	_, stderr, _ := oracle.Run(t, tool, "merge", "-o", os.DevNull, in)
	if strings.Contains(stderr, "\nStack dump:") {
		// LLVM looks at what a length leads to before it checks the length:
		// whether there is memory differs from run to run.
		t.Log("llvm-profdata crashed: it says nothing to compare with")
		return
	}
	_, got, _ := strings.Cut(stderr, in+": ")
	got, _, _ = strings.Cut(got, "\nerror: no profile")
	if differs == "" && got != want {
		t.Errorf("llvm-profdata says\n %q, expected\n %q", stderr, want)
	}
	if differs != "" && got == want {
		t.Errorf("llvm-profdata agrees now, though: %s", differs)
	}
}
