// Package dwarf finds the functions, inlined ones included, and the source line
// of a machine address, from DWARF 2 to 5.
//
// [New] reads the headers of the units and the addresses that each describes. [Data.Unit] finds the unit of an
// address, [Data.Load] reads its inline tree and its line table, and [Unit.Frames] looks an address up in those. A
// Data is safe for concurrent use, a Unit is not.
//
// The package does not use debug/dwarf, whose readers make a Go value of every attribute of every entry (that
// alone takes longer than a whole run of llvm-symbolizer), clean paths that LLVM prints unchanged, do not support
// split DWARF, and trust sizes in the input.
//
// Where DWARF leaves a choice, as when the ranges of two units overlap, this package chooses like llvm-symbolizer
// 22. Frames must agree, because LLVM identifies MemProf's call stacks by them.
package dwarf

import (
	"fmt"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Sections are the decompressed sections of an image that the package reads. The
// sections of .dwo and .dwp files are named without their suffix .dwo.
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

// Config describes the file that the sections come from.
type Config struct {
	Name      string // of the file, for errors
	BigEndian bool
	Split     bool // a .dwo or .dwp file, whose units need a skeleton elsewhere

	// FileSize is how many bytes the file has; 0 if unknown. The functions and the lines of each unit
	// may take memory in proportion to it, also if the sections were compressed.
	FileSize int

	// OpenSplit returns the file with the split unit of a skeleton unit, given its DW_AT_dwo_name, DW_AT_comp_dir
	// and DWO id. [Data.Load] returns its error.
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

// New reads the unit headers and the addresses of each unit. The sections must not
// change while the Data is in use.
//
// New skips units that it cannot read: see [Data.Problems].
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

// Problems returns why units were skipped, at most eight reasons. They are
// *[profile.FormatError] with offsets relative to the (decompressed) section that
// they name, as in the output of dwarfdump.
func (d *Data) Problems() []error { return d.problems }

// maxProblems bounds the problems that are kept: in a damaged file every unit may be one.
const maxProblems = 8

func (d *Data) note(err error) {
	flaw.OfProgram(&err)
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

func (d *Data) at(section string, off uint64) flaw.Position {
	name := ".debug_" + section
	if d.Split {
		name += ".dwo"
	}
	return flaw.At(name, int64(off)).InFile(d.Name)
}

func (d *Data) cut(section string, off uint64, what string) error {
	return d.at(section, off).Field(what).Got("cut off by the end of the section").Truncated()
}

// An abbrevKey identifies an abbreviation table. The precomputed steps depend on the format.
type abbrevKey struct {
	off uint64
	f   format
}

// An abbrevCache keeps the tables used most recently. Most units have their
// own table; units that a linker or dwz rewrote share one.
type abbrevCache struct {
	mu     sync.Mutex
	tables map[abbrevKey]*abbrevTable
	order  []abbrevKey // oldest first
	size   int         // abbreviations in the tables
}

// maxCachedAbbrevs is about 20 MB.
const maxCachedAbbrevs = 1 << 17

// abbrevsOf returns the abbreviations of a unit, and how many bytes had to be read for them.
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
