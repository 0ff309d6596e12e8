package dwarf

import (
	"fmt"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/profile"
)

// Units refer to tables in other sections, each to its own. In a file made to
// be slow, every one of a million units could refer to the same megabyte, and
// every function to the same list of a million ranges. So what all units
// together have read of a section is counted, and has to be in proportion to
// its size.

const (
	// maxRereads is how often a section may be read, on average. Some sharing
	// is usual: gcc gives a block and the function inlined in it one list, and
	// dwz makes units share abbreviations.
	maxRereads = 4
	// freeReads does not count, in bytes.
	freeReads = 1 << 20

	// maxAttrs is how many attributes a DIE may have. Without data of their
	// own (DW_FORM_implicit_const) they could be as many as fit into the file.
	maxAttrs = 512

	// maxDepth is how many functions an address may be in. Some programs
	// inline more than a hundred levels deep.
	maxDepth = 2000
)

// A part is what is read of a unit at a time.
type part uint32

const (
	partRoot part = 1 << iota
	partTree
	partLines
)

// newSpent are the counts, of the sections whose tables units might share.
func newSpent() map[string]*atomic.Int64 {
	return map[string]*atomic.Int64{"abbrev": {}, "line": {}, "ranges": {}, "rnglists": {}}
}

// spend counts bytes that a part of the unit has read of a section. A part that
// is read once more, because the unit has been dropped from memory meanwhile,
// is not counted again.
func (c *cu) spend(p part, section string, size, n int) error {
	if part(c.d.read[c.index].Load())&p != 0 {
		return nil
	}
	if c.d.spent[section].Add(int64(n)) > maxRereads*int64(size)+freeReads {
		return c.d.fail(section, 0, profile.ErrCorrupt, fmt.Sprintf("what the units up to %#x have read of the section", c.off),
			fmt.Sprintf("more than %d times its %d bytes", maxRereads, size), "tables that do not overlap")
	}
	return nil
}

// done remembers that a part has been read.
func (c *cu) done(p part) { c.d.read[c.index].Or(uint32(p)) }

// maxText bounds the names and paths that a unit's frames may have altogether,
// which may overlap in the string sections.
func (c *cu) maxText() int {
	s := &c.d.s
	return 1<<20 + maxRereads*(len(s.Str)+len(s.LineStr)+len(s.Line)+int(c.end-c.off))
}
