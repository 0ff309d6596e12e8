package report

import "github.com/profuse-pgo/profuse/profile"

// A heat classifies a function by its counts as LLVM's passes do.
type heat int

const (
	// They are ordered for the rank of functions; the numbers are in the data of pages.
	never heat = iota
	cold
	warm
	hot
	ran // an unknown number of times
)

func (h heat) String() string {
	return [...]string{"never", "cold", "warm", "hot", "ran"}[h]
}

// LLVM's default cutoffs for hot and cold counts, in millionths of the total.
const (
	hotCutoff  = 990_000
	coldCutoff = 999_999
)

// A heatScale tells hot functions from cold ones.
type heatScale struct {
	counts    bool // false: the profile says at most whether a function ran
	hot, cold uint64
}

// newHeatScale takes the thresholds from a summary with the cutoffs of LLVM.
func newHeatScale(features profile.Features, s profile.Summary) heatScale {
	scale := heatScale{}
	switch {
	case features.Blocks && !features.BlocksAreCoverage:
		scale.counts = true
	case features.Calls && !features.CallsAreCoverage:
		scale.counts = true
	}
	scale.hot, _ = s.Counts.Cutoffs.Hot()
	scale.cold, _ = s.Counts.Cutoffs.Cold()
	return scale
}

// of returns how hot f is. Its greatest count decides, of calls or of blocks.
func (s heatScale) of(f *profile.Function) heat {
	m := f.Max()
	switch {
	case !f.Covered && m == 0:
		return never
	case !s.counts:
		return ran
	case m >= s.hot:
		return hot
	case m <= s.cold:
		return cold
	}
	return warm
}
