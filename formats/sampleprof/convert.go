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

// ConvertOptions say what [Profile.Convert] does, in the order of the fields. The zero value does nothing.
type ConvertOptions struct {
	// Divisor divides all counts and rounds halves up; 0 counts as 1. Counts that become 0 stay in
	// the profile. To merge with fractional weights, multiply the weights by a common denominator
	// and divide the sum by it.
	Divisor uint64
	// MergeCold adds up cold contexts that have their last ColdFrames frames in common. Contexts are
	// cold if their total is below the cold threshold of the summary (SampleContextTrimmer).
	MergeCold  bool
	ColdFrames int
	// TrimCold drops cold contexts or, in a profile without contexts, cold functions. With MergeCold,
	// it drops merged contexts that are still cold and that the profile does not have already.
	TrimCold bool
	// Flatten removes contexts and inlining (ProfileConverter::flattenProfile): it adds up the
	// contexts of a function, and turns each inlined function into a separate function and a call
	// with the count [Function.EntryCount].
	Flatten bool
	// Nest replaces contexts by inlining (ProfileConverter::convertCSProfiles): a function in a
	// context becomes inlined into its caller if the profile has the context of the caller, and a
	// separate function otherwise.
	Nest bool
}

// Convert changes the counts, the contexts and the inlining of a profile.
func (p *Profile) Convert(opt ConvertOptions) {
	if opt.Divisor > 1 {
		p.divide(opt.Divisor)
	}
	// A profile without contexts has nothing to merge; LLVM then does not trim either.
	if (opt.MergeCold || opt.TrimCold) && (!opt.MergeCold || p.Kind.ContextSensitive) {
		p.trimCold(opt)
	}
	if opt.Flatten {
		p.flatten()
	}
	if opt.Nest && p.Kind.ContextSensitive {
		p.nest()
	}
}

func (p *Profile) trimCold(opt ConvertOptions) {
	threshold, _ := p.Summarize().Cutoffs.Cold()
	m := p.toMap()
	var merged functionMap
	for _, f := range m.slice() {
		if f.Total >= threshold {
			continue
		}
		if opt.MergeCold {
			short := f.Context[max(0, len(f.Context)-opt.ColdFrames):]
			to, _ := merged.get(&Function{Name: f.Name, Context: short})
			to.addSamples(f)
		}
		m.remove(f.key())
	}
	for f := range merged.all() {
		if !opt.TrimCold || f.Total >= threshold || m.find(f.key()) != nil {
			m.addFunction(f)
		}
	}
	p.setFunctions(m)
}

func (p *Profile) flatten() {
	var flat functionMap
	for _, f := range p.InMapOrder() {
		if p.Kind.ContextSensitive {
			to, _ := flat.get(&Function{Name: f.Name})
			to.addSamples(f)
		} else {
			flat.flatten(f)
		}
	}
	if !p.Kind.ContextSensitive {
		for f := range flat.all() {
			f.tidy()
			f.Head = f.EntryCount()
		}
	}
	p.Kind.ContextSensitive = false
	p.setFunctions(&flat)
}

func (p *Profile) divide(by uint64) {
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
				sortFew(g.Body[i].Targets, byCount) // rounding makes some counts equal
			}
			for i := range g.VTables {
				divideAll(g.VTables[i].Targets)
			}
			return true
		})
	}
	p.Summary = nil
	p.setFunctions(m)
}

// flatten adds a function and everything inlined into it.
func (m *functionMap) flatten(f *Function) {
	to := m.find(f.Name.ID)
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
	addCount(&to.Total, total, 1)
}

// A contextNode is a context, or the common beginning of contexts.
type contextNode struct {
	children map[uint64]*contextNode // by callee and location of the call
	at       Location                // of the call in the caller
	function *Function               // nil if the profile has no such context
}

func (p *Profile) nest() {
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
	p.Kind.ContextSensitive = false
	p.setFunctions(m)
}

// nest moves the functions of the contexts below a node.
func (m *functionMap) nest(node *contextNode) {
	caller := node.function
	for _, key := range slices.Sorted(maps.Keys(node.children)) {
		child := node.children[key]
		// Innermost functions move first, together with everything inlined into them.
		m.nest(child)
		f := child.function
		if f == nil {
			continue
		}
		old := f.key()
		f.Context = nil
		if caller == nil {
			m.addFunction(f)
		} else {
			caller.Callsites = append(caller.Callsites, Callsite{child.at, f})
			addCount(&caller.Total, f.Total, 1)
			// A call that is now inlined no longer counts as a call.
			caller.Total -= min(caller.Total, caller.removeCall(child.at, f.Name))
		}
		m.remove(old)
	}
	if caller != nil { // of two functions with one name at one location, the first stays
		caller.Callsites = addup.Equal(caller.Callsites, (*Callsite).compare, func(_, _ *Callsite) {})
	}
}

// removeCall removes the calls of a function at a location, and as many samples there. It returns that number.
func (f *Function) removeCall(at Location, name Name) (count uint64) {
	i, found := slices.BinarySearchFunc(f.Body, at, func(s Sample, at Location) int { return s.compare(at) })
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

// encodeWithin drops the functions with the smallest totals until the rest fits (DefaultFunctionPruningStrategy).
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
		// LLVM's rule: the number of functions to keep falls with the square of the excess.
		share := float64(limit) / float64(len(out))
		keep := min(int(math.Round(float64(n)*share*share)), n-1)
		if keep <= 0 {
			return nil, flaw.Field("size").Gotf("%d bytes of one function and the tables", len(out)).
				Wantf("at most %d", limit).Because(llvmerr.SampleTooMuch)
		}
		left.Functions = left.Functions[:keep]
	}
}
