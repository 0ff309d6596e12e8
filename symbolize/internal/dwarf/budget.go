package dwarf

import (
	"fmt"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/profile"
)

// A budget counts how much of a section all units together have read.
//
// Units refer to tables in other sections, each to its own. In a file made to
// be slow, every one of a million units could refer to the same megabyte, and
// every function to the same list of a million ranges; so that what is read
// altogether has to be in proportion to what there is.
type budget struct{ read atomic.Int64 }

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

// spend counts bytes that the unit has read of a section. When a unit is loaded
// once more, because it has been dropped from memory meanwhile, that is not
// counted again.
func (c *cu) spend(b *budget, section string, size, n int) error {
	if c.again {
		return nil
	}
	if b.read.Add(int64(n)) > maxRereads*int64(size)+freeReads {
		return c.d.fail(section, 0, profile.ErrCorrupt, fmt.Sprintf("what the units up to %#x have read of the section", c.off),
			fmt.Sprintf("more than %d times its %d bytes", maxRereads, size), "tables that do not overlap")
	}
	return nil
}

// maxText bounds the names and paths that a unit's frames may have altogether,
// which may overlap in the string sections.
func (c *cu) maxText() int {
	s := &c.d.s
	return 1<<20 + maxRereads*(len(s.Str)+len(s.LineStr)+len(s.Line)+int(c.end-c.off))
}
