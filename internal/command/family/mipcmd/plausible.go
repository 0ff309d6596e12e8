package mipcmd

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/symbols"
)

// plausible looks for numbers that the formats allow and no linker or run gives. Reading does not
// notice such damage.
type plausible struct {
	profile *mip.Profile
	remarks []error
}

// plausibleRemarks returns what is suspicious about a map or a profile.
func plausibleRemarks(p *mip.Profile) []error {
	c := &plausible{profile: p}
	for i := range p.Functions {
		f := &p.Functions[i]
		c.sums(i, f)
		c.blocks(i, f)
		if !symbols.IsText(f.Name) {
			c.remark(i, f.Name, "function name").text("%q", f.Name, "text without control characters")
		}
		if f.Size == 0 {
			c.remark(i, f.Name, "size").text("%d", f.Size, "at least 1 byte")
		}
		if f.Address < -reach || f.Address >= reach {
			c.remark(i, f.Name, "address").text("%#x", f.Address, "one within 2 GiB of the raw section, which code addresses by 32 bits")
		}
	}
	c.records()
	c.code()
	return c.remarks
}

// reach is how far from the raw section code may be.
const reach = 1 << 31

// A place is where a remark belongs.
type place struct {
	*plausible
	problem flaw.Problem
}

// remark begins a remark about a field of function i; text adds it to the others.
func (c *plausible) remark(i int, name, field string) place {
	return place{c, flaw.In("functions").InRecord(i).Field(field + " of " + name)}
}

// text adds the remark: what was found, in this format, and what was expected.
func (p place) text(format string, got any, want string) {
	p.remarks = append(p.remarks, p.problem.Gotf(format, got).Want(want).Corrupt())
}

// sums checks what a merge of raw profiles adds up: each profile with a call has at
// least one, at most 2^32-1 calls, and a first call among those of all functions.
func (c *plausible) sums(i int, f *mip.Function) {
	profiles := uint64(f.MergeCount)
	functions := uint64(len(c.profile.Functions))
	covered := slices.ContainsFunc(f.Blocks, func(b mip.Block) bool { return b.Covered })
	counts := c.profile.Type.Has(mip.FunctionCallCount)
	switch {
	case profiles == 0 && (f.CallCount > 0 || f.TimestampSum > 0 || covered):
		c.remark(i, f.Name, "number of profiles with a call").text("%d", profiles, "at least 1: it ran")
	case profiles > 0 && f.CallCount == 0:
		c.remark(i, f.Name, "number of calls").text("%d", f.CallCount, "at least 1: it ran")
	case counts && f.CallCount < profiles:
		c.remark(i, f.Name, "number of calls").text("%d", f.CallCount, "at least one for each profile with a call")
	case counts && tooMany(f.CallCount, profiles, 1<<32-1):
		c.remark(i, f.Name, "number of calls").text("%d", f.CallCount, "at most 2^32-1 for each profile with a call")
	case !counts && f.CallCount > 1:
		c.remark(i, f.Name, "number of calls").text("%d", f.CallCount, "0 or 1 in coverage")
	}
	if counts && (f.TimestampSum < profiles || tooMany(f.TimestampSum, profiles, functions)) {
		c.remark(i, f.Name, "sum of the ranks of first calls").text("%d", f.TimestampSum, "1 to the number of functions for each profile with a call")
	}
}

// tooMany reports whether sum exceeds n times most. No uint64 exceeds a product that overflows.
func tooMany(sum, n, most uint64) bool {
	high, low := bits.Mul64(n, most)
	return high == 0 && sum > low
}

// blocks checks that the blocks with probes are in ascending order. Blocks that a
// compiler moved out of the function are beyond its end; they are told if one bit keeps
// them from where they would be in it.
func (c *plausible) blocks(i int, f *mip.Function) {
	var at []uint32
	for _, b := range f.Blocks {
		if b.Offset != 0 {
			at = append(at, b.Offset)
		}
	}
	// Most offsets lie between those of their neighbours and within the function: these are right.
	for k, offset := range at {
		low, high := uint32(0), f.Size
		if k > 0 {
			low = at[k-1]
		}
		if k+1 < len(at) {
			high = min(high, at[k+1])
		}
		if low < offset && offset < high {
			continue
		}
		for bit := range 32 {
			if near := offset ^ 1<<bit; low < near && near < high {
				c.remark(i, f.Name, "offset of a block").text("%#x", offset, "one between those of its neighbours")
				break
			}
		}
	}
}

// records checks that raw records follow each other, as the linker places them. A record is one
// byte under function coverage, else two 32-bit numbers; under block coverage a byte for each block
// but the entry follows.
func (c *plausible) records() {
	entry, align, blocks := uint64(8), uint64(4), c.profile.Type.Has(mip.BlockCoverage)
	if c.profile.Type.Has(mip.FunctionCoverage) {
		entry, align = 1, 1
	}
	order := c.by(func(f *mip.Function) uint64 { return f.RawOffset })
	end := uint64(0)
	for _, i := range order {
		f := &c.profile.Functions[i]
		switch {
		case end == 0: // the first
		case f.RawOffset < end:
			c.remark(i, f.Name, "raw offset").text("%#x", f.RawOffset, "one behind the record before")
		case f.RawOffset-end > gapBetweenRecords:
			c.remark(i, f.Name, "raw offset").text("%#x", f.RawOffset, "one next to the record before")
		}
		size := entry
		if blocks {
			size += uint64(len(f.Blocks))
		}
		end = (f.RawOffset + size + align - 1) &^ (align - 1)
	}
}

// gapBetweenRecords is how many bytes alignment may leave between the records of two
// files.
const gapBetweenRecords = 16

// code checks that functions do not overlap. Identical ones may share their code.
func (c *plausible) code() {
	order := c.by(func(f *mip.Function) uint64 { return uint64(f.Address) ^ 1<<63 }) // signed
	for k := 1; k < len(order); k++ {
		before, f := &c.profile.Functions[order[k-1]], &c.profile.Functions[order[k]]
		if f.Address != before.Address && f.Address-before.Address < int64(before.Size) {
			c.remark(order[k-1], before.Name, "size").text("%#x", before.Size, "an end before "+f.Name)
		}
	}
}

// by returns the indexes of the functions in ascending order of a key.
func (c *plausible) by(key func(*mip.Function) uint64) []int {
	order := make([]int, len(c.profile.Functions))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(key(&c.profile.Functions[a]), key(&c.profile.Functions[b]))
	})
	return order
}
