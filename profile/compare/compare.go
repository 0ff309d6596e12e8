package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/profuse-pgo/profuse/profile"
)

// Options say what is compared. The zero value compares functions.
type Options struct {
	// Table is what is compared: profile.FunctionSet, or the name of a stack set. Empty means the functions if the
	// base counted them, otherwise its first stack set.
	Table string
	Value string // the name of the value of the stacks; empty means the first
	// Contexts combines the stacks that differ only in the line of the innermost function, so that
	// functions in calling contexts are compared.
	Contexts bool
	// Hot is the share of the total, in millionths, that the hot items make up; Cold the share of all items but
	// the cold ones. Zero means 990,000 and 999,999, the defaults of LLVM.
	Hot, Cold uint64
}

// A Temperature rates how often an item ran relative to the rest of its profile, in a word for people.
type Temperature string

// The temperatures.
const (
	Absent   Temperature = "absent"    // not in the profile
	NeverRan Temperature = "never ran" // count 0
	Cold     Temperature = "cold"      // ran, but hardly ever
	Warm     Temperature = "warm"
	Hot      Temperature = "hot"
)

// A Side summarizes one of the profiles.
type Side struct {
	Identity profile.Identity
	Items    int     // functions or stacks in the profile
	Ran      int     // items that ran
	Total    float64 // sum of the items' counts
	Hot      int     // hot items
	HotMin   uint64  // least count of a hot block, function or stack
	ColdMax  uint64  // greatest count of a cold block, function or stack
}

// A Change is one item in both profiles.
type Change struct {
	Symbol profile.Symbol  // the function; of a stack, the function of the innermost frame
	Frames []profile.Frame // of a stack; nil of a function
	// Counts are sums over the blocks of a function, or its calls.
	Base, New           uint64
	BaseShare, NewShare float64 // of the totals, 0 to 1
	Delta               float64 // NewShare - BaseShare
	Before, After       Temperature
	// HashChanged reports that the profiles share no control flow hash of the function. It is false for profiles
	// whose hashes are not comparable: of different families, or of different kinds ([profile.Identity].Hashes).
	HashChanged bool

	baseMost, newMost uint64 // greatest counts of a block
}

// A Result holds the differences between a base and a new profile. Its lists are
// complete and sorted by the greater of the two shares, descending.
type Result struct {
	Base, New Side
	// Kind is what the items are: "functions" or the name of a stack set; ValueName is the stacks' value.
	Kind      string
	ValueName string
	Unit      profile.Unit

	// Overlap is the sum over all items of the lesser of the two shares: 1 for
	// equal distributions, 0 for nothing in common.
	Overlap     float64
	HotTurnover float64 // the share of the base's hot items that are no longer hot
	// RankCorrelation compares the orders of the items by their greatest block counts (Spearman's coefficient,
	// ties having mean ranks): 1 for equal orders, 0 for unrelated ones, -1 for opposite ones. It covers the
	// Ranked items, which are in both profiles and ran in one of them, and is 0 if all items of a profile have one
	// rank. Unlike shares, ranks do not depend on how a format counts.
	RankCorrelation float64
	Ranked          int

	// Hashes reports that both profiles have hashes of control flow, of one kind.
	Hashes bool

	BecameHot   []Change // hot in the new profile only
	LeftHot     []Change // hot in the base only
	Started     []Change // in both, ran in the new profile only
	Stopped     []Change // in both, ran in the base only
	Appeared    []Change // in the new profile only
	Disappeared []Change // in the base only
	HashChanged []Change // with another control flow
	Movers      []Change // with another share, by the absolute change
}

// Views compares two profiles. It fails if one of them does not have opt.Table or
// opt.Value, or if they measure the value in different units.
func Views(base, other profile.View, opt Options) (*Result, error) {
	opt.Hot, opt.Cold = cmp.Or(opt.Hot, 990_000), cmp.Or(opt.Cold, 999_999)
	if opt.Table == "" {
		opt.Table = profile.FunctionSet
		if sets := base.Stacks(); len(sets) > 0 && !base.Features().Calls && !base.Features().Blocks {
			opt.Table = sets[0].Name
		}
	}
	r := &Result{Kind: opt.Table}
	byID := anyNameless(base, opt) || anyNameless(other, opt)
	var n *collection
	var otherErr error
	var both sync.WaitGroup
	both.Go(func() { n, otherErr = collect(other, opt, byID) })
	b, err := collect(base, opt, byID)
	both.Wait()
	if err = cmp.Or(err, otherErr); err != nil {
		return nil, err
	}
	if opt.Table != profile.FunctionSet {
		r.ValueName, r.Unit = n.value.Name, n.value.Unit
		if b.value.Unit != n.value.Unit {
			return nil, fmt.Errorf("%s is in %s in one profile and in %s in the other", n.value.Name, b.value.Unit, n.value.Unit)
		}
	}
	r.Base, r.New = b.side, n.side
	r.Hashes = opt.Table == profile.FunctionSet && base.Features().Hashes && other.Features().Hashes && b.sameHashes(n)
	r.fillLists(pair(b, n))
	return r, nil
}

func (r *Result) fillLists(changes []Change) {
	lost := 0
	for i := range changes {
		c := &changes[i]
		r.Overlap += min(c.BaseShare, c.NewShare)
		switch {
		case c.After == Hot && c.Before != Hot:
			r.BecameHot = append(r.BecameHot, *c)
		case c.Before == Hot && c.After != Hot:
			r.LeftHot = append(r.LeftHot, *c)
			lost++
		}
		switch {
		case c.Before == Absent:
			r.Appeared = append(r.Appeared, *c)
		case c.After == Absent:
			r.Disappeared = append(r.Disappeared, *c)
		case c.Before == NeverRan && c.After != NeverRan:
			r.Started = append(r.Started, *c)
		case c.Before != NeverRan && c.After == NeverRan:
			r.Stopped = append(r.Stopped, *c)
		}
		if c.HashChanged {
			r.HashChanged = append(r.HashChanged, *c)
		}
	}
	if r.Base.Hot > 0 {
		r.HotTurnover = float64(lost) / float64(r.Base.Hot)
	}
	share := func(c *Change) float64 { return max(c.BaseShare, c.NewShare) }
	for _, list := range [][]Change{r.BecameHot, r.LeftHot, r.Started, r.Stopped, r.Appeared, r.Disappeared, r.HashChanged} {
		sortBy(list, func(a, b *Change) int { return cmp.Compare(share(b), share(a)) })
	}
	r.rank(changes)
	r.Movers = slices.DeleteFunc(changes, func(c Change) bool { return c.Delta == 0 })
	sortBy(r.Movers, func(a, b *Change) int { return cmp.Compare(math.Abs(b.Delta), math.Abs(a.Delta)) })
	if len(r.Movers) == 0 {
		r.Movers = nil
	}
}

// sortBy sorts changes; equal changes keep their order. It moves each change once, since changes are large.
func sortBy(changes []Change, compare func(a, b *Change) int) {
	order := make([]int32, len(changes)) // by new index, the old index; -1 once the change has moved
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(compare(&changes[a], &changes[b]), cmp.Compare(a, b)) })
	for start := range order {
		first := changes[start]
		at := int32(start)
		for order[at] != int32(start) && order[at] >= 0 {
			from := order[at]
			changes[at], order[at] = changes[from], -1
			at = from
		}
		if order[at] >= 0 {
			changes[at], order[at] = first, -1
		}
	}
}

func (r *Result) rank(changes []Change) {
	var base, other []uint64
	for i := range changes {
		c := &changes[i]
		if c.Before != Absent && c.After != Absent && (c.Before != NeverRan || c.After != NeverRan) {
			base, other = append(base, c.baseMost), append(other, c.newMost)
		}
	}
	r.Ranked = len(base)
	x, y := ranks(base), ranks(other)
	mean := float64(len(x)+1) / 2
	var xx, yy, xy float64
	for i := range x {
		dx, dy := x[i]-mean, y[i]-mean
		xx, yy, xy = xx+float64(dx*dx), yy+float64(dy*dy), xy+float64(dx*dy) // not fused: the same on all machines
	}
	if xx > 0 && yy > 0 {
		r.RankCorrelation = xy / math.Sqrt(xx*yy)
	}
}

// ranks returns the rank of each value, from 1. Equal values have the mean of their ranks.
func ranks(values []uint64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	out := make([]float64, len(values))
	for start := 0; start < len(order); {
		end := start + 1
		for end < len(order) && values[order[end]] == values[order[start]] {
			end++
		}
		for _, i := range order[start:end] {
			out[i] = float64(start+1+end) / 2
		}
		start = end
	}
	return out
}
