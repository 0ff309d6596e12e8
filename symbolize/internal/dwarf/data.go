// Package dwarf finds the functions, inlined ones included, and the source
// line of a machine address, from DWARF 2 to 5.
//
// [New] reads no more than the headers of the units and which addresses each
// of them describes. [Data.Unit] finds the unit of an address, [Data.Load]
// reads its inline tree and its line table, and [Unit.Frames] looks an address
// up in those. A Data may be used by several goroutines at once, and so may a
// Unit that does not change any more; see there.
//
// It is not built on debug/dwarf, whose readers make a Go value of every
// attribute of every entry (that alone takes longer than llvm-symbolizer does
// for everything), clean up paths that LLVM prints as they are, cannot read
// split DWARF, and allocate what the input says.
//
// Where DWARF leaves a choice, as when ranges of two units overlap, this
// package chooses as llvm-symbolizer 22 does: addresses must get the same
// frames here and there, since LLVM identifies MemProf's call stacks by them.
package dwarf

import (
	"fmt"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/profile"
)

// Sections are the sections of an image that are read, decompressed. Of those
// that end in .dwo, which a .dwo or .dwp file has, the names are the same here.
type Sections struct {
	Abbrev, Addr, Aranges, Info, Line, LineStr, Ranges, Rnglists, Str, StrOffsets []byte

	CUIndex []byte // .debug_cu_index; only in .dwp
}

// Each calls fn with the name of each section, without the prefix ".debug_" or
// "__debug_", and where it goes, and stops at the first error.
func (s *Sections) Each(fn func(name string, to *[]byte) error) error {
	for _, x := range []struct {
		name string
		to   *[]byte
	}{
		{"info", &s.Info},
		{"abbrev", &s.Abbrev},
		{"addr", &s.Addr},
		{"aranges", &s.Aranges},
		{"line", &s.Line},
		{"line_str", &s.LineStr},
		{"ranges", &s.Ranges},
		{"rnglists", &s.Rnglists},
		{"str", &s.Str},
		{"str_offsets", &s.StrOffsets},
		{"cu_index", &s.CUIndex},
	} {
		if err := fn(x.name, x.to); err != nil {
			return err
		}
	}
	return nil
}

// Config is what the sections do not say of themselves.
type Config struct {
	Name      string // of the file, for errors
	BigEndian bool
	Split     bool // a .dwo or .dwp file, whose units need a skeleton elsewhere

	// OpenSplit returns the file with the rest of a skeleton unit, whose
	// DW_AT_dwo_name, DW_AT_comp_dir and DWO id are given. Its error is
	// passed on.
	OpenSplit func(dwoName, compDir string, id uint64) (*Data, error)
}

// Data is the debug information of one image.
type Data struct {
	Config
	s        Sections
	units    []unit
	ranges   []unitRange      // disjoint, by address
	splits   map[uint64]int32 // DWO id → index into units; in .dwo and .dwp files
	abbrevs  abbrevCache
	problems []error

	read  []atomic.Uint32 // parts of each unit that have been read; see spend
	spent map[string]*atomic.Int64
}

// New reads the unit headers, and the addresses of each unit. The sections
// must stay as they are while the Data is used.
//
// Units that cannot be read are left out: see [Data.Problems].
func New(s Sections, c Config) *Data {
	d := &Data{Config: c, s: s, spent: newSpent()}
	d.readUnits()
	d.read = make([]atomic.Uint32, len(d.units))
	switch {
	case c.Split && len(s.CUIndex) > 0:
		d.readPackageIndex()
	case c.Split:
		d.indexDWOIDs()
	default:
		d.mapAddresses()
	}
	return d
}

// Problems returns why units were left out, if any were: at most a few of the
// reasons. They are *[profile.FormatError] with offsets relative to the
// (decompressed) section they name, as dwarfdump prints them.
func (d *Data) Problems() []error { return d.problems }

// maxProblems is how many problems are kept; a damaged file has as many as
// there are units.
const maxProblems = 8

func (d *Data) note(err error) {
	if len(d.problems) < maxProblems {
		d.problems = append(d.problems, err)
	}
}

// Empty reports whether there is no unit at all.
func (d *Data) Empty() bool { return len(d.units) == 0 }

// Unit returns the index of the unit that describes the address, or -1.
func (d *Data) Unit(addr uint64) int {
	i := sort.Search(len(d.ranges), func(i int) bool { return d.ranges[i].high > addr })
	if i == len(d.ranges) || addr < d.ranges[i].low {
		return -1
	}
	return int(d.ranges[i].unit)
}

// fail makes an error about a section.
func (d *Data) fail(section string, off uint64, class error, field, found, want string) error {
	return &profile.FormatError{
		File: d.Name, Section: d.sectionName(section), Offset: int64(off), Record: -1,
		Field: field, Found: found, Want: want, Err: class,
	}
}

func (d *Data) sectionName(name string) string {
	if d.Split {
		return ".debug_" + name + ".dwo"
	}
	return ".debug_" + name
}

// cut is the error for something that the section ends within.
func (d *Data) cut(section string, off uint64, what string) error {
	return d.fail(section, off, profile.ErrTruncated, what, "cut off by the end of the section", "")
}

// An abbrevKey tells abbreviation tables apart. The format is part of it for
// the precomputed sizes.
type abbrevKey struct {
	off uint64
	f   format
}

// An abbrevCache keeps the tables that were used last: units that were linked
// one by one have a table each, those that a linker or dwz rewrote share one.
type abbrevCache struct {
	mu     sync.Mutex
	tables map[abbrevKey]*abbrevTable
	order  []abbrevKey // oldest first
	size   int         // abbreviations in the tables
}

// maxCachedAbbrevs is about 20 MB.
const maxCachedAbbrevs = 1 << 17

// abbrevsOf returns the abbreviations of a unit, and how many bytes had to be
// read for them.
func (d *Data) abbrevsOf(u *unit) (*abbrevTable, int, error) {
	key := abbrevKey{u.abbrev, u.format}
	c := &d.abbrevs
	c.mu.Lock()
	t := c.tables[key]
	c.mu.Unlock()
	if t != nil {
		return t, 0, nil
	}
	r := at(d.s.Abbrev, u.abbrev, d.BigEndian)
	start := r.off
	t = parseAbbrevs(&r, u.format)
	read := r.off - start
	if r.bad {
		return nil, read, d.cut("abbrev", u.abbrev, fmt.Sprintf("abbreviations of the unit at %#x", u.off))
	}
	n := len(t.dense) + len(t.sparse)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tables[key] != nil || n > maxCachedAbbrevs {
		return t, read, nil
	}
	for ; c.size+n > maxCachedAbbrevs; c.order = c.order[1:] {
		old := c.tables[c.order[0]]
		c.size -= len(old.dense) + len(old.sparse)
		delete(c.tables, c.order[0])
	}
	if c.tables == nil {
		c.tables = make(map[abbrevKey]*abbrevTable)
	}
	c.tables[key] = t
	c.order = append(c.order, key)
	c.size += n
	return t, read, nil
}
