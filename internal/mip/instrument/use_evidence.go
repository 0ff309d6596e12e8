package instrument

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/mip"
)

// Evidence is what profiles say about the functions of a program, for [Use].
type Evidence struct {
	byName map[string][]observed
	order  []string
	blocks bool // any profile has block coverage
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
// Functions that never ran are unlikely. With call counts, the most frequently
// called functions, which account for 99 % of all calls, are hot, except those
// called only once in each run; the other functions that ran are startup code.
// Coverage does not count calls: every function that ran is hot.
func NewEvidence(profiles ...*mip.Profile) *Evidence {
	e := &Evidence{byName: map[string][]observed{}}
	listed := map[string]bool{}
	for _, p := range profiles {
		blocks := p.Type.Has(mip.BlockCoverage)
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
	// coverage says for each block whether it ran; nil if unknown.
	coverage []bool
}

// find returns what the profiles say about a function, or the reason why they say
// nothing.
func (e *Evidence) find(fn *asm.Function) (*record, asm.Reason) {
	var r *record
	all := e.byName[fn.Name]
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
		switch {
		case r == nil || r.placement == unlikely:
			r = &record{placement: k.placement, coverage: coverage}
			continue
		case k.placement == unlikely:
			continue
		}
		r.placement = max(r.placement, k.placement)
		if coverage == nil { // this profile does not say which blocks ran
			r.coverage = nil
		}
		for b := range r.coverage {
			r.coverage[b] = r.coverage[b] || coverage[b]
		}
	}
	switch {
	case r != nil:
		return r, ""
	case len(all) > 0:
		return nil, asm.UseStale
	}
	return nil, asm.UseNew
}

// spreadCoverage returns the coverage of all blocks of the function, from that of
// the blocks with probes in the profile. fits is false if the numbers of blocks
// differ.
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
	// A source may be inferred itself; no block depends on itself.
	for changed := true; changed; {
		changed = false
		for b := 1; b < n; b++ {
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
	return covered, true
}
