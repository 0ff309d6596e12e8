package sampleprof

import (
	"maps"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/addup"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// ColdContexts says what becomes of the contexts of a profile whose total is below the cold
// threshold of its summary.
type ColdContexts struct {
	// Merge adds them to the context of their last Frames frames.
	Merge  bool
	Frames int
	// Trim drops them; with Merge, those that stay below the threshold, unless their
	// shortened context exists.
	Trim bool
}

// TrimColdContexts changes the cold contexts of a profile (SampleContextTrimmer). Of a profile
// without contexts, Trim drops the cold functions and Merge does nothing.
func (p *Profile) TrimColdContexts(opt ColdContexts) {
	if !opt.Merge && !opt.Trim || opt.Merge && !p.Kind.Has(ContextSensitive) {
		return
	}
	threshold, _ := p.Summarize().Cutoffs.Cold()
	m := p.toMap()
	var merged functionMap
	for _, f := range m.slice() {
		if f.Total >= threshold {
			continue
		}
		if opt.Merge {
			short := f.Context[max(0, len(f.Context)-opt.Frames):]
			to, _ := merged.get(&Function{Name: f.Name, Context: short})
			to.add(f)
		}
		m.remove(f.key())
	}
	for f := range merged.all() {
		if opt.Trim && f.Total < threshold && m.find(f.key()) == nil {
			continue
		}
		m.add(f)
	}
	p.setFunctions(m)
}

// Flatten makes a profile without contexts and without inlined functions
// (ProfileConverter::flattenProfile). The contexts of a function are added up. An inlined function
// becomes one of its own; at its place there is a call of it, with its [Function.EntryCount].
func (p *Profile) Flatten() {
	var flat functionMap
	for _, f := range p.InMapOrder() {
		if p.Kind.Has(ContextSensitive) {
			to, _ := flat.get(&Function{Name: f.Name})
			to.add(f)
		} else {
			flat.flatten(f)
		}
	}
	if !p.Kind.Has(ContextSensitive) {
		for f := range flat.all() {
			f.tidy()
			f.Head = f.EntryCount()
		}
	}
	p.Kind &^= ContextSensitive
	p.setFunctions(&flat)
}

// Divide divides all counts, and rounds halves up. Sums of profiles with fractional weights are
// made so: of the weights times a common denominator, and divided by that. What comes to 0 stays.
func (p *Profile) Divide(by uint64) {
	if by <= 1 {
		return
	}
	divide := func(n *uint64) { *n = saturate.Div(*n, by) }
	divideAll := func(targets []Target) {
		for i := range targets {
			divide(&targets[i].Count)
		}
	}
	m := p.toMap()
	for _, f := range p.Functions {
		f.walk(func(g *Function) bool {
			divide(&g.Total)
			divide(&g.Head)
			for i := range g.Body {
				divide(&g.Body[i].Count)
				divideAll(g.Body[i].Targets)
				sortFew(g.Body[i].Targets, byCount) // more may have the same count now
			}
			for i := range g.VTables {
				divideAll(g.VTables[i].VTables)
			}
			return true
		})
	}
	p.Summary = nil
	p.setFunctions(m)
}

// flatten adds a function and what is inlined into it.
func (m *functionMap) flatten(f *Function) {
	to := m.find(f.Name.id)
	if to == nil {
		to, _ = m.get(&Function{Name: f.Name, Head: f.Head, VTables: f.VTables, Checksum: f.Checksum, Attributes: f.Attributes})
	}
	to.Body = append(to.Body, f.Body...)
	total := f.Total
	for _, c := range f.Callsites {
		entries := c.Callee.EntryCount()
		to.Body = append(to.Body, Sample{c.Location, entries, []Target{{c.Callee.Name, entries}}})
		total = total - min(total, c.Callee.Total) + entries
		m.flatten(c.Callee)
	}
	add(&to.Total, total, 1)
}

// A contextNode is a context of a profile, or the beginning of some.
type contextNode struct {
	children map[uint64]*contextNode // by callee and place
	at       Location                // of the call in the caller
	function *Function               // nil if the profile has no such context
}

// Nest makes a profile without contexts of a context-sensitive one: a function in a context
// is inlined into its caller where the profile has the caller's context, and otherwise a function of
// its own (ProfileConverter::convertCSProfiles).
func (p *Profile) Nest() {
	if !p.Kind.Has(ContextSensitive) {
		return
	}
	m := p.toMap()
	root := &contextNode{}
	for f := range m.all() {
		node, at := root, Location{}
		for _, frame := range f.Context {
			key := Frame{frame.Name, at}.hash()
			child := node.children[key]
			if child == nil {
				if node.children == nil {
					node.children = make(map[uint64]*contextNode)
				}
				child = &contextNode{at: at}
				node.children[key] = child
			}
			node, at = child, frame.Location
		}
		node.function = f
	}
	m.nest(root)
	p.Kind &^= ContextSensitive
	p.setFunctions(m)
}

// nest moves the functions of the contexts below a node.
func (m *functionMap) nest(node *contextNode) {
	caller := node.function
	for _, key := range slices.Sorted(maps.Keys(node.children)) {
		child := node.children[key]
		// The innermost functions move first, with all that is inlined into them.
		m.nest(child)
		f := child.function
		if f == nil {
			continue
		}
		old := f.key()
		f.Context = nil
		if caller == nil {
			m.add(f)
		} else {
			caller.Callsites = append(caller.Callsites, Callsite{child.at, f})
			add(&caller.Total, f.Total, 1)
			// The call that becomes inlined code no longer counts as a call.
			caller.Total -= min(caller.Total, caller.removeCall(child.at, f.Name))
		}
		m.remove(old)
	}
	if caller != nil { // of two functions of a name at a place the first stands
		caller.Callsites = addup.Equal(caller.Callsites, (*Callsite).compare, func(_, _ *Callsite) {})
	}
}

// removeCall removes the calls of a function at a location, and as many samples. It returns how
// many that were.
func (f *Function) removeCall(at Location, name Name) (count uint64) {
	i, found := slices.BinarySearchFunc(f.Body, at, func(s Sample, at Location) int { return s.Compare(at) })
	if !found {
		return 0
	}
	s := &f.Body[i]
	if j := slices.IndexFunc(s.Targets, func(t Target) bool { return t.Name == name }); j >= 0 {
		count = min(s.Targets[j].Count, s.Count)
		s.Targets = slices.Delete(s.Targets, j, j+1)
	}
	s.Count -= count
	if s.Count == 0 {
		f.Body = slices.Delete(f.Body, i, i+1)
	}
	return count
}

// encodeWithin encodes the profile into at most limit bytes. While it takes more, it drops the
// functions with the smallest totals (DefaultFunctionPruningStrategy).
func (p *Profile) encodeWithin(limit uint64, encode func(*Profile) ([]byte, error)) ([]byte, error) {
	if len(p.Functions) == 0 { // as LLVM
		return nil, flaw.Field("size").Got("no functions").Want("one and more").Because(llvmerr.SampleTooMuch)
	}
	left := *p
	left.Functions = p.sorted()
	left.known = p.toMap().clone()
	for {
		out, err := encode(&left)
		if err != nil || uint64(len(out)) <= limit {
			return out, err
		}
		n := len(left.Functions)
		// The rule of LLVM: the number of functions goes with the square of the size.
		share := float64(limit) / float64(len(out))
		keep := min(int(math.Round(float64(n)*share*share)), n-1)
		if keep <= 0 {
			return nil, flaw.Field("size").Gotf("%d bytes of one function and the tables", len(out)).
				Wantf("at most %d", limit).Because(llvmerr.SampleTooMuch)
		}
		left.Functions = left.Functions[:keep]
	}
}
