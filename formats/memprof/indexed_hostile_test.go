package memprof

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
)

// smallSections are sections of every version, each a file of its own.
func smallSections(t testing.TB) map[string][]byte {
	t.Helper()
	out := make(map[string][]byte)
	for version := -1; version <= SectionVersionMax; version++ {
		if version == 0 { // stands for the default
			continue
		}
		p := randomProfile(rand.New(rand.NewPCG(uint64(version+1), 1)), shapeOf{
			functions: 3, sites: 3, depth: 4, frames: 5, schema: hotColdSchema, callees: version == 4, dataAccess: version == 4,
		})
		out[fmt.Sprintf("v%d", max(version, 0))] = writeSection(t, p, WriteOptions{Version: version, Schema: hotColdSchema}, 0)
	}
	return out
}

func readWhole(file []byte) (*Profile, error) {
	return readExtent(file, 0, int64(len(file)))
}

func readExtent(file []byte, start, end int64) (*Profile, error) {
	r, err := NewIndexedReader(file, start, end, false)
	if err != nil {
		return nil, err
	}
	return r.Profile()
}

// canonicalYAML is what a profile says, in an order that does not depend on that of its records.
func canonicalYAML(t testing.TB, p *Profile) string {
	t.Helper()
	m := NewMerger(MergeOptions{})
	m.add("", p, 1, false)
	return string(yamlOf(t, m.build()))
}

// mustBeSound checks that err is nil and p can be written and read again unchanged, or that err has a place.
func mustBeSound(t testing.TB, data []byte, p *Profile, err error) {
	t.Helper()
	if err != nil {
		if fe, ok := errors.AsType[*profile.FormatError](err); ok && fe.Field == "key" {
			fe.Got = cmp.Or(fe.Got, "no bytes") // how an empty key prints
		}
		hostile.Check(t, "", data, err)
		return
	}
	if err := p.validate(); err != nil {
		t.Fatalf("read what is not valid: %v", err)
	}
	want := canonicalYAML(t, p)
	var schema Schema
	for _, m := range p.MIBs {
		schema |= m.Fields
	}
	again, err := readWhole(writeSection(t, p, WriteOptions{Version: 4, Schema: schema}, 0))
	if err != nil {
		t.Fatalf("cannot be read again: %v", err)
	}
	for i := range p.MIBs {
		if p.MIBs[i].Fields != schema {
			return // what a MIB does not know is written as zero
		}
	}
	if got := canonicalYAML(t, again); got != want && schema != 0 {
		t.Fatalf("changed on the way through a file:\n%s", diffLine(got, want))
	}
}

func TestSectionsCutShort(t *testing.T) {
	for name, file := range smallSections(t) {
		t.Run(name, func(t *testing.T) {
			p, err := readWhole(file)
			mustBeSound(t, file, p, err)
			must(t, err)
			for n, cut := range hostile.Cuts(file, 1) {
				p, err := readWhole(cut)
				if err == nil {
					t.Fatalf("the first %d of %d bytes are read as a whole section", n, len(file))
				}
				mustBeSound(t, cut, p, err)
			}
		})
	}
}

func TestSectionsWithFlippedBits(t *testing.T) {
	for name, file := range smallSections(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, flipped := range hostile.Flips(file, 7) {
				p, err := readWhole(flipped)
				mustBeSound(t, flipped, p, err)
			}
		})
	}
}

// edit is a change to a section of version 3 or 4.
func edit(file []byte, at int, v uint64, size int) []byte {
	out := slices.Clone(file)
	switch size {
	case 4:
		binary.LittleEndian.PutUint32(out[at:], uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(out[at:], v)
	}
	return out
}

// TestHostileSections: what is out of place is named with its place.
func TestHostileSections(t *testing.T) {
	// Two stacks: 2 called from 1, and 1, a jump to the end of the other: 1, jump by 3, 2, frame of 2, frame of 1.
	p := &Profile{}
	f, g := p.Stacks.addFrame(Frame{GUID: 1}), p.Stacks.addFrame(Frame{GUID: 2})
	one, two := p.Stacks.addStack([]frameIndex{f}), p.Stacks.addStack([]frameIndex{g, f})
	p.MIBs = []MIB{{Fields: hotColdSchema, AllocCount: 1}}
	p.Records = []Record{{GUID: 7, AllocSites: []AllocSite{{one, 0}, {two, 0}}}}
	v3 := writeSection(t, p, WriteOptions{Version: 3}, 0)
	array := int(le.Uint64(v3[8:]))
	records := int(le.Uint64(v3[16:]))
	record := records + 2 + 24 + 8 // data of the one record
	if got := len(v3[array:records]) / 4; got != 5 {
		t.Fatalf("stack array of %d elements", got)
	}
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"version 0 stands for none", edit(v3, 0, 0, 8), "memprof header at 0x0: version is 0, want 0 to 4: unsupported"},
		{"version", edit(v3, 0, 5, 8), "version is 5, want 0 to 4: unsupported"},
		{"schema length", edit(v3, 32, 28, 8), "number of schema fields is 28, want at most 27"},
		{"schema field 0", edit(v3, 40, 0, 8), "schema field is 0, want 1 to 27"},
		{"schema field unknown", edit(v3, 40, 28, 8), "schema field is 28, want 1 to 27"},
		{"schema field twice", edit(v3, 48, 1, 8), "schema field is AllocCount, want each field once"},
		{"stack array before the schema", edit(v3, 8, 8, 8), "offset of the stack array is 0x8, want 0x48 to"},
		{"stack array outside", edit(v3, 8, 1<<60, 8), "offset of the stack array is 0x1000000000000000"},
		{"part of a frame", edit(v3, 8, uint64(array-1), 8), "size of the frame array is 33, want a multiple of 17"},
		{"records before stacks", edit(v3, 16, uint64(array-17), 8), "offset of the records is"},
		{"part of a stack", edit(v3, 16, uint64(records-1), 8), "size of the stack array is 19, want a multiple of 4"},
		{"record table outside", edit(v3, 24, uint64(len(v3)+1), 8), "offset of the hash table index"},
		{"inline flag", edit(v3, array-1-3, 7<<24, 4), "IsInlineFrame is 7, want 0 or 1"},
		{"stack index", edit(v3, record+8, 5, 4), "index of the stack is 5, want less than 5, the size of the stack array"},
		{"stack longer than the array", edit(v3, array+8, 9, 4), "frames from here on is 8, want 1, as in another stack"},
		{"stack that does not end", edit(edit(v3, array, 2, 4), array+8, 9, 4), "end of a stack is after the array, want before its 5 elements end"},
		{"frame index", edit(v3, array+12, 2, 4), "index of a frame is 2, want less than 2, the number of frames"},
		{"jump outside", edit(v3, array+4, 1<<32-100, 4), "jump is to element 101, want less than 5"},
		{"longest jump", edit(v3, array+4, 1<<31, 4), "jump is to element 2147483649"},
		{"jump to a jump", edit(edit(v3, array+4, 1<<32-1, 4), array+8, 1<<32-1, 4), "index of a frame is 4294967295"},
		{"sites", edit(v3, record, 1<<61, 8), "number of alloc sites is 2305843009213693952"},
		{"call sites", edit(v3, record+8+2*32, 3, 8), "number of call sites is 3"},
		{"key", edit(v3, record-8, 8, 8), "key is 08 00 00 00 00 00 00 00, want 0x7, the hash"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readWhole(c.file)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
			mustBeSound(t, c.file, nil, err)
		})
	}
}

// TestStackArrayOfManyStacks: an array that would unfold to the square of its size is refused.
func TestStackArrayOfManyStacks(t *testing.T) {
	const depth = 20000
	p := &Profile{MIBs: []MIB{{Fields: 1 << allocCount}}, Records: []Record{{GUID: 7}}}
	frames := make([]frameIndex, depth+1)
	for i := range frames {
		frames[i] = p.Stacks.addFrame(Frame{GUID: uint64(i)})
	}
	stack := p.Stacks.addStack(slices.Concat(frames, frames, frames))
	for range depth {
		p.Records[0].AllocSites = append(p.Records[0].AllocSites, AllocSite{stack, 0})
	}
	file := writeSection(t, p, WriteOptions{Version: 3, Schema: 1 << allocCount}, 0)
	array, records := int(le.Uint64(file[8:])), int(le.Uint64(file[16:]))
	for at := array; at < records; at += 4 {
		le.PutUint32(file[at:], depth) // as a length, and as a frame
	}
	record := records + 2 + 24 + 8
	for i := range depth {
		le.PutUint32(file[record+8+8*i:], uint32(i))
	}
	_, err := readWhole(file)
	if want := "frames from here on is 20000, want 19999, as in another stack"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

func FuzzIndexed(f *testing.F) {
	for _, file := range smallSections(f) {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		p, err := readWhole(file)
		mustBeSound(t, file, p, err)
	})
}

func FuzzYAML(f *testing.F) {
	for i := range uint64(3) {
		p := randomProfile(rand.New(rand.NewPCG(i, 4)), shapeOf{functions: 2, sites: 2, depth: 3, frames: 3, callees: true, dataAccess: true})
		f.Add(yamlOf(f, p))
	}
	f.Add([]byte("---\nHeapProfileRecords: [{GUID: main, AllocSites: [{Callstack: [], MemInfoBlock: {AllocCount: 0x1}}]}]\n"))
	f.Add([]byte("---\nDataAccessProfiles:\n  KnownColdSymbols: ['a', \"b\\x41\"]\n..."))
	f.Fuzz(func(t *testing.T, doc []byte) {
		p, err := ReadYAML("", doc)
		mustBeSound(t, doc, p, err)
		if err != nil {
			return
		}
		text := yamlOf(t, p)
		again, err := ReadYAML("", text)
		if err != nil {
			t.Fatalf("cannot be read again: %v\n%s", err, text)
		}
		if got := yamlOf(t, again); !bytes.Equal(got, text) && isCanonical(p) {
			t.Fatalf("changed:\n%s", diffLine(string(got), string(text)))
		}
	})
}

// isCanonical reports whether reading leaves all symbols as they are.
func isCanonical(p *Profile) bool {
	if p.DataAccess == nil {
		return true
	}
	changes := func(symbol string) bool { return guid.Canonical(symbol) != symbol }
	return !slices.ContainsFunc(p.DataAccess.ColdSymbols, changes) &&
		!slices.ContainsFunc(p.DataAccess.Records, func(r DataAccessRecord) bool { return changes(r.Symbol) })
}
