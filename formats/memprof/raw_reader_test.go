package memprof

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// A contextParts is a context of a raw profile with its stack, leaf first.
type contextParts struct {
	StackID uint64
	MIB     MIB
	PCs     []uint64
}

func contextsOf(p *RawProfile) []contextParts {
	out := make([]contextParts, len(p.contexts))
	for i := range p.contexts {
		out[i].StackID = p.contexts[i].id
		p.readMIB(&p.contexts[i], &out[i].MIB)
		for b := p.pcs(&p.contexts[i]); len(b) > 0; b = b[8:] {
			out[i].PCs = append(out[i].PCs, le.Uint64(b))
		}
	}
	return out
}

// TestRawVersions reads every version back from the layout that the test writes.
func TestRawVersions(t *testing.T) {
	for version := uint64(1); version <= RawVersionMax; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			b := smallRaw(version)
			p := readRaw(t, b.bytes(), RawOptions{})
			d := b.dumps[0]
			if p.Version != int(version) || !cmp.Equal(p.Segments, d.segments) {
				t.Errorf("version %d, segments %+v", p.Version, p.Segments)
			}
			known := map[uint64]int{1: 18, 2: 25, 3: 25, 4: 27, 5: 27}[version]
			contexts := contextsOf(p)
			if len(contexts) != 2 || p.NumContexts != 2 {
				t.Fatalf("%d contexts", len(contexts))
			}
			for i, c := range contexts {
				if c.StackID != d.stacks[i].id || !slices.Equal(c.PCs, d.stacks[i].pcs) {
					t.Errorf("stack %d: %#x", c.StackID, c.PCs)
				}
				if len(c.MIB.Fields.Fields()) != known {
					t.Errorf("%d fields known, want %d", len(c.MIB.Fields.Fields()), known)
				}
				for f := allocCount; int(f) <= known; f++ {
					want := d.mibs[i].fields[f-1]
					if f == accessHistogramSize {
						want = uint64(5 - i)
					}
					if got := c.MIB.get(f); got != want || !c.MIB.Fields.has(f) {
						t.Errorf("%s is %d, want %d", f, got, want)
					}
				}
				var want []uint64
				switch version {
				case 4:
					want = []uint64{0, 1, 4095, 0x1800, 0xffff}[:5-i]
				case 5:
					want = []uint64{0, 1, 4095, 4096, 4095 << 15}[:5-i]
				}
				if !slices.Equal(c.MIB.Histogram, want) {
					t.Errorf("histogram %v, want %v", c.MIB.Histogram, want)
				}
			}
		})
	}
}

// TestSeveralDumps merges the dumps of a process field by field.
func TestSeveralDumps(t *testing.T) {
	b := smallRaw(5)
	first := b.dumps[0]
	second := smallRaw(5).dumps[0]
	// The second dump has one context of the first, with other measurements and a longer histogram, and a new one.
	m := &second.mibs[1]
	for i := range m.fields {
		m.fields[i] = 7 * uint64(i+1)
	}
	m.fields[allocTimestamp-1] = 10                             // before the first was freed, at 91
	m.fields[allocCPUID-1] = first.mibs[1].fields[allocCPUID-1] // the same
	m.fields[deallocCPUID-1] = 3 + first.mibs[1].fields[deallocCPUID-1]
	m.histogram = []uint16{1, 1, 1, 1, 1, 1}
	second.mibs = []mibBuild{{id: 300, fields: [27]uint64{9}}, *m}
	second.stacks = []stackBuild{second.stacks[1], {300, []uint64{5}}}
	second.segments = append(second.segments, Segment{Start: 0x1000, End: 0x2000})
	b.dumps = append(b.dumps, second)

	if _, err := ReadRaw("x", b.bytes(), RawOptions{LLVMCompat: true}); err == nil ||
		!strings.Contains(llvmerr.HeapMessage(err), "memprof raw profile has different segment information") {
		t.Errorf("LLVM takes no other segments, got %v", err)
	}
	for _, compat := range []bool{false, true} {
		if compat {
			b.dumps[1].segments = first.segments
		}
		p := readRaw(t, b.bytes(), RawOptions{LLVMCompat: compat})
		segments := 3
		if compat {
			segments = 2
		}
		if len(p.dumps) != 2 || p.dumps[1].offset != int64(len(first.bytes())) || len(p.Segments) != segments {
			t.Errorf("dumps %+v, %d segments", p.dumps, len(p.Segments))
		}
		contexts := contextsOf(p)
		if len(contexts) != 3 || contexts[0].MIB.AllocCount != 10 || contexts[2].StackID != 300 || contexts[2].MIB.AllocCount != 9 {
			t.Fatalf("contexts %+v", contexts)
		}
		got := contexts[1].MIB
		for f := allocCount; f <= accessHistogram; f++ {
			x, y := first.mibs[1].fields[f-1], m.fields[f-1]
			name := f.String()
			want := x
			switch {
			case strings.HasPrefix(name, "Total") || f == allocCount:
				want = x + y
			case strings.HasPrefix(name, "Min"):
				want = min(x, y)
			case strings.HasPrefix(name, "Max"):
				want = max(x, y)
			case f == allocTimestamp || f == deallocTimestamp || f == allocCPUID || f == deallocCPUID:
				want = y
			case f == numLifetimeOverlaps || f == numSameAllocCPU:
				want = x + 1
			case f == accessHistogramSize:
				want = 6
			}
			if !compat && strings.HasPrefix(name, "Num") {
				want += y
			}
			if got.get(f) != want {
				t.Errorf("compat %t: %s is %d, want %d (of %d and %d)", compat, f, got.get(f), want, x, y)
			}
		}
		if want := []uint64{1, 2, 4096, 4097, 1, 1}; !slices.Equal(got.Histogram, want) {
			t.Errorf("histogram %v, want %v", got.Histogram, want)
		}
	}
}

// TestDumpOverflow: a sum that does not fit is cut, and told of.
func TestDumpOverflow(t *testing.T) {
	b := smallRaw(5)
	b.dumps[0].mibs[0].fields[0] = 1<<32 - 5
	b.dumps = append(b.dumps, b.dumps[0])
	var told []uint64
	p := readRaw(t, b.bytes(), RawOptions{Overflow: func(id uint64) { told = append(told, id) }})
	if c := contextsOf(p)[0]; c.MIB.AllocCount != 1<<32-1 || !slices.Equal(told, []uint64{100}) {
		t.Errorf("AllocCount %d, told of %d", c.MIB.AllocCount, told)
	}
}

// TestRawErrors: what is wrong is named, with its place.
func TestRawErrors(t *testing.T) {
	const segment, mib, stack = 56, 56 + 2*64, 56 + 2*64 + 8 + 2*152 + 24 // offsets in smallRaw(5), after each count
	put := func(off int, v uint64) func([]byte) []byte {
		return func(b []byte) []byte { le.PutUint64(b[off:], v); return b }
	}
	for _, c := range []struct {
		name   string
		edit   func([]byte) []byte
		class  error
		want   string
		offset int64
		llvm   string
	}{
		{"empty", func([]byte) []byte { return nil }, profile.ErrEmpty, "empty", -1, "bad magic"},
		{"magic", put(0, 5), profile.ErrUnrecognized, "Magic is 05 00", 0, "bad magic"},
		{"big-endian", put(0, rawMagicSwapped), profile.ErrUnsupported, "big-endian", 0, "bad magic"},
		{"accesses", put(0, accessMagic), profile.ErrUnsupported, "accesses to data", 0, "bad magic"},
		{"short", func(b []byte) []byte { return b[:40] }, profile.ErrTruncated, "cut off after 40 bytes", 0, "truncated profile data"},
		{"version 0", put(8, 0), profile.ErrUnsupported, "Version is 0, want 1 to 5", 8, "unsupported instrumentation profile format version"},
		{"version 6", put(8, 6), profile.ErrUnsupported, "Version is 6, want 1 to 5", 8, "unsupported instrumentation profile format version"},
		{"size 0", put(16, 0), profile.ErrCorrupt, "TotalSize is 0", 16, "malformed"},
		{"size odd", put(16, 49), profile.ErrCorrupt, "TotalSize is 49", 16, "malformed"},
		{"size too large", put(16, 1<<40), profile.ErrTruncated, "TotalSize is 1099511627776, want at most the", 16, "malformed"},
		{"segments", put(24, 40), profile.ErrCorrupt, "SegmentOffset is 40", 24, "malformed"},
		{"MIBs before segments", put(32, 48), profile.ErrCorrupt, "MIBOffset is 48", 32, "malformed"},
		{"stacks outside", put(40, 1<<63), profile.ErrCorrupt, "StackOffset is 9223372036854775808", 40, "malformed"},
		{"stacks unaligned", put(40, 1001), profile.ErrCorrupt, "StackOffset is 1001", 40, "malformed"},
		{"trailing", func(b []byte) []byte { return append(b, 1, 2, 3) }, profile.ErrCorrupt, "dump 2, header at 0x250", 0x250, "malformed"},
		{"segment count", put(48, 1<<60), profile.ErrTruncated, "number of segments is 1152921504606846976, want at most 2", 56, "truncated"},
		{"segment count low", put(48, 1), profile.ErrCorrupt, "64 bytes before the next", segment + 64, "malformed"},
		{"segment end", put(segment+8, 1), profile.ErrCorrupt, "End is 0x1, want at least Start", segment + 8, "malformed"},
		{"build id", put(segment+24, 33), profile.ErrCorrupt, "BuildIdSize is 33, want at most 32", segment + 24, "malformed"},
		{"overlap", put(segment+64, 0x55555500fff0), profile.ErrCorrupt, "want apart", 48, "malformed"},
		{"MIB count", put(mib, 3), profile.ErrTruncated, "number of MIBs is 3, want at most 2", mib + 8, "truncated"},
		{"histogram", put(mib+8+8+132, 1<<30), profile.ErrTruncated, "AccessHistogramSize is 1073741824, want at most", mib + 8 + 152, "truncated"},
		{"unknown stack", put(mib+8, 77), profile.ErrCorrupt, "StackId is 0x4d, want the id of a stack", mib + 8, "memprof callstack record does not contain id: 77"},
		{"stack count", put(stack, 1<<62), profile.ErrTruncated, "number of stacks", stack + 8, "truncated"},
		{"depth", put(stack+16, 1<<61), profile.ErrTruncated, "NumPCs is 2305843009213693952, want at most", stack + 24, "truncated"},
		{"same id", put(stack+8+32, 100), profile.ErrCorrupt, "StackId is 0x64 again", stack + 8 + 32, "memprof raw profile got different call stack for same id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadRaw("file", c.edit(smallRaw(5).bytes()), RawOptions{})
			var fe *profile.FormatError
			if !errors.As(err, &fe) || profile.ClassOf(fe) != c.class || fe.File != "file" {
				t.Fatalf("error %v, want one of class %v", err, c.class)
			}
			if !strings.Contains(err.Error(), c.want) || fe.Offset != c.offset {
				t.Errorf("error %v (offset %d), want %q at %d", err, fe.Offset, c.want, c.offset)
			}
			if got := llvmerr.HeapMessage(err); !strings.Contains(got, c.llvm) {
				t.Errorf("LLVM's words %q, want %q", got, c.llvm)
			}
		})
	}
}

// TestDifferentProcesses: dumps of several processes are refused.
func TestDifferentProcesses(t *testing.T) {
	b := smallRaw(5)
	other := smallRaw(5).dumps[0]
	other.stacks[0].pcs[1]++
	b.dumps = append(b.dumps, other)
	_, err := ReadRaw("x", b.bytes(), RawOptions{})
	if !errors.Is(err, profile.ErrCorrupt) || !strings.Contains(err.Error(), "others than before for StackId 0x64") {
		t.Errorf("other PCs: %v", err)
	}
	other.segments[0].BuildID = []byte{9}
	_, err = ReadRaw("x", b.bytes(), RawOptions{})
	if !errors.Is(err, profile.ErrMismatch) || !strings.Contains(err.Error(), "dump 2, segments") {
		t.Errorf("another build: %v", err)
	}
}

// TestRawSamples reads profiles of other programs.
func TestRawSamples(t *testing.T) {
	dir := filepath.Join(oracle.Samples(t), "memprof")
	for _, c := range []struct {
		name                               string
		version, dumps, segments, contexts int
		buckets                            int // in all histograms
	}{
		{"raw-v1", 1, 1, 9, 3, 0},
		{"raw-v2-multi", 2, 2, 7, 4, 0},
		{"raw-v3", 3, 1, 7, 2, 0},
		{"raw-v4-histogram", 4, 1, 8, 6, 9256},
		{"raw-v4-inline", 4, 1, 8, 2, 0},
	} {
		p, err := ReadRaw(c.name, oracle.ReadFile(t, filepath.Join(dir, c.name+".memprofraw")), RawOptions{})
		if err != nil {
			t.Error(err)
			continue
		}
		buckets := 0
		for _, x := range contextsOf(p) {
			buckets += len(x.MIB.Histogram)
			if x.MIB.AllocCount == 0 || len(x.PCs) == 0 {
				t.Errorf("%s: context %+v", c.name, x)
			}
		}
		got := []int{p.Version, len(p.dumps), len(p.Segments), p.NumContexts, buckets}
		if want := []int{c.version, c.dumps, c.segments, c.contexts, c.buckets}; !slices.Equal(got, want) {
			t.Errorf("%s: %d, want %d", c.name, got, want)
		}
	}
}

// TestRawErrorsInLLVMsWords compares what is said of damaged profiles.
func TestRawErrorsInLLVMsWords(t *testing.T) {
	f := rawFixtureNamed(t, "clang22-pie")
	data := oracle.ReadFile(t, f.file)
	segments, mibs, stacks := int(le.Uint64(data[24:])), int(le.Uint64(data[32:])), int(le.Uint64(data[40:]))
	put := func(b []byte, off int, v uint64) []byte {
		b = bytes.Clone(b)
		le.PutUint64(b[off:], v)
		return b
	}
	twice := append(bytes.Clone(data), data...)
	for name, b := range map[string][]byte{
		"cut":      data[:40],
		"version":  put(data, 8, 9),
		"size":     put(data, 16, uint64(len(data)+8)),
		"id":       put(data, mibs+8, 77),
		"stacks":   put(twice, len(data)+stacks+8+16, 5),
		"segments": put(twice, len(data)+segments+8, 5),
	} {
		file := filepath.Join(t.TempDir(), "x")
		oracle.WriteFile(t, file, b)
		_, want, code := oracle.Run(t, oracle.LLVM(t, 22), "show", "--memory", "--profiled-binary="+f.program, file)
		_, err := ReadRaw(file, b, RawOptions{LLVMCompat: true})
		if code == 0 || err == nil {
			t.Errorf("%s: read", name)
			continue
		}
		if got := "error: " + llvmerr.HeapMessage(err); got != strings.TrimSuffix(want, "\n") {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestIsRaw(t *testing.T) {
	raw := smallRaw(3).bytes()
	if !IsRaw(raw) || IsRaw(raw[:7]) || IsRaw(nil) || IsRaw(bytes.Repeat([]byte{1}, 100)) {
		t.Error("raw profiles are not told from others")
	}
}
