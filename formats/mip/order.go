package mip

import (
	"cmp"
	"math/bits"
	"slices"
)

// Order returns the covered functions by the mean rank of their first calls, the earliest
// first; ties, and all functions of a profile without timestamps, are in the order of the
// profile. The mean is over the runs that called the function.
func (p *Profile) Order() []*Function {
	var out []*Function
	for i := range p.Functions {
		if f := &p.Functions[i]; f.Covered() {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, compareMeanRank)
	return out
}

// compareMeanRank compares the fractions TimestampSum ÷ MergeCount exactly.
func compareMeanRank(a, b *Function) int {
	aHigh, aLow := bits.Mul64(a.TimestampSum, uint64(b.MergeCount))
	bHigh, bLow := bits.Mul64(b.TimestampSum, uint64(a.MergeCount))
	return cmp.Or(cmp.Compare(aHigh, bHigh), cmp.Compare(aLow, bLow))
}
