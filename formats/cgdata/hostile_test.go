package cgdata

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestTruncation: every cut of an indexed file is truncated, and so is every cut of an object, or it says where it is wrong.
func TestTruncation(t *testing.T) {
	meter := hostile.Meter{PerRead: 8 << 10}
	for name, data := range map[string][]byte{"both": vector(t, "both"), "merged": vector(t, "merged objects")} {
		for n, cut := range hostile.Cuts(data, 1) {
			meter.Read(t, n)
			_, err := Read("f", cut, nil)
			want := profile.ErrTruncated
			switch {
			case n == 0:
				want = profile.ErrEmpty
			case hostile.Check(t, "f", cut, err) == nil:
				t.Errorf("%s cut at %d: readable", name, n)
			}
			if profile.ClassOf(err) != want {
				t.Errorf("%s cut at %d: %v", name, n, err)
			}
		}
	}
	object := fixture(t, "shapes1.o")
	for n, cut := range hostile.Cuts(object, 3) {
		err := ReadObjects("f", cut, "", func(*Object) error { return nil })
		if hostile.CheckType(t, "f", err) == nil && n < len(object)-64 {
			t.Errorf("an object cut at %d: readable", n)
		}
	}
}

// TestBitFlips: a flipped bit is an error with a place, or other data.
func TestBitFlips(t *testing.T) {
	meter := hostile.Meter{PerRead: 16 << 10}
	for _, name := range []string{"both", "merged objects"} {
		for _, flipped := range hostile.Flips(vector(t, name), 3) {
			meter.Read(t, len(flipped))
			checkRead(t, flipped)
		}
	}
	for _, name := range []string{"raw map", "raw tree"} {
		data := vector(t, name)
		section := mapSection
		if name == "raw tree" {
			section = treeSection
		}
		for bit, flipped := range hostile.Flips(data, 7) {
			object := elfObject(map[string][]byte{section: flipped})
			err := ReadObjects("f", object, "", func(*Object) error { return nil })
			if fe := hostile.Check(t, "f", object, err); fe != nil && (fe.Section != section || fe.Offset < 64) {
				t.Errorf("bit %d of %s: %v", bit, name, err)
			}
		}
	}
}

// TestSplices joins the beginnings and ends of files.
func TestSplices(t *testing.T) {
	var seeds [][]byte
	for name := range vectors {
		if !strings.HasPrefix(name, "raw") {
			seeds = append(seeds, vector(t, name))
		}
	}
	for _, data := range hostile.Splices(20000/oracle.Step(10), seeds...) {
		checkRead(t, data)
	}
}

// checkRead demands an error with a place, or data that both forms keep.
func checkRead(t *testing.T, data []byte) {
	t.Helper()
	d, err := Read("f", data, nil)
	if hostile.Check(t, "f", data, err) != nil {
		return
	}
	var bin bytes.Buffer
	if err := d.Write(&bin, false); err != nil { // a zero byte in a name of text
		return
	}
	again, err := Read("f", bin.Bytes(), nil)
	if err != nil {
		t.Fatalf("what was written cannot be read: %v", err)
	}
	if !bytes.Equal(write(t, again, false), bin.Bytes()) {
		t.Fatalf("other bytes of %q", data)
	}
	var text bytes.Buffer
	if err := d.Write(&text, true); err != nil || text.Len() == 0 { // names that are not UTF-8; no data
		return
	}
	fromText, err := Read("f", text.Bytes(), nil)
	if err != nil {
		t.Fatalf("text that was written cannot be read: %v\n%s", err, text.Bytes())
	}
	if got := write(t, fromText, true); !bytes.Equal(got, text.Bytes()) {
		t.Fatalf("other text of %q:\n%s%s", data, text.Bytes(), got)
	}
}

// TestBombs: what repeats or is far away is an error, at a cost in proportion to the file.
func TestBombs(t *testing.T) {
	header := func(kinds uint32) []byte {
		b := append([]byte(magic), version, 0, 0, 0)
		b = binary.LittleEndian.AppendUint32(b, kinds)
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, headerSize), headerSize)
	}
	// A chain of nodes, and one whose last node leads back.
	chain := func(n int, back bool) []byte {
		b := header(hasTree)
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
		for i := range n {
			b = binary.LittleEndian.AppendUint32(b, uint32(i))
			b = binary.LittleEndian.AppendUint64(b, uint64(i))
			b = binary.LittleEndian.AppendUint32(b, 1)
			switch {
			case i < n-1:
				b = binary.LittleEndian.AppendUint32(b, 1)
				b = binary.LittleEndian.AppendUint32(b, uint32(i+1))
			case back:
				b = binary.LittleEndian.AppendUint32(b, 1)
				b = binary.LittleEndian.AppendUint32(b, 0)
			default:
				b = binary.LittleEndian.AppendUint32(b, 0)
			}
		}
		binary.LittleEndian.PutUint64(b[24:], uint64(len(b)))
		return b
	}
	wide := []byte(treeLine + "\n---\n")
	for range 100000 {
		wide = append(wide, "1: {Hash: 1, Terminals: 1, SuccessorIds: []}\n"...)
	}
	far := header(hasTree | hasMap)
	binary.LittleEndian.PutUint64(far[24:], 1<<60)
	for _, c := range []struct {
		name string
		data []byte
		want error
	}{
		{"a long sequence", chain(maxDepth, false), nil},
		{"too long a sequence", chain(maxDepth+2, false), profile.ErrCorrupt},
		{"a circle", chain(10, true), profile.ErrCorrupt},
		{"many nodes", append(header(hasTree), 0xff, 0xff, 0xff, 0xff), profile.ErrTruncated},
		{"many names", append(header(hasMap), 0xff, 0xff, 0xff, 0xff), profile.ErrTruncated},
		{"a key again and again", wide, profile.ErrCorrupt},
		{"far away", far, profile.ErrTruncated},
	} {
		if c.name == "many nodes" {
			binary.LittleEndian.PutUint64(c.data[24:], uint64(len(c.data)))
		}
		before := hostile.Allocated()
		_, err := Read("f", c.data, nil)
		if fe := hostile.Check(t, "f", c.data, err); (fe == nil) != (c.want == nil) || c.want != nil && profile.ClassOf(err) != c.want {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if used := hostile.Allocated() - before; used > uint64(100*len(c.data)+1<<20) {
			t.Errorf("%s: %d bytes allocated for %d", c.name, used, len(c.data))
		}
	}
}

// FuzzRead: see checkRead.
func FuzzRead(f *testing.F) {
	for _, name := range slices.Sorted(maps.Keys(vectors)) {
		f.Add(vector(f, name))
	}
	f.Add(fixture(f, "other.cgdata.txt"))
	f.Fuzz(checkRead)
}

// FuzzReadObjects: the two sections of an object are errors in their places, or data that a merge can write.
func FuzzReadObjects(f *testing.F) {
	f.Add(vector(f, "raw tree"), vector(f, "raw map"))
	f.Fuzz(func(t *testing.T, tree, functions []byte) {
		object := elfObject(map[string][]byte{treeSection: tree, mapSection: functions})
		var m Merger
		err := ReadObjects("f", object, "", func(o *Object) error {
			m.Add(o.Data)
			return nil
		})
		if hostile.Check(t, "f", object, err) == nil {
			checkRead(t, write(t, m.Data(), false))
		}
	})
}
