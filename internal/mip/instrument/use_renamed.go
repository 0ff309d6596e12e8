package instrument

import (
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/symbols"
)

func (e *Evidence) setLink(p *mip.Profile) {
	e.link, e.at = nil, make(map[string]int, len(p.Functions))
	for i := range p.Functions {
		f := &p.Functions[i]
		if _, twice := e.at[f.Name]; twice {
			e.at[f.Name] = -1
		} else {
			e.at[f.Name] = i
		}
		e.link = append(e.link, f)
	}
	e.byBase = sync.OnceValue(func() map[string][]int {
		byBase := make(map[string][]int, len(e.at))
		for i, f := range e.link {
			if _, cold := symbols.CutCold(f.Name); !cold && e.at[f.Name] >= 0 {
				base := symbols.BaseName(f.Name)
				byBase[base] = append(byBase[base], i)
			}
		}
		return byBase
	})
}

// renames finds functions of a file that have other names in the profiles.
type renames struct {
	*Evidence
	file      *asm.File
	functions []asm.Function // of the file
	inFile    map[string]bool
	taken     map[int]bool // indexes in link that have been found
	found     []int        // by function: its index in link, unknown or ambiguous
}

const (
	unknown   = -1
	ambiguous = -2 // several functions of the profile have the name
)

// renamed returns, by index of a function of the file, its name in the profiles if that differs. A
// renamed function has the same base name, or stands between the same neighbours and has the same
// control flow.
func (e *Evidence) renamed(file *asm.File) map[int]string {
	r := renames{e, file, file.Functions, map[string]bool{}, map[int]bool{}, make([]int, len(file.Functions))}
	for id := range r.functions {
		r.inFile[r.functions[id].Name] = true
	}
	var placed []int // functions that the linker leaves in their order
	for id := range r.functions {
		fn := &r.functions[id]
		at, known := e.at[fn.Name]
		switch {
		case fn.Fragment:
			at = ambiguous
		case !known:
			at = r.sameBase(fn)
		}
		r.found[id] = at
		if !fn.Fragment && strings.HasPrefix(file.Sections[fn.Section].Name, ".text") {
			placed = append(placed, id)
		}
	}
	if e.blocks {
		r.matchBetween(placed)
	}
	names := map[int]string{}
	for id, at := range r.found {
		if at >= 0 && e.link[at].Name != r.functions[id].Name {
			names[id] = e.link[at].Name
		}
	}
	return names
}

// isFree reports whether a function of the profile may be one that has another name now.
func (r *renames) isFree(at int) bool {
	name := r.link[at].Name
	return !r.taken[at] && !r.inFile[name] && r.at[name] >= 0
}

// sameBase returns the index in link of the function that has the same base name and, if
// several have it, the same control flow.
func (r *renames) sameBase(fn *asm.Function) int {
	if r.byBase == nil { // no profile
		return unknown
	}
	found, several := unknown, false
	signature := fn.Signature()
	for _, at := range r.byBase()[symbols.BaseName(fn.Name)] {
		switch {
		case !r.isFree(at):
		case r.link[at].CFG == signature:
			r.taken[at] = true
			return at
		default:
			found, several = at, found >= 0
		}
	}
	if found < 0 || several {
		return unknown
	}
	r.taken[found] = true
	return found
}

// matchBetween looks for the unknown functions between two known neighbours among the functions that the
// profile has between the same neighbours.
func (r *renames) matchBetween(placed []int) {
	before := -1 // index in link of the last known function
	var missing []int
	for _, id := range placed {
		switch at := r.found[id]; {
		case at == unknown:
			missing = append(missing, id)
		case at >= 0:
			if before < 0 {
				before = max(0, at-len(missing)) - 1
			}
			r.matchGap(missing, before+1, at)
			before, missing = at, missing[:0]
		}
	}
	if before >= 0 {
		r.matchGap(missing, before+1, min(before+1+len(missing), len(r.link)))
	}
}

// maxGap is how many more functions than the file the profile may have between two neighbours:
// functions of other files match by chance. maxGapProduct bounds the time and memory of a comparison.
const (
	maxGap        = 16
	maxGapProduct = 1 << 22
)

// matchGap finds missing functions of the file among the functions of the profile from index begin up to
// end: the longest common sequence of equal control flow.
func (r *renames) matchGap(missing []int, begin, end int) {
	var gap []int
	for at := begin; at < end && len(gap) <= len(missing)+maxGap; at++ {
		if r.isFree(at) {
			gap = append(gap, at)
		}
	}
	if n := len(missing) * len(gap); n == 0 || n > maxGapProduct || len(gap) > len(missing)+maxGap {
		return
	}
	signatures := make([]uint32, len(missing))
	for i, id := range missing {
		signatures[i] = r.functions[id].Signature()
	}
	const (
		gapCost = 1             // as many pairs as possible,
		unlike  = 2*gapCost + 1 // and none that costs more than two gaps
	)
	aligned, _ := align(len(missing), len(gap), gapCost, func(i, k int) int32 {
		cfg, alone := r.link[gap[k]].CFG, i == k && len(gap) == len(missing)
		switch {
		case cfg != 0 && cfg == signatures[i],
			alone && (cfg == signatures[i] || r.similar(missing[i], gap[k])): // one block says nothing
			return 0
		}
		return unlike
	})
	for i, k := range aligned {
		if k >= 0 {
			r.found[missing[i]], r.taken[gap[k]] = gap[k], true
		}
	}
}

// similar reports whether a function may be another version of one in the profile.
func (r *renames) similar(id, at int) bool {
	fn := &r.functions[id]
	return fn.BlocksSkip == "" && fitCoverage(fn, r.file.BlockInstructions(int32(id)), r.link[at]) != nil
}
