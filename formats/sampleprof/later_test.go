package sampleprof

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// later returns a profile of a kind in the form of a later release, and the same profile in version 103.
func later(t testing.TB, seed uint64, file laterFile, kind Kind, n int) (data, same []byte) {
	t.Helper()
	p := mustRead(t, randomText(seed, n, kind, seed%2 == 0))
	e := laterEncoder{laterFile: file, p: p, vtables: seed%2 == 0}
	return e.build(), mustWrite(t, p, WriteOptions{VTables: e.vtables, MD5: file.heaps})
}

var laterKinds = []Kind{{}, {ProbeBased: true}, {ContextSensitive: true}, {ContextSensitive: true, ProbeBased: true}}

// TestLater: profiles as later releases write them read like the same profile in version 103, without doubts but
// for blocks that nobody knows, and give the same sums.
func TestLater(t *testing.T) {
	for name, file := range laterFiles {
		for seed := range uint64(24) {
			kind := laterKinds[seed%4]
			if kind.ContextSensitive && file.heaps {
				kind = laterKinds[seed%2]
			}
			data, same := later(t, seed, file, kind, int(seed)+1)
			p, want := mustRead(t, data), mustRead(t, same)
			if a, b := text(t, p), text(t, want); a != b {
				t.Fatalf("%s, seed %d: %s\nwant %s", name, seed, a, b)
			}
			if got, want := p.View("").Identity().Version, fmt.Sprint(file.version); got != want {
				t.Errorf("%s: version %s", name, got)
			}
			// The blocks are reported; random samples are not what programs have.
			odd := slices.DeleteFunc(slices.Clone(p.odd), func(err error) bool { return strings.Contains(err.Error(), "composite profiles: blocks is") })
			if len(odd) > 0 || (len(odd) < len(p.odd)) != file.foreign {
				t.Errorf("%s, seed %d: %v", name, seed, p.odd)
			}
			again := func(p *Profile) string { return text(t, mustRead(t, mustWrite(t, p, WriteOptions{VTables: true}))) }
			if a, b := again(p), again(want); a != b {
				t.Errorf("%s, seed %d: written again: %s\nwant %s", name, seed, a, b)
			}
			sum := finished(t, [][]byte{data, same, data}, 1)
			if a, b := written(t, sum), written(t, finished(t, [][]byte{same, same, same}, 1)); len(file.symbols) == 0 && !bytes.Equal(a, b) {
				t.Errorf("%s, seed %d: other sums", name, seed)
			}
			if want := len(file.symbols); len(sum.SymbolIDs) != want || len(mustRead(t, written(t, sum)).SymbolIDs) != want {
				t.Errorf("%s: symbols %d", name, sum.SymbolIDs)
			}
		}
	}
}

// TestSymbolHeap: symbols by GUID and by name are written as GUIDs, in the bytes of the independent writer.
func TestSymbolHeap(t *testing.T) {
	for n := range 70 {
		var names []string
		for i := range n {
			names = append(names, strings.Repeat("s", i+1))
		}
		p := &Profile{}
		for i, name := range names {
			if i%2 == 0 {
				p.addSymbols(name)
			}
			if i%3 != 1 {
				p.addSymbolIDs(md5Of(name))
			}
		}
		if len(p.SymbolIDs) == 0 {
			continue
		}
		for i, name := range names {
			if i%2 != 0 && i%3 == 1 {
				p.addSymbolIDs(md5Of(name))
			}
		}
		data := mustWrite(t, p, WriteOptions{})
		section := oracle.Must(Sections("", data))(t)[sectionOf(t, data, symbolSection)]
		var want []byte
		for _, name := range asHeap(names) {
			want = binary.LittleEndian.AppendUint64(want, md5Of(name))
		}
		if got := data[section.Offset:][:section.Size]; !bytes.Equal(got, want) || !slices.Equal(section.Flags, []string{"md5"}) {
			t.Errorf("%d symbols: % x\nwant % x", n, got, want)
		}
		if q := mustRead(t, data); len(q.SymbolIDs) != n || len(q.odd) > 0 {
			t.Errorf("%d symbols: %d, %v", n, q.SymbolIDs, q.odd)
		}
	}
}

// TestLaterRefused: what is newer than the reader, or contradicts itself, is refused in words.
func TestLaterRefused(t *testing.T) {
	build := func(name string, kind Kind) []byte {
		data, _ := later(t, 3, laterFiles[name], kind, 6)
		return data
	}
	// edit changes the word of the section table of the section of a type: 0 its type, 1 its flags, 3 its size.
	edit := func(data []byte, kind sectionType, word int, change func(uint64) uint64) []byte {
		data = bytes.Clone(data)
		at := 18 + 32*sectionOf(t, data, kind) + 8*word
		le.PutUint64(data[at:], change(le.Uint64(data[at:])))
		return data
	}
	set := func(bit int) func(uint64) uint64 { return func(v uint64) uint64 { return v | 1<<bit } }
	versioned := func(v byte) []byte {
		data := build("105", Kind{})
		data[9] = v
		return data
	}
	// body replaces the composite profiles.
	body := func(contents ...byte) []byte {
		data := build("105", Kind{})
		s := oracle.Must(Sections("", data))(t)[sectionOf(t, data, compositeSection)]
		data = slices.Concat(data[:s.Offset], contents, data[s.Offset+s.Size:])
		return edit(data, compositeSection, 3, func(uint64) uint64 { return uint64(len(contents)) })
	}
	for what, tc := range map[string]struct {
		data  []byte
		class error
		want  string
	}{
		"version 106":         {versioned(106), profile.ErrUnsupported, "version is 106, want 103 to 105: it is newer than this release of profuse knows"},
		"version 102":         {versioned(102), profile.ErrUnsupported, "version is 102, want 103 to 105"},
		"composite before":    {versioned(104), profile.ErrCorrupt, "number of functions is 0, want"},
		"name flags":          {edit(build("heaps", Kind{}), nameSection, 1, set(36)), profile.ErrUnsupported, "flags of section name table is 0x1b00000000, want none but known ones: this release of profuse does not know 0x1000000000"},
		"offset flags":        {edit(build("104", Kind{}), offsetSection, 1, set(34)), profile.ErrUnsupported, "flags of section function offsets"},
		"symbol flags":        {edit(build("105", Kind{}), symbolSection, 1, set(33)), profile.ErrUnsupported, "flags of section symbol list"},
		"common flags":        {edit(build("105", Kind{}), compositeSection, 1, set(2)), profile.ErrUnsupported, "flags of section composite profiles"},
		"offsets without":     {edit(build("104", Kind{}), offsetSection, 1, set(33)), profile.ErrCorrupt, "4 bytes for each of the 0 functions in the name table"},
		"offsets too short":   {edit(build("heaps", Kind{}), offsetSection, 3, func(v uint64) uint64 { return v - 1 }), profile.ErrCorrupt, "4 bytes for each of the 6 functions"},
		"symbols cut":         {edit(build("heaps", Kind{}), symbolSection, 3, func(v uint64) uint64 { return v - 1 }), profile.ErrCorrupt, "8 bytes for each GUID"},
		"names cut":           {edit(build("heaps", Kind{}), nameSection, 3, func(v uint64) uint64 { return v - 1 }), profile.ErrTruncated, "number of names"},
		"a type twice":        {body(0, 2, 9, 0, 9, 0, 0), profile.ErrCorrupt, "block type is 9, want each type once in a function"},
		"block past the end":  {body(0, 1, 9, 5, 0), profile.ErrTruncated, "length of the block is 5 bytes"},
		"block too short":     {body(0, 1, 0, 2, 1, 1, 0), profile.ErrTruncated, "number of samples"},
		"block too long":      {body(0, 1, 0, 4, 1, 1, 0, 0, 0), profile.ErrCorrupt, "block is 1 bytes more"},
		"function cut":        {body(0, 1, 0, 3, 1, 1, 0), profile.ErrTruncated, "number of callsites"},
		"name out of range":   {body(99, 0, 0), profile.ErrCorrupt, "name is 99, want less than"},
		"bytes after the end": {body(0, 1, 0, 3, 1, 1, 0, 0, 77), profile.ErrCorrupt, "name is 77, want less than 6"},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := Read("p", tc.data, ReaderOptions{})
			if !errors.Is(err, tc.class) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %v: %s", err, tc.class, tc.want)
			}
			_, err = NewMerger(MergeOptions{}).AddFile("p", tc.data, ReaderOptions{}, 1)
			if !errors.Is(err, tc.class) {
				t.Errorf("merge: %v", err)
			}
		})
	}
	// A drop-in command says what its release says.
	for version, newest := range map[string]int{"104": 103, "105": 104} {
		if _, err := Read("p", build(version, Kind{}), ReaderOptions{NewestVersion: newest}); !errors.Is(err, llvmerr.SampleVersion) {
			t.Errorf("%s: %v", version, err)
		}
	}
	oracle.Must(Read("p", build("104", Kind{}), ReaderOptions{Lenient: true, NewestVersion: 104}))(t)
	// A GUID out of order is not found by compilers.
	data := build("heaps", Kind{})
	s := oracle.Must(Sections("", data))(t)[sectionOf(t, data, symbolSection)]
	data[s.Offset+7] ^= 0xff
	if p := mustRead(t, data); len(p.odd) != 1 || !strings.Contains(p.odd[0].Error(), "in the order of a heap") {
		t.Errorf("%v", p.odd)
	}
}

// laterSeeds are small files for fuzzing and damage. Files of GUIDs have no virtual tables: LLVM writes bare GUIDs as
// names, which have another order.
func laterSeeds(t testing.TB) map[string][]byte {
	seeds := make(map[string][]byte)
	for name, file := range laterFiles {
		for i, kind := range laterKinds {
			if !kind.ContextSensitive || !file.heaps {
				seed := uint64(2*i + 4)
				if file.heaps {
					seed++
				}
				seeds[name+" "+kind.String()], _ = later(t, seed, file, kind, 4)
			}
		}
	}
	return seeds
}

// TestLaterDamage: files cut at any byte, or with any bit flipped, are refused in words or can be written; few flips
// change the contents without a word.
func TestLaterDamage(t *testing.T) {
	flips, silent := 0, 0
	for name, data := range laterSeeds(t) {
		want := text(t, mustRead(t, data))
		for n, cut := range hostile.Cuts(data, 1) {
			if n == 0 { // nothing was found
				continue
			}
			if p, err := Read(name, cut, ReaderOptions{}); hostile.Check(t, name, data, err) == nil && len(p.odd) == 0 {
				t.Errorf("%s, cut at %d: no word", name, n)
			}
		}
		for _, b := range hostile.Flips(data, 41) {
			p, err := Read(name, b, ReaderOptions{})
			flips++
			if hostile.Check(t, name, data, err) == nil {
				totals := p.totals()
				if text(t, p) != want && len(p.odd) == 0 && (p.Kind.ContextSensitive || totals.compare(p.Summary) == nil) {
					silent++
				}
			}
		}
	}
	if most := 40; 100*silent > most*flips {
		t.Errorf("%d of %d flips are silent, want at most %d %%", silent, flips, most)
	}
	t.Logf("%d of %d flips are silent", silent, flips)
}
