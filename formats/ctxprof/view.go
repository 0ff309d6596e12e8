package ctxprof

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// The stack set of a view.
const (
	contextSet        = "contexts"
	contextSetMeaning = "a call path from a root to a function, and how often the function was entered there"
)

// View returns the format-neutral view of the profile. name is the file's; "" for none. The names are the [Profile.Names].
//
// Functions have the sums of what was counted in them: in all contexts, below roots outside of contexts, and outside of
// roots. Their blocks are the counters, whose first one is the entry count. The stacks are the contexts, with their entry
// count and the sum of their counters. Edges are the calls from contexts to contexts.
// LLVM weighs functions otherwise, see [Profile.Flatten].
func (p *Profile) View(name string) profile.View {
	v := &view{p: p, name: name}
	v.sums = sync.OnceValue(v.addUp)
	v.edges = sync.OnceValue(v.addUpCalls)
	return v
}

type view struct {
	p     *Profile
	name  string
	sums  func() []functionSum
	edges func() []profile.Edge
}

// A functionSum has the counters of a function, added up.
type functionSum struct {
	guid     uint64
	counters []uint64
}

func (v *view) Identity() profile.Identity {
	id := profile.Identity{File: v.name, Family: "ctxprof", Format: "binary", Version: fmt.Sprint(v.p.Version), ReadableBy: "LLVM 22"}
	if v.p.Version == 0 {
		id.Format, id.Version = "YAML", ""
	}
	return id
}

func (v *view) Features() profile.Features {
	return profile.Features{Calls: true, Blocks: true, Edges: true}
}

func (v *view) symbol(guid uint64) profile.Symbol {
	return profile.Symbol{Name: v.p.Names[guid], ID: guid}
}

// All yields everything with counters: contexts, and unhandled and flat functions.
func (p *Profile) All() iter.Seq[*Function] {
	return func(yield func(*Function) bool) {
		for i := range p.Roots {
			r := &p.Roots[i]
			if !r.each(func(x *Context) bool { return yield(&x.Function) }) || !eachOf(r.Unhandled, yield) {
				return
			}
		}
		eachOf(p.Flat, yield)
	}
}

func eachOf(list []Function, yield func(*Function) bool) bool {
	for i := range list {
		if !yield(&list[i]) {
			return false
		}
	}
	return true
}

// each calls fn for x and all contexts below it, until fn returns false.
func (x *Context) each(fn func(*Context) bool) bool {
	if !fn(x) {
		return false
	}
	for i := range x.Callees {
		if !x.Callees[i].each(fn) {
			return false
		}
	}
	return true
}

// addUp returns the sums of the functions, by GUID.
func (v *view) addUp() []functionSum {
	sums := make(map[uint64][]uint64)
	for f := range v.p.All() {
		sum := sums[f.GUID]
		if more := len(f.Counters) - len(sum); more > 0 {
			sum = append(sum, make([]uint64, more)...)
		}
		for i, n := range f.Counters {
			sum[i] = saturate.Add(sum[i], n)
		}
		sums[f.GUID] = sum
	}
	list := make([]functionSum, 0, len(sums))
	for _, guid := range slices.Sorted(maps.Keys(sums)) {
		list = append(list, functionSum{guid, sums[guid]})
	}
	return list
}

func (v *view) Functions() iter.Seq[*profile.Function] {
	return func(yield func(*profile.Function) bool) {
		for _, sum := range v.sums() {
			f := &profile.Function{Symbol: v.symbol(sum.guid), Blocks: make([]profile.Block, len(sum.counters))}
			for i, n := range sum.counters {
				f.Blocks[i].Count = n
				f.Covered = f.Covered || n > 0
			}
			if len(sum.counters) > 0 {
				f.Calls = sum.counters[0]
			}
			if !yield(f) {
				return
			}
		}
	}
}

func (v *view) Stacks() []profile.StackSet {
	return []profile.StackSet{{
		Name: contextSet, Description: contextSetMeaning, Partial: true,
		Values:       []profile.ValueType{{Name: "entries", Unit: profile.Count}, {Name: "counts", Unit: profile.Count}},
		ReusedStacks: v.stacks,
	}}
}

// stacks yields the contexts. Frames grow from the end of a buffer to its beginning, where the callee is.
func (v *view) stacks(yield func(*profile.Stack) bool) {
	frames := make([]profile.Frame, 64)
	s := &profile.Stack{Values: make([]uint64, 2)}
	var walk func(x *Context, depth int) bool
	walk = func(x *Context, depth int) bool {
		if depth > len(frames) {
			grown := make([]profile.Frame, 2*len(frames))
			copy(grown[len(frames):], frames)
			frames = grown
		}
		at := len(frames) - depth
		frames[at] = profile.Frame{Symbol: v.symbol(x.GUID)}
		sum := uint64(0)
		for _, n := range x.Counters {
			sum = saturate.Add(sum, n)
		}
		s.Frames, s.Values[0], s.Values[1], s.Labels = frames[at:], x.entry(), sum, nil
		if !yield(s) {
			return false
		}
		for i := range x.Callees {
			if !walk(&x.Callees[i], depth+1) {
				return false
			}
		}
		return true
	}
	for i := range v.p.Roots {
		if !walk(&v.p.Roots[i].Context, 1) {
			return
		}
	}
}

// addUpCalls returns the calls between functions, in all contexts, by caller, call site and callee.
func (v *view) addUpCalls() []profile.Edge {
	type call struct {
		caller uint64
		site   uint32
		callee uint64
	}
	counts := make(map[call]uint64)
	for i := range v.p.Roots {
		v.p.Roots[i].each(func(x *Context) bool {
			for j := range x.Callees {
				c := &x.Callees[j]
				at := call{x.GUID, c.Site, c.GUID}
				counts[at] = saturate.Add(counts[at], c.entry())
			}
			return true
		})
	}
	calls := slices.SortedFunc(maps.Keys(counts), func(a, b call) int {
		return cmp.Or(cmp.Compare(a.caller, b.caller), cmp.Compare(a.site, b.site), cmp.Compare(a.callee, b.callee))
	})
	edges := make([]profile.Edge, len(calls))
	for i, c := range calls {
		edges[i] = profile.Edge{
			Kind: profile.Call, Caller: v.symbol(c.caller), Site: int32(c.site), Target: v.symbol(c.callee), Count: counts[c],
		}
	}
	// A call site with several callees calls through a pointer.
	same := func(i, j int) bool {
		return j >= 0 && j < len(calls) && calls[i].caller == calls[j].caller && calls[i].site == calls[j].site
	}
	for i := range edges {
		if same(i, i-1) || same(i, i+1) {
			edges[i].Kind = profile.IndirectCall
		}
	}
	return edges
}

func (v *view) Edges() iter.Seq[*profile.Edge] {
	return func(yield func(*profile.Edge) bool) {
		for _, e := range v.edges() {
			if !yield(&e) {
				return
			}
		}
	}
}

func (v *view) Traces() iter.Seq[*profile.Trace] { return func(func(*profile.Trace) bool) {} }
