package mipcmd

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/symbols"
)

// plausible finds numbers that the formats allow but that no linker or run produces.
type plausible struct {
	profile *mip.Profile
	remarks []error
}

// plausibleRemarks returns remarks about implausible numbers in a map or profile.
func plausibleRemarks(p *mip.Profile) []error {
	c := &plausible{profile: p}
	for i := range p.Functions {
		f := &p.Functions[i]
		c.checkSums(i, f)
		c.checkBlocks(i, f)
		if !symbols.IsText(f.Name) {
			c.remark(i, "function name", "%q", f.Name, "text without control characters")
		}
		if f.Size == 0 {
			c.remark(i, "size", "%d", f.Size, "at least 1 byte")
		}
		if f.Address < -reach || f.Address >= reach {
			c.remark(i, "address", "%#x", f.Address, "one within 2 GiB of the raw section, which code addresses by 32 bits")
		}
	}
	c.checkRecords()
	c.checkCode()
	return c.remarks
}

// reach is the greatest distance in bytes between the raw section and code.
const reach = 1 << 31

// remark adds a remark about a field of function i. format is for got.
func (c *plausible) remark(i int, field, format string, got any, want string) {
	problem := flaw.In("functions").InRecord(i).Field(field + " of " + c.profile.Functions[i].Name)
	c.remarks = append(c.remarks, problem.Gotf(format, got).Want(want).Corrupt())
}

// checkSums checks the sums of raw profiles. Each profile that ran the function adds 1 to 2^32-1
// calls, and a rank of the first call, at most the number of functions.
func (c *plausible) checkSums(i int, f *mip.Function) {
	profiles := uint64(f.MergeCount)
	functions := uint64(len(c.profile.Functions))
	covered := slices.ContainsFunc(f.Blocks, func(b mip.Block) bool { return b.Covered })
	counts := c.profile.Type.Has(mip.FunctionCallCount)
	switch {
	case profiles == 0 && (f.CallCount > 0 || f.TimestampSum > 0 || covered):
		c.remark(i, "number of profiles with a call", "%d", profiles, "at least 1: it ran")
	case profiles > 0 && f.CallCount == 0:
		c.remark(i, "number of calls", "%d", f.CallCount, "at least 1: it ran")
	case counts && f.CallCount < profiles:
		c.remark(i, "number of calls", "%d", f.CallCount, "at least one for each profile with a call")
	case counts && tooMany(f.CallCount, profiles, 1<<32-1):
		c.remark(i, "number of calls", "%d", f.CallCount, "at most 2^32-1 for each profile with a call")
	case !counts && f.CallCount > 1:
		c.remark(i, "number of calls", "%d", f.CallCount, "0 or 1 in coverage")
	}
	if counts && (f.TimestampSum < profiles || tooMany(f.TimestampSum, profiles, functions)) {
		c.remark(i, "sum of the ranks of first calls", "%d", f.TimestampSum, "1 to the number of functions for each profile with a call")
	}
}

// tooMany reports whether sum exceeds n times most. No uint64 exceeds a product that overflows.
func tooMany(sum, n, most uint64) bool {
	high, low := bits.Mul64(n, most)
	return high == 0 && sum > low
}

// checkBlocks checks that the offsets of blocks with probes ascend within the function. A compiler
// may move blocks beyond its end, so an offset is only implausible if a flip of one bit puts it
// between its neighbours.
func (c *plausible) checkBlocks(i int, f *mip.Function) {
	var offsets []uint32
	for _, b := range f.Blocks {
		if b.Offset != 0 {
			offsets = append(offsets, b.Offset)
		}
	}
	for k, offset := range offsets {
		low, high := uint32(0), f.Size
		if k > 0 {
			low = offsets[k-1]
		}
		if k+1 < len(offsets) {
			high = min(high, offsets[k+1])
		}
		if low < offset && offset < high {
			continue
		}
		for bit := range 32 {
			if near := offset ^ 1<<bit; low < near && near < high {
				c.remark(i, "offset of a block", "%#x", offset, "one between the offsets of its neighbours")
				break
			}
		}
	}
}

// checkRecords checks that raw records follow each other without overlap or large gaps. A record is
// one byte under function coverage, otherwise two 32-bit numbers; under block coverage a byte
// follows for each block except the entry.
func (c *plausible) checkRecords() {
	entry, align, blocks := uint64(8), uint64(4), c.profile.Type.Has(mip.BlockCoverage)
	if c.profile.Type.Has(mip.FunctionCoverage) {
		entry, align = 1, 1
	}
	order := c.sorted(func(f *mip.Function) uint64 { return f.RawOffset })
	end := uint64(0)
	for _, i := range order {
		f := &c.profile.Functions[i]
		switch {
		case end == 0: // the first
		case f.RawOffset < end:
			c.remark(i, "raw offset", "%#x", f.RawOffset, "one behind the record before")
		case f.RawOffset-end > gapBetweenRecords:
			c.remark(i, "raw offset", "%#x", f.RawOffset, "one next to the record before")
		}
		size := entry
		if blocks {
			size += uint64(len(f.Blocks))
		}
		end = (f.RawOffset + size + align - 1) &^ (align - 1)
	}
}

// gapBetweenRecords is the greatest number of bytes that alignment leaves between the records of
// two object files.
const gapBetweenRecords = 16

// checkCode checks that functions do not overlap. Identical functions may share their code.
func (c *plausible) checkCode() {
	order := c.sorted(func(f *mip.Function) uint64 { return uint64(f.Address) ^ 1<<63 }) // signed
	for k := 1; k < len(order); k++ {
		before, f := &c.profile.Functions[order[k-1]], &c.profile.Functions[order[k]]
		if f.Address != before.Address && f.Address-before.Address < int64(before.Size) {
			c.remark(order[k-1], "size", "%#x", before.Size, "an end before "+f.Name)
		}
	}
}

// sorted returns the indexes of the functions in ascending order of a key.
func (c *plausible) sorted(key func(*mip.Function) uint64) []int {
	order := make([]int, len(c.profile.Functions))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(key(&c.profile.Functions[a]), key(&c.profile.Functions[b]))
	})
	return order
}
