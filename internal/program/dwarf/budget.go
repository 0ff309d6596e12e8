package dwarf

import (
	"fmt"
	"math"
	"sync/atomic"
)

// Each unit refers to tables in other sections. In a hostile file, a million units could refer to the same
// megabyte, and every function to the same list of a million ranges. Therefore the bytes that all units together
// read from a section are counted and must stay in proportion to its size.

const (
	// maxRereads is how often a section may be read on average. Some sharing is normal: gcc gives a block and the
	// function inlined in it one range list, and dwz makes units share abbreviations.
	maxRereads = 4
	freeReads  = 1 << 20 // how many bytes may be read beyond that

	// maxAttrs bounds the attributes of a DIE. Attributes without data in the DIE
	// (DW_FORM_implicit_const) have no other bound than the size of the file.
	maxAttrs = 512

	// freeMemory and perFileByte bound the bytes of memory that the functions or the lines of a unit may take:
	// freeMemory, and perFileByte for each byte of the file. All lines of a program take less than its file.
	freeMemory  = 32 << 20
	perFileByte = 8

	// What building them takes for each.
	bytesPerRange    = 200
	bytesPerFunction = 32
	bytesPerRow      = 24

	maxNesting = 1 << 20 // bounds the entries that an entry is nested in

	// maxDepth bounds the functions that an address is nested in. Some programs
	// inline more than a hundred levels deep.
	maxDepth = 2000
)

type part uint32

const (
	partRoot part = 1 << iota
	partTree
	partLines
)

// newSpent returns counters for the sections whose tables units may share.
func newSpent() map[string]*atomic.Int64 {
	return map[string]*atomic.Int64{"abbrev": {}, "line": {}, "ranges": {}, "rnglists": {}}
}

// spend counts n bytes that a part of the unit has read from a section of size
// bytes, and fails if the units have read too much of it. A part that is read again,
// because its unit was evicted from the cache, does not count again.
func (c *cu) spend(p part, section string, size, n int) error {
	if part(c.d.read[c.index].Load())&p != 0 {
		return nil
	}
	if c.d.spent[section].Add(int64(n)) > maxRereads*int64(size)+freeReads {
		return c.d.at(section, 0).Field(fmt.Sprintf("what the units up to %#x have read of the section", c.off)).
			Gotf("more than %d times its %d bytes", maxRereads, size).Want("tables that do not overlap").
			Corrupt()
	}
	return nil
}

// maxMemory returns how many bytes the functions or the lines of a unit may take.
func (d *Data) maxMemory() int {
	if d.FileSize == 0 {
		return math.MaxInt
	}
	return freeMemory + perFileByte*d.FileSize
}

func (c *cu) done(p part) { c.d.read[c.index].Or(uint32(p)) }

// maxText bounds the total bytes of names and paths in a unit's frames: strings may overlap in their sections.
func (c *cu) maxText() int {
	s := &c.d.s
	return 1<<20 + maxRereads*(len(s.Str)+len(s.LineStr)+len(s.Line)+int(c.end-c.off))
}
