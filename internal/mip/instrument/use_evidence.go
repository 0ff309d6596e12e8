package instrument

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// Evidence is what profiles say about the functions of a program, for [Use].
type Evidence struct {
	byName map[string][]observed
	order  []string
	blocks bool // any profile has block coverage
	// link has the functions of the first profile, or of the first profile with block coverage, in
	// link order. at has their indexes by name, -1 for a name of several functions. byBase returns
	// the functions of each base name.
	link   []*mip.Function
	at     map[string]int
	byBase func() map[string][]int
}

// observed is what one profile says about one function.
type observed struct {
	function  *mip.Function
	placement placement
	blocks    bool // the profile has block coverage
}

// hotShare is the share of all calls, in percent, that the hot functions
// account for together; LLVM's ProfileSummaryCutoffHot.
const hotShare = 99

// NewEvidence returns the evidence of profiles, which the caller must not
// change while it is in use. A function ran if it ran in any of the profiles.
//
// Functions that never ran are unlikely. With call counts, the most frequently called functions, which
// account for 99 % of all calls, are hot, except those called only once in each run; the other functions
// that ran are startup code. Coverage does not count calls: every function that ran is hot.
func NewEvidence(profiles ...*mip.Profile) *Evidence {
	e := &Evidence{byName: map[string][]observed{}}
	listed := map[string]bool{}
	for i, p := range profiles {
		blocks := p.Type.Has(mip.BlockCoverage)
		if i == 0 || blocks && !e.blocks {
			e.setLink(p)
		}
		e.blocks = e.blocks || blocks
		least := hotCalls(p)
		for i := range p.Functions {
			f := &p.Functions[i]
			k := observed{function: f, blocks: blocks, placement: startup}
			switch {
			case !f.Covered():
				k.placement = unlikely
			case !p.Type.Has(mip.FunctionCallCount), f.CallCount >= least && f.CallCount > uint64(f.MergeCount):
				k.placement = hot
			}
			e.byName[f.Name] = append(e.byName[f.Name], k)
		}
		for _, f := range p.Order() {
			if !listed[f.Name] {
				listed[f.Name] = true
				e.order = append(e.order, f.Name)
			}
		}
	}
	return e
}

// hotCalls returns the least number of calls of a hot function.
func hotCalls(p *mip.Profile) uint64 {
	counts := make([]uint64, 0, len(p.Functions))
	total := uint64(0)
	for i := range p.Functions {
		c := p.Functions[i].CallCount
		counts = append(counts, c)
		total = max(total, total+c) // saturates
	}
	slices.SortFunc(counts, func(a, b uint64) int { return cmp.Compare(b, a) })
	want := total/100*hotShare + total%100*hotShare/100
	sum := uint64(0)
	for _, c := range counts {
		if sum += c; sum >= want {
			return c
		}
	}
	return 0
}

// Order returns the functions that ran in the order of their first calls, those
// of the first profile first.
func (e *Evidence) Order() []string { return slices.Clone(e.order) }

// record is what the profiles say about a function of the file.
type record struct {
	placement placement
	stale     bool // its control flow has changed since
	// coverage says for each block whether it ran; nil if unknown. It is an estimate for a function
	// whose control flow has changed.
	coverage []bool
}

// find returns what the profiles say about a function that has the given name in them,
// or the reason why they say nothing.
func (e *Evidence) find(f *asm.File, id int, name string) (*record, asm.Reason) {
	var r *record
	fn := &f.Functions[id]
	all := e.byName[name]
	for i := range all {
		k := &all[i]
		var coverage []bool
		if k.blocks && len(fn.Blocks) > 0 {
			if k.function.CFG != fn.Signature() {
				continue
			}
			if fn.BlocksSkip == "" {
				var fits bool
				if coverage, fits = spreadCoverage(fn, k.function); !fits {
					continue
				}
			}
		}
		r = r.join(record{placement: k.placement, coverage: coverage})
	}
	switch {
	case r != nil:
		return r, ""
	case len(all) == 0:
		return nil, asm.UseNew
	}
	instructions := f.BlockInstructions(int32(id))
	for i := range all {
		changed := record{placement: all[i].placement, stale: true}
		if all[i].blocks && fn.BlocksSkip == "" && changed.placement != unlikely {
			changed.coverage = fitCoverage(fn, instructions, all[i].function)
		}
		r = r.join(changed)
	}
	return r, ""
}

// join returns what two profiles together say about a function; r is nil if the first says
// nothing. A profile in which it never ran says nothing of the other's blocks.
func (r *record) join(k record) *record {
	switch {
	case r == nil || r.placement == unlikely:
		return &k
	case k.placement == unlikely:
		return r
	}
	r.placement = max(r.placement, k.placement)
	if k.coverage == nil { // this profile does not say which blocks ran
		r.coverage = nil
	}
	for b := range r.coverage {
		r.coverage[b] = r.coverage[b] || k.coverage[b]
	}
	return r
}

// spreadCoverage returns the coverage of all blocks of the function, derived from the blocks with
// probes in the profile. fits is false if the numbers of blocks differ.
func spreadCoverage(fn *asm.Function, p *mip.Function) (covered []bool, fits bool) {
	n := len(fn.Blocks)
	covered = make([]bool, n)
	covered[0] = p.Covered()
	switch {
	case len(p.Blocks) == n-1: // every block has a probe, or a reader has filled in the others
		for b := range p.Blocks {
			covered[b+1] = p.Blocks[b].Covered
		}
		return covered, true
	case len(p.Blocks) != fn.ProbedBlocks():
		return nil, false
	}
	next := 0
	for b := 1; b < n; b++ {
		if fn.Probed(b) {
			covered[b] = p.Blocks[next].Covered
			next++
		}
	}
	inferCoverage(fn, covered)
	return covered, true
}

// inferCoverage sets the coverage of the blocks without probes that are covered.
func inferCoverage(fn *asm.Function, covered []bool) {
	// A source may be inferred itself; no block depends on itself.
	for changed := true; changed; {
		changed = false
		for b := 1; b < len(covered); b++ {
			if covered[b] || fn.Probed(b) {
				continue
			}
			for _, s := range fn.Formula[b] {
				if covered[s] {
					covered[b], changed = true, true
					break
				}
			}
		}
	}
}
