package profile

import (
	"iter"
	"math/bits"
	"slices"
)

// A Distribution describes how the values of a profile are spread.
type Distribution struct {
	Values  uint64 // how many, those that are zero included
	Max     uint64
	Total   uint64 // their sum; 2^64-1 if it is more
	Cutoffs []Cutoff
}

// A Cutoff says that the greatest Values values, each Min or more, make up
// Share millionths of the total.
type Cutoff struct {
	Share  uint32
	Min    uint64
	Values uint64
}

// DefaultCutoffs returns the shares, in millionths, that the summaries of LLVM
// have.
func DefaultCutoffs() []uint32 {
	return []uint32{
		10_000, 100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 700_000,
		800_000, 900_000, 950_000, 990_000, 999_000, 999_900, 999_990, 999_999,
	}
}

// whole is the share that stands for all.
const whole = 1_000_000

// Distribute computes the distribution of values, with an entry for each
// share, in millionths, at most a million; in ascending order. Memory grows
// with the number of distinct values.
func Distribute(values iter.Seq[uint64], shares []uint32) Distribution {
	var t tally
	for v := range values {
		t.add(v)
	}
	return t.distribution(shares)
}

// tally counts values by value.
type tally struct {
	small [2048]uint64 // most values are small
	large map[uint64]uint64
	n     uint64
	high  uint64 // the total has 128 bits
	low   uint64
}

func (t *tally) add(v uint64) {
	if v < uint64(len(t.small)) {
		t.small[v]++
	} else {
		if t.large == nil {
			t.large = make(map[uint64]uint64)
		}
		t.large[v]++
	}
	t.n++
	var carry uint64
	t.low, carry = bits.Add64(t.low, v, 0)
	t.high += carry
}

// distribution walks the values from the greatest down until each share is
// reached.
func (t *tally) distribution(shares []uint32) Distribution {
	d := Distribution{Values: t.n, Total: t.low}
	if t.high > 0 {
		d.Total = 1<<64 - 1
	}
	distinct := make([]uint64, 0, len(t.large))
	for v := range t.large {
		distinct = append(distinct, v)
	}
	for v, n := range t.small {
		if n > 0 {
			distinct = append(distinct, uint64(v))
		}
	}
	slices.Sort(distinct)
	if len(distinct) > 0 {
		d.Max = distinct[len(distinct)-1]
	}
	var c Cutoff
	var high, low uint64 // sum of the values passed
	for _, c.Share = range slices.Sorted(slices.Values(shares)) {
		wantHigh, wantLow := t.portion(c.Share)
		for (high < wantHigh || high == wantHigh && low < wantLow) && len(distinct) > 0 {
			c.Min = distinct[len(distinct)-1]
			distinct = distinct[:len(distinct)-1]
			n := t.count(c.Min)
			c.Values += n
			productHigh, productLow := bits.Mul64(c.Min, n)
			var carry uint64
			low, carry = bits.Add64(low, productLow, 0)
			high, _ = bits.Add64(high, productHigh, carry)
		}
		d.Cutoffs = append(d.Cutoffs, c)
	}
	return d
}

func (t *tally) count(v uint64) uint64 {
	if v < uint64(len(t.small)) {
		return t.small[v]
	}
	return t.large[v]
}

// portion returns total·share/10⁶, rounded down.
func (t *tally) portion(share uint32) (high, low uint64) {
	share = min(share, whole)
	// Schoolbook division of a product of 128 bits: t.high is less than the
	// number of values, so that high·share stays below 2^64.
	highProduct := t.high * uint64(share)
	carry, lowProduct := bits.Mul64(t.low, uint64(share))
	highProduct += carry
	high, rest := highProduct/whole, highProduct%whole
	low, _ = bits.Div64(rest, lowProduct, whole)
	return high, low
}

// Summary gives the totals of a profile's functions and how their counts are
// spread.
type Summary struct {
	Functions     uint64 // records, those that never ran included
	Covered       uint64 // records that ran
	Blocks        uint64
	CoveredBlocks uint64
	MaxCalls      uint64
	// Counts are of the blocks, or of the calls if OfCalls: if there are no
	// blocks, or if only the calls were counted.
	Counts  Distribution
	OfCalls bool
}

// Summarize goes through the functions of v. Shares are as in [Distribute]. For
// an IRPGO profile Counts are what LLVM's summary says as long as the total
// stays below 2^64, where LLVM's wraps.
func Summarize(v View, shares []uint32) Summary {
	var s Summary
	var t tally
	features := v.Features()
	s.OfCalls = !features.Has(HasBlocks) ||
		features.Has(HasCalls|BlocksAreCoverage) && !features.Has(CallsAreCoverage)
	for f := range v.Functions() {
		s.Functions++
		if f.Covered {
			s.Covered++
		}
		s.MaxCalls = max(s.MaxCalls, f.Calls)
		if s.OfCalls {
			t.add(f.Calls)
		} else {
			for _, b := range f.Blocks {
				t.add(b.Count)
			}
		}
		s.Blocks += uint64(len(f.Blocks))
		s.CoveredBlocks += uint64(f.CoveredBlocks())
	}
	s.Counts = t.distribution(shares)
	return s
}
