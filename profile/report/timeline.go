package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/numbering"
	"github.com/profuse-pgo/profuse/profile"
)

// A timeline is the order in which the functions of a program were called for the first time.
type timeline struct {
	functions []starter // the earliest first, by mean rank
	runs      []run     // in the order of the profile
	addresses bool      // true if the addresses of functions are known
	listed    int       // functions of the profile, those that no run called included
	unlisted  int       // functions that runs called and the profile has no record of
}

type starter struct {
	symbol  profile.Symbol
	runs    int // that called it
	min     int // ranks, 1 being the first call
	max     int
	mean    float64 // by the weights of the runs
	index   int     // in the functions of the profile; -1 if it has no record
	address int64
	size    uint64
}

func (s *starter) spread() int { return s.max - s.min }

type run struct {
	weight uint64
	mean   bool    // computed from several runs
	calls  []int32 // functions, by index, the first to be called first
	// agreement is the rank correlation (Spearman's rho) with the mean order: 1 if the functions came in the same
	// order, -1 if in the opposite one; NaN if there are fewer than two.
	agreement float64
}

// newTimeline collects the first calls of a profile. It returns nil if there are none.
func newTimeline(v profile.View) *timeline {
	if !v.Features().Traces {
		return nil
	}
	t := &timeline{addresses: v.Features().Sizes}
	var at numbering.Table[profile.Symbol]
	var sums, weights []float64
	for trace := range v.Traces() {
		r := run{weight: max(trace.Weight, 1), mean: trace.Mean, calls: make([]int32, 0, len(trace.Functions))}
		called := make(map[int32]bool, len(trace.Functions))
		for _, s := range trace.Functions {
			i := at.Of(s)
			if int(i) == len(t.functions) {
				t.functions = append(t.functions, starter{symbol: s, min: math.MaxInt, index: -1})
				sums, weights = append(sums, 0), append(weights, 0)
			}
			if called[i] {
				continue // only the first call counts
			}
			called[i] = true
			r.calls = append(r.calls, i)
			f, rank := &t.functions[i], len(r.calls)
			f.runs++
			f.min, f.max = min(f.min, rank), max(f.max, rank)
			sums[i] += float64(r.weight) * float64(rank)
			weights[i] += float64(r.weight)
		}
		if len(r.calls) > 0 {
			t.runs = append(t.runs, r)
		}
	}
	if len(t.runs) == 0 {
		return nil
	}
	for i := range t.functions {
		t.functions[i].mean = sums[i] / weights[i]
	}
	t.findRecords(v, &at)
	t.sort()
	for i := range t.runs {
		t.runs[i].agreement = agreement(t.runs[i].calls)
	}
	return t
}

func (t *timeline) findRecords(v profile.View, at *numbering.Table[profile.Symbol]) {
	for f := range profile.ReusedFunctions(v) {
		if i := at.Find(f.Symbol); i >= 0 && t.functions[i].index < 0 {
			t.functions[i].index, t.functions[i].address, t.functions[i].size = t.listed, f.Address, f.Size
		}
		t.listed++
	}
	for i := range t.functions {
		if t.functions[i].index < 0 {
			t.unlisted++
		}
	}
}

// sort sorts functions by mean rank. Of equal functions, the function that more runs called comes first.
// The runs then have the new indexes.
func (t *timeline) sort() {
	order := make([]int32, len(t.functions))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		x, y := &t.functions[a], &t.functions[b]
		return cmp.Or(cmp.Compare(x.mean, y.mean), cmp.Compare(y.runs, x.runs))
	})
	sorted := make([]starter, len(order))
	index := make([]int32, len(order))
	for to, from := range order {
		sorted[to], index[from] = t.functions[from], int32(to)
	}
	t.functions = sorted
	for _, r := range t.runs {
		for i, f := range r.calls {
			r.calls[i] = index[f]
		}
	}
}

// agreement is the rank correlation of the functions, given by their indexes in
// the mean order, with that order. No two have the same rank in either.
func agreement(calls []int32) float64 {
	n := float64(len(calls))
	if n < 2 {
		return math.NaN()
	}
	sorted := slices.Clone(calls)
	slices.Sort(sorted)
	sum := 0.0
	for rank, f := range calls {
		other, _ := slices.BinarySearch(sorted, f)
		d := float64(rank - other)
		sum += d * d
	}
	return 1 - 6*sum/(n*(n*n-1))
}

// medianSpread is the rank spread that half of the functions called in several
// runs do not exceed. ok is false if there are no such functions.
func (t *timeline) medianSpread() (spread int, ok bool) {
	var all []int
	for i := range t.functions {
		if t.functions[i].runs > 1 {
			all = append(all, t.functions[i].spread())
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	slices.Sort(all)
	return all[(len(all)-1)/2], true
}

func (t *timeline) inAll() (n int) {
	for i := range t.functions {
		if t.functions[i].runs == len(t.runs) {
			n++
		}
	}
	return n
}

func (t *timeline) longest() (n int) {
	for _, r := range t.runs {
		n = max(n, len(r.calls))
	}
	return n
}
