package irpgo

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

const heapDoc = `---
HeapProfileRecords:
  - GUID: allocate
    AllocSites:
      - Callstack:
          - { Function: allocate, LineOffset: 1, Column: 2, IsInlineFrame: false }
          - { Function: main, LineOffset: %d, Column: 4, IsInlineFrame: false }
        MemInfoBlock: { AllocCount: %d, TotalSize: 64, TotalLifetime: 9, TotalLifetimeAccessDensity: 3 }
  - GUID: main
    CallSites:
      - Frames:
          - { Function: main, LineOffset: %[1]d, Column: 4, IsInlineFrame: false }
        CalleeGuids: [ allocate ]
`

func heapProfile(t *testing.T, line, count int) *memprof.Profile {
	t.Helper()
	return oracle.Must(memprof.ReadYAML("doc", fmt.Appendf(nil, heapDoc, line, count)))(t)
}

func heapYAML(t *testing.T, p *memprof.Profile) string {
	t.Helper()
	var b bytes.Buffer
	oracle.NoError(t, memprof.WriteYAML(&b, p))
	return b.String()
}

// heapFile is an indexed profile with one function, unless empty, and a heap profile.
func heapFile(t *testing.T, heap *memprof.Profile, opt IndexedOptions, functions ...*Record) []byte {
	t.Helper()
	p := profileOf(0, functions...)
	if len(functions) > 0 {
		p.Variant = IRLevel
	}
	p.MemProf = heap
	return indexedFile(t, p, opt)
}

func mergeFiles(t *testing.T, opt MergeOptions, files ...[]byte) (*Profile, error) {
	t.Helper()
	m := NewMerger(opt)
	for i, f := range files {
		r, err := NewReader(fmt.Sprint("file", i), f, ReaderOptions{})
		if err != nil {
			return nil, err
		}
		if _, err := m.Add(r, uint64(i+1)); err != nil {
			return nil, err
		}
	}
	return m.Finish().Profile(), nil
}

// TestMemProfPassesThrough: a single file keeps its section, byte for byte, in
// every pair of versions, and the older ones lose only what they cannot hold.
func TestMemProfPassesThrough(t *testing.T) {
	main := &Record{Name: "main", Hash: 1, Counts: []uint64{5}}
	for indexed := uint32(8); indexed <= IndexedVersionMax; indexed++ {
		for _, section := range []int{0, -1, 1, 2, 3, 4} {
			var lost []string
			opt := IndexedOptions{
				Version: indexed, MemProf: memprof.WriteOptions{Version: section},
				Warn: func(w profile.Warning) { lost = append(lost, w.String()) },
			}
			file := heapFile(t, heapProfile(t, 3, 2), opt, main)
			if rep := Check("file", file); len(rep.Findings) > 0 {
				t.Errorf("indexed %d, section %d: %v", indexed, section, rep.Findings)
			}
			r := openReader(t, "file", file, ReaderOptions{})
			want := max(section, 0)
			if section == 0 {
				want = map[uint32]int{12: 3, 13: 4, 14: 4}[indexed]
			}
			if got := r.MemProf().Version; got != want {
				t.Errorf("indexed %d, section %d: version %d, want %d", indexed, section, got, want)
			}
			if complains := strings.Contains(strings.Join(lost, ""), "callees of call sites is left out"); complains != (want < 4) {
				t.Errorf("indexed %d, section %d: warnings %q", indexed, section, lost)
			}
			p := oracle.Must(mergeFiles(t, MergeOptions{}, file))(t)
			if !p.Variant.Has(HasMemProf | IRLevel) {
				t.Errorf("variant %v", p.Variant)
			}
			if again := indexedFile(t, p, opt); !bytes.Equal(again, file) {
				t.Errorf("indexed %d, section %d: file changed", indexed, section)
			}
		}
	}
}

// TestOldVersionsLoseMemProf: indexed versions before 8 have no place for it.
func TestOldVersionsLoseMemProf(t *testing.T) {
	var lost []string
	file := heapFile(t, heapProfile(t, 3, 2), IndexedOptions{Version: 7, Warn: func(w profile.Warning) { lost = append(lost, w.String()) }},
		&Record{Name: "main", Hash: 1, Counts: []uint64{5}})
	if want := []string{"memprof section is left out, want an indexed version above 7 to hold it: unsupported profile version or variant"}; !slices.Equal(lost, want) {
		t.Errorf("warnings %q, want %q", lost, want)
	}
	p, err := mergeFiles(t, MergeOptions{}, file)
	if err != nil || p.MemProf != nil || p.Variant.Has(HasMemProf) {
		t.Errorf("profile with %v, %v, %v", p.MemProf, p.Variant, err)
	}
	if c := chooseVersion(&Profile{Variant: IRLevel, MemProf: heapProfile(t, 1, 1)}, new(Profile).hashes, []*Info{{Format: FormatRaw, Version: 4}}); c.version != 8 {
		t.Errorf("chosen version %d, want 8", c.version)
	}
}

// TestMergeMemProf: heap profiles of indexed and other inputs add up, whatever else the files hold.
func TestMergeMemProf(t *testing.T) {
	main := &Record{Name: "main", Hash: 1, Counts: []uint64{5}}
	with := heapFile(t, heapProfile(t, 3, 2), IndexedOptions{}, main)
	only := heapFile(t, heapProfile(t, 3, 10), IndexedOptions{})
	without := heapFile(t, nil, IndexedOptions{}, main)
	empty := heapFile(t, &memprof.Profile{}, IndexedOptions{}, main)
	for _, c := range []struct {
		name  string
		files [][]byte
		add   *memprof.Profile
		want  string // of AllocCount
		count uint64
	}{
		{"functions and heap, then heap", [][]byte{with, only}, nil, "22", 5},
		{"heap, then functions and heap", [][]byte{only, with}, nil, "14", 10},
		{"without", [][]byte{without, only}, nil, "20", 5},
		{"heap first, then without", [][]byte{only, without}, nil, "10", 10},
		{"empty sections", [][]byte{empty, with, empty}, nil, "4", 30},
		{"other inputs", [][]byte{without, with}, heapProfile(t, 3, 100), "104", 15},
	} {
		for _, compat := range []bool{false, true} {
			m := NewMerger(MergeOptions{LLVMCompat: compat})
			for i, f := range c.files {
				into := m
				if i%2 == 1 && !compat {
					into = m.Fork()
				}
				r := openReader(t, "", f, ReaderOptions{})
				if _, err := into.AddAt(i, uint64(i), r, uint64(i+1)); err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				if into != m {
					if err := m.Merge(into); err != nil {
						t.Fatalf("%s: %v", c.name, err)
					}
				}
			}
			if c.add != nil {
				oracle.NoError(t, m.AddMemProf("raw", c.add, 1))
			}
			p := m.Finish().Profile()
			if doc := heapYAML(t, p.MemProf); !strings.Contains(doc, "AllocCount:      "+c.want+"\n") || strings.Count(doc, "AllocCount") != 1 {
				t.Errorf("%s: want %s of\n%s", c.name, c.want, doc)
			}
			if got := p.Functions[0].Records[0].Counts[0]; got != c.count {
				t.Errorf("%s: count %d, want %d", c.name, got, c.count)
			}
			if !p.Variant.Has(IRLevel | HasMemProf) {
				t.Errorf("%s: variant %v", c.name, p.Variant)
			}
		}
	}
}

// TestDamagedMemProf: a file with a damaged section counts not at all.
func TestDamagedMemProf(t *testing.T) {
	main := &Record{Name: "main", Hash: 1, Counts: []uint64{5}}
	good := heapFile(t, heapProfile(t, 3, 2), IndexedOptions{}, main)
	r := openReader(t, "", good, ReaderOptions{})
	const memProfOffset = 40
	section := int(r.MemProf().Offset)
	for _, c := range []struct {
		name string
		at   int
		v    uint64
		want string
	}{
		{"before the table's end", memProfOffset, 80, "offset of the memprof section is 0x50"},
		{"outside", memProfOffset, 1 << 40, "offset of the memprof section is 0x10000000000"},
		{"in the binary ids", memProfOffset, uint64(len(good) - 8), "offset of the memprof section"},
		{"version", section, 9, "memprof header at"},
		{"record table", section + 24, 1, "memprof record table"},
	} {
		bad := slices.Clone(good)
		le.PutUint64(bad[c.at:], c.v)
		rep := Check("bad", bad)
		if len(rep.Findings) == 0 || !strings.Contains(rep.Findings[0].Error(), c.want) {
			t.Errorf("%s: findings %v, want %s", c.name, rep.Findings, c.want)
		}
		m := NewMerger(MergeOptions{})
		r, err := NewReader("bad", bad, ReaderOptions{})
		if err == nil {
			_, err = m.Add(r, 1)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
		if p := m.Finish().Profile(); len(p.Functions) != 0 || p.MemProf != nil {
			t.Errorf("%s: something of it was merged", c.name)
		}
	}
}

// TestLLVMReadsMemProf: llvm-profdata of each release shows our combined files with both parts.
func TestLLVMReadsMemProf(t *testing.T) {
	main := &Record{Name: "main", Hash: 1, Counts: []uint64{5}}
	heap := heapProfile(t, 3, 2)
	tool := oracle.LLVM(t, 22)
	for indexed := uint32(12); indexed <= indexedVersionLLVM22; indexed++ {
		for section := 2; section <= 4; section++ {
			path := filepath.Join(t.TempDir(), "p.profdata")
			file := heapFile(t, heap, IndexedOptions{Version: indexed, MemProf: memprof.WriteOptions{Version: section}}, main)
			oracle.WriteFile(t, path, file)
			shown, stderr, code := oracle.Run(t, tool, "show", "--memory", path)
			p := oracle.Must(mergeFiles(t, MergeOptions{}, file))(t)
			if code != 0 || !strings.HasSuffix(shown, heapYAML(t, p.MemProf)) {
				t.Errorf("indexed %d, section %d: exit %d %s\n%s", indexed, section, code, stderr, shown)
			}
			counts, stderr, code := oracle.Run(t, tool, "show", "--all-functions", "--counts", path)
			if code != 0 || !strings.Contains(counts, "Hash: 0x0000000000000001") {
				t.Errorf("indexed %d, section %d: exit %d %s\n%s", indexed, section, code, stderr, counts)
			}
		}
	}
}
