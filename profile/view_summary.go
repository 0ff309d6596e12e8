package profile

import (
	"iter"
	"slices"

	"github.com/profuse-pgo/profuse/internal/tally"
)

// A Distribution summarizes the values of a profile.
type Distribution struct {
	Values  uint64 // number of values, zeros included
	Max     uint64
	Total   uint64 // sum of the values, saturating at 2^64-1
	Cutoffs Cutoffs
}

// A Cutoff says that the greatest Values values, each Min or more, make up Share millionths of the total.
type Cutoff struct{ Share, Min, Values uint64 }

// Cutoffs are the cutoffs of one profile, in ascending order of their shares.
type Cutoffs []Cutoff

// Hot returns the least count that is hot for LLVM: the counts from there up make up 99 % of the total.
// It reports false if the cutoffs do not go that far.
func (c Cutoffs) Hot() (count uint64, ok bool) { return c.minAt(990_000) }

// Cold returns the greatest count that is cold for LLVM: the counts from there up make up 99.9999 % of
// the total. It reports false if the cutoffs do not go that far.
func (c Cutoffs) Cold() (count uint64, ok bool) { return c.minAt(999_999) }

// minAt returns the least count at the lowest cutoff, in millionths, that is not below share.
func (c Cutoffs) minAt(share uint64) (count uint64, ok bool) {
	i := slices.IndexFunc(c, func(e Cutoff) bool { return e.Share >= share })
	if i < 0 {
		return 0, false
	}
	return c[i].Min, true
}

// DefaultCutoffs returns the shares, in millionths, of LLVM's summaries
// (ProfileSummaryBuilder::DefaultCutoffs), the same in all its versions.
func DefaultCutoffs() []uint64 {
	return []uint64{
		10_000, 100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 700_000,
		800_000, 900_000, 950_000, 990_000, 999_000, 999_900, 999_990, 999_999,
	}
}

// whole is the share of the whole total, in millionths.
const whole = 1_000_000

// Distribute computes the distribution of values, with a cutoff for each of the shares, which are in millionths,
// at most a million, and ascending. Memory is proportional to the number of distinct values.
func Distribute(values iter.Seq[uint64], shares []uint64) Distribution {
	var t tally.Tally
	for v := range values {
		t.Add(v)
	}
	return distribution(&t, shares)
}

func distribution(t *tally.Tally, shares []uint64) Distribution {
	wanted := make([]uint64, len(shares))
	for i, share := range shares {
		wanted[i] = min(share, whole)
	}
	spread := t.Distribution(wanted, false)
	d := Distribution{Values: spread.Values, Max: spread.Max, Total: spread.Low}
	if spread.High > 0 {
		d.Total = 1<<64 - 1
	}
	for _, c := range spread.Cutoffs {
		d.Cutoffs = append(d.Cutoffs, Cutoff(c))
	}
	return d
}

// Summary holds the totals of a profile's functions and the distribution of their counts.
type Summary struct {
	Functions     uint64 // records, including those that never ran
	Covered       uint64 // records that ran
	Blocks        uint64
	CoveredBlocks uint64
	MaxCalls      uint64
	// Counts are the block counts, or with OfCalls the calls, because there are no blocks or only calls
	// were counted.
	Counts  Distribution
	OfCalls bool
}

// Summarize computes the summary of v's functions, with shares as in [Distribute]. For an IRPGO profile
// Counts equals LLVM's summary unless the total exceeds 64 bits, where LLVM's wraps.
func Summarize(v View, shares []uint64) Summary {
	var s Summary
	var t tally.Tally
	features := v.Features()
	s.OfCalls = !features.Blocks ||
		features.Calls && features.BlocksAreCoverage && !features.CallsAreCoverage
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
