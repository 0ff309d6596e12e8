package profile

import (
	"iter"

	"github.com/profuse-pgo/profuse/internal/tally"
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
	var t tally.Tally
	for v := range values {
		t.Add(v)
	}
	return distribution(&t, shares)
}

func distribution(t *tally.Tally, shares []uint32) Distribution {
	wanted := make([]uint64, len(shares))
	for i, share := range shares {
		wanted[i] = uint64(min(share, whole))
	}
	spread := t.Distribution(wanted, false)
	d := Distribution{Values: spread.Values, Max: spread.Max, Total: spread.Low}
	if spread.High > 0 {
		d.Total = 1<<64 - 1
	}
	for _, c := range spread.Cutoffs {
		d.Cutoffs = append(d.Cutoffs, Cutoff{Share: uint32(c.Share), Min: c.Min, Values: c.Values})
	}
	return d
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
	var t tally.Tally
	features := v.Features()
	s.OfCalls = !features.Has(HasBlocks) ||
		features.Has(HasCalls|BlocksAreCoverage) && !features.Has(CallsAreCoverage)
	for f := range ReusedFunctions(v) {
		s.Functions++
		if f.Covered {
			s.Covered++
		}
		s.MaxCalls = max(s.MaxCalls, f.Calls)
		if s.OfCalls {
			t.Add(f.Calls)
		} else {
			for _, b := range f.Blocks {
				t.Add(b.Count)
			}
		}
		s.Blocks += uint64(len(f.Blocks))
		s.CoveredBlocks += uint64(f.CoveredBlocks())
	}
	s.Counts = distribution(&t, shares)
	return s
}
