package instrument

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/instrument/internal/asm"
	"github.com/profuse-pgo/profuse/mip"
)

// Evidence is what profiles say about the functions of a program, for [Use].
type Evidence struct {
	byName map[string][]known
	order  []string
	blocks bool // any profile has block coverage
}

// known is what one profile says of one function.
type known struct {
	function  *mip.Function
	placement placement
	blocks    bool // the profile has block coverage
}

// hotShare is the part of all calls, in percent, that hot functions make up
// together; LLVM's ProfileSummaryCutoffHot.
const hotShare = 99

// NewEvidence returns the evidence of profiles, which must not be changed
// meanwhile. Of several profiles any that had a function run counts.
//
// What never ran is unlikely. Where calls were counted, the functions called
// most often, which 99 % of all calls go to, are hot unless they were called
// but once in each run, and the others that ran are startup code. Coverage does
// not tell them apart: all that ran are hot then.
func NewEvidence(profiles ...*mip.Profile) *Evidence {
	e := &Evidence{byName: map[string][]known{}}
	listed := map[string]bool{}
	for _, p := range profiles {
		blocks := p.Type.Has(mip.BlockCoverage)
		e.blocks = e.blocks || blocks
		least := hotCalls(p)
		for i := range p.Functions {
			f := &p.Functions[i]
			k := known{function: f, blocks: blocks, placement: startup}
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

// hotCalls returns the number of calls from which on functions are hot.
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

// Order returns the functions that ran in the order of their first calls, that
// of the first profile first.
func (e *Evidence) Order() []string { return slices.Clone(e.order) }

// record is what is known of a function of the file.
type record struct {
	placement placement
	// coverage tells of each block whether it ran; nil if that is not known.
	coverage []bool
}

// find returns what is known of a function, or why nothing is.
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
			if fn.BlocksSkip == 0 {
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
		if coverage == nil { // who knows which blocks ran
			r.coverage = nil
		}
		for b := range r.coverage {
			r.coverage[b] = r.coverage[b] || coverage[b]
		}
	}
	switch {
	case r != nil:
		return r, 0
	case len(all) > 0:
		return nil, asm.UseStale
	}
	return nil, asm.UseNew
}

// coverage spreads the coverage of the profile's blocks, those with probes,
// over all blocks of the function.
func spreadCoverage(fn *asm.Function, p *mip.Function) (covered []bool, fits bool) {
	n := len(fn.Blocks)
	covered = make([]bool, n)
	covered[0] = p.Covered()
	switch {
	case len(p.Blocks) == n-1: // all have probes, or readers have filled the others in
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
	// Sources may be inferred in turn; none depends on itself.
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
