package ctxprof

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestTruncation: every cut of a binary file is truncated, up to what precedes the last byte that matters.
func TestTruncation(t *testing.T) {
	data := vector(t, "everything")
	meter := hostile.Meter{PerRead: 4 << 10}
	for n, cut := range hostile.Cuts(data, 1) {
		meter.Read(t, n)
		_, err := Read("f", cut, nil)
		want := profile.ErrTruncated
		switch {
		case n == 0:
			want = profile.ErrEmpty
		case hostile.Check(t, "f", cut, err) == nil:
			t.Errorf("cut at %d: readable", n)
		}
		if profile.ClassOf(err) != want {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}

// TestBitFlips: a flipped bit is an error with a place, or another profile.
func TestBitFlips(t *testing.T) {
	meter := hostile.Meter{PerRead: 256 << 10} // YAML is written through a buffer
	for _, name := range []string{"everything", "of a program"} {
		for _, flipped := range hostile.Flips(vector(t, name), 3) {
			meter.Read(t, len(flipped))
			checkRead(t, flipped)
		}
	}
}

// TestSplices joins the beginnings and ends of files.
func TestSplices(t *testing.T) {
	var seeds [][]byte
	for name := range vectors {
		seeds = append(seeds, vector(t, name))
	}
	for _, data := range hostile.Splices(20000/oracle.Step(10), seeds...) {
		checkRead(t, data)
	}
}

// checkRead demands an error with a place, or a profile that both forms keep.
func checkRead(t *testing.T, data []byte) {
	t.Helper()
	p, err := Read("f", data, nil)
	if hostile.Check(t, "f", data, err) != nil {
		return
	}
	bin := write(t, p, false)
	again, err := Read("f", bin, nil)
	if err != nil {
		t.Fatalf("what was written cannot be read: %v", err)
	}
	if !bytes.Equal(write(t, again, false), bin) {
		t.Fatalf("other bytes of %q", data)
	}
	var text bytes.Buffer
	if err := p.Write(&text, true); err != nil { // too many call sites
		return
	}
	fromText, err := Read("f", text.Bytes(), nil)
	if err != nil && text.String() != "{}\n" {
		t.Fatalf("YAML that was written cannot be read: %v\n%s", err, text.Bytes())
	}
	if err == nil && !bytes.Equal(write(t, fromText, true), text.Bytes()) {
		t.Fatalf("other YAML of %q", data)
	}
	if diff := cmp.Diff(p.Flatten(), again.Flatten()); diff != "" {
		t.Fatal(diff)
	}
}

// TestBombs: what nests or repeats without end is an error, at a cost in proportion to the file.
func TestBombs(t *testing.T) {
	nested := func(depth int) []byte {
		return bitsOf(func(w *bitWriter) {
			w.block(metadataBlock, func() {
				w.record(versionRecord, version)
				w.block(contextsBlock, func() {
					root := Root{Context: Context{Function: Function{1, []uint64{1}}}}
					x := &root.Context
					for range depth {
						x.Callees = []Context{{Function: Function{1, []uint64{1}}}}
						x = &x.Callees[0]
					}
					w.root(&root)
				})
			})
		})
	}
	for _, c := range []struct {
		name string
		data []byte
		want error
	}{
		{"deep", nested(1000), nil},
		{"too deep", nested(maxDepth + 1), profile.ErrUnsupported},
		{"deep YAML", []byte("Contexts: [" + strings.Repeat("{Guid: 1, TotalRootEntryCount: 1, Counters: [1], Callsites: [[", 1) +
			strings.Repeat("{Guid: 1, Counters: [1], Callsites: [[", maxDepth+1)), profile.ErrUnsupported},
		{"BLOCKINFO in itself", bitsOf(func(w *bitWriter) {
			for range 100000 {
				w.fixed(enterBlock, topWidth)
				w.vbr(blockInfoBlock, blockVBR)
				w.vbr(topWidth, widthVBR)
				w.align()
				w.fixed(1, wordBits)
			}
		}), profile.ErrUnsupported},
		{"many operands", bitsOf(func(w *bitWriter) {
			w.block(metadataBlock, func() {
				w.fixed(unabbreviated, topWidth)
				w.vbr(versionRecord, recordVBR)
				w.vbr(1<<60, recordVBR)
			})
		}), profile.ErrTruncated},
	} {
		before := hostile.Allocated()
		_, err := Read("f", c.data, nil)
		if fe := hostile.Check(t, "f", c.data, err); (fe == nil) != (c.want == nil) || c.want != nil && profile.ClassOf(err) != c.want {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if used := hostile.Allocated() - before; used > uint64(200*len(c.data)+1<<20) {
			t.Errorf("%s: %d bytes allocated for %d", c.name, used, len(c.data))
		}
	}
}

// FuzzRead: see checkRead.
func FuzzRead(f *testing.F) {
	for name := range vectors {
		f.Add(vector(f, name))
	}
	f.Add(fixture(f, "other.ctxprof.yaml"))
	f.Add(fmt.Appendf(nil, "Contexts: [{Guid: %d, TotalRootEntryCount: 1, Counters: [1]}]", 1))
	f.Fuzz(checkRead)
}
