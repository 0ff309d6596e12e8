package irpgo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/fulldisk"
)

// TestFullDiskLarge: of a file whose every section is larger than what is written at a time, each can be the one
// that finds no room, while others are still being encoded.
func TestFullDiskLarge(t *testing.T) {
	p := &Profile{Variant: IRLevel | HasTemporal, MemProf: largeHeap(t), TraceStreamSize: 1}
	trace := Trace{Weight: 1}
	for i := range 3000 {
		name := fmt.Sprintf("function%05d", i)
		p.Functions = append(p.Functions, Function{Name: name, Records: []*Record{{Name: name, Hash: uint64(i), Counts: []uint64{1, 2, uint64(i)}}}})
		trace.NameRefs = append(trace.NameRefs, NameRef(name))
	}
	for range 3 {
		p.Traces = append(p.Traces, trace)
	}
	write := func(w io.Writer) error { return WriteIndexed(w, p, IndexedOptions{}) }
	var all fulldisk.Writer
	all.Room = 1 << 30
	must(t, write(&all))
	info := openReader(t, "f", all.Bytes(), ReaderOptions{})
	h := &info.dec.(*indexedReader).header
	rooms := []int{0, 1, 1 << 16, int(h.hashOffset) - 1, int(h.memProf) - 1, int(h.binaryIDs) - 1, int(h.traces), all.Len() - 1}
	if !slices.IsSorted(rooms) || h.binaryIDs-h.memProf < 1<<16 {
		t.Fatalf("the sections begin at %#x, %d bytes", rooms, all.Len())
	}
	for _, room := range slices.Concat(rooms, all.Writes[:3]) {
		w := fulldisk.Writer{Room: room}
		if err := write(&w); !errors.Is(err, fulldisk.ErrFull) || !bytes.HasPrefix(all.Bytes(), w.Bytes()) {
			t.Errorf("room for %d of %d bytes: %v", room, all.Len(), err)
		}
	}
}

// largeHeap is a heap profile of many call stacks.
func largeHeap(t *testing.T) *memprof.Profile {
	t.Helper()
	var doc bytes.Buffer
	doc.WriteString("---\nHeapProfileRecords:\n  - GUID: allocate\n    AllocSites:\n")
	for i := range 1000 {
		fmt.Fprintf(&doc, `      - Callstack:
          - { Function: allocate, LineOffset: %d, Column: 2, IsInlineFrame: false }
          - { Function: caller%d, LineOffset: 1, Column: 4, IsInlineFrame: false }
        MemInfoBlock: { AllocCount: 1, TotalSize: 64, TotalLifetime: 9, TotalLifetimeAccessDensity: 3 }
`, i, i)
	}
	p, err := memprof.ReadYAML("doc", doc.Bytes())
	must(t, err)
	return p
}

// TestUnwritableHeap: what no file can hold is refused before anything is written.
func TestUnwritableHeap(t *testing.T) {
	heap := largeHeap(t)
	heap.Records = append(heap.Records, heap.Records[0]) // a function twice
	w := fulldisk.Writer{Room: 1 << 30}
	err := WriteIndexed(&w, &Profile{Variant: IRLevel, MemProf: heap}, IndexedOptions{})
	if err == nil || w.Len() > 0 {
		t.Errorf("%d bytes written, %v", w.Len(), err)
	}
}

// TestLLVMMessages: failures that are not in LLVM's words get those of the nearest kind that it has.
func TestLLVMMessages(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&profile.FormatError{Err: profile.ErrTruncated}, "truncated profile data"},
		{&profile.FormatError{Err: profile.ErrCorrupt}, "malformed instrumentation profile data"},
		{&profile.FormatError{Err: profile.ErrUnsupported}, "unsupported instrumentation profile format version"},
		{&profile.FormatError{Err: profile.ErrUnrecognized}, "unrecognized instrumentation profile encoding format"},
		{&profile.FormatError{Err: profile.ErrEmpty}, "empty raw profile file"},
		{fmt.Errorf("merge: %w", &profile.FormatError{Err: &llvmerr.Error{Code: llvmerr.Malformed, Detail: "odd"}}), "malformed instrumentation profile data: odd"},
		{fulldisk.ErrFull, "disk full"},
	} {
		if got := llvmerr.Message(c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
