package instrument

import (
	"cmp"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/mip"
)

// Evidence is what profiles say about the functions of a program, for [Use].
type Evidence struct {
	byName map[string][]observed
	order  []string
	blocks bool // any profile has block coverage
	// link has the functions of the first profile with block coverage in link order, and
	// at their indexes by name; -1 for names that several have.
	link []*mip.Function
	at   map[string]int
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
	e := &Evidence{byName: map[string][]observed{}, at: map[string]int{}}
	listed := map[string]bool{}
	for _, p := range profiles {
		blocks := p.Type.Has(mip.BlockCoverage)
		if blocks && !e.blocks {
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

func (e *Evidence) setLink(p *mip.Profile) {
	for i := range p.Functions {
		f := &p.Functions[i]
		if _, twice := e.at[f.Name]; twice {
			e.at[f.Name] = -1
		} else {
			e.at[f.Name] = len(e.link)
		}
		e.link = append(e.link, f)
	}
}

// renamed returns the names in the profiles of functions of the file that have others
// there, by index. Between two functions that the profiles know, it takes functions that
// they do not know for those in the same place of the profile, if these are as many, not
// in the file, and have the same control flow.
func (e *Evidence) renamed(file *asm.File) map[int]string {
	functions := file.Functions
	inFile := make(map[string]bool, len(functions))
	for i := range functions {
		inFile[functions[i].Name] = true
	}
	names := map[int]string{}
	before := -1 // index in link of the last known function
	var unknown []int
	for id := range functions {
		fn := &functions[id]
		at, known := e.at[fn.Name]
		switch {
		case fn.Fragment || !strings.HasPrefix(file.Sections[fn.Section].Name, ".text"): // linked elsewhere
			continue
		case !known:
			unknown = append(unknown, id)
			continue
		case before >= 0 && at-before-1 == len(unknown):
			between := e.link[before+1 : at]
			same := true
			for k, f := range between {
				same = same && !inFile[f.Name] && e.at[f.Name] >= 0 && f.CFG == functions[unknown[k]].Signature()
			}
			for k, f := range between {
				if same {
					names[unknown[k]] = f.Name
				}
			}
		}
		before, unknown = at, unknown[:0]
	}
	return names
}

// record is what the profiles say about a function of the file.
type record struct {
	placement placement
	stale     bool // its control flow has changed since
	// coverage says for each block whether it ran; nil if unknown.
	coverage []bool
}

// find returns what the profiles say about a function that has the given name in them,
// or the reason why they say nothing. Of a function whose control flow has changed it
// says only that it ran: the changed one may run if the other never did.
func (e *Evidence) find(fn *asm.Function, name string) (*record, asm.Reason) {
	var r *record
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
	ran := neutral
	for i := range all {
		if all[i].placement != unlikely {
			ran = max(ran, all[i].placement)
		}
	}
	switch {
	case r != nil:
		return r, ""
	case ran != neutral:
		return &record{placement: ran, stale: true}, ""
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
