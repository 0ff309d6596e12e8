package sampleprof

import (
	"iter"
	"slices"
	"strconv"
	"sync"

	"github.com/profuse-pgo/profuse/profile"
)

// View returns the format-neutral view of the profile. name is the file name, or "".
//
// A function of the view sums up all contexts and inlined copies; its blocks are its locations. The
// stack set "samples" has a stack and a count for each location of a function in a context. Lines count
// from the first line of the function. Edges are the targets of calls that were not inlined.
func (p *Profile) View(name string) profile.View {
	v := &view{p: p, identity: profile.Identity{File: name, Family: "AutoFDO", Variant: p.Kind.words()}}
	if p.format != "" {
		v.identity.Format = string(p.format)
		v.identity.Version = p.fileVersion()
	}
	if slices.ContainsFunc(p.Functions, (*Function).hasVTables) {
		v.identity.Omits = append(v.identity.Omits, "virtual tables")
	}
	v.functions = sync.OnceValue(func() []*Function {
		var byName functionMap
		for _, f := range p.Functions {
			f.walk(func(g *Function) bool {
				to, _ := byName.get(&Function{Name: g.Name, Checksum: g.Checksum})
				for _, s := range g.Body {
					s.Targets = slices.Clip(s.Targets) // so that tidy does not change p
					to.Body = append(to.Body, s)
				}
				return true
			})
		}
		functions := byName.slice()
		for _, f := range functions {
			f.tidy()
			for i := range f.Body {
				addCount(&f.Total, f.Body[i].Count, 1)
			}
		}
		slices.SortFunc(functions, inFileOrder)
		return functions
	})
	return v
}

// fileVersion returns the version of the file that the profile was read from; "" for text, which has none.
func (p *Profile) fileVersion() string {
	switch p.format {
	case "", FormatText:
		return ""
	case FormatGCov:
		if p.version == gcovLLVM {
			return "*704"
		}
	}
	return strconv.FormatUint(p.version, 10)
}

// hasVTables reports whether the function, or one inlined into it, uses virtual tables.
func (f *Function) hasVTables() (has bool) {
	f.walk(func(g *Function) bool {
		has = has || len(g.VTables) > 0
		return !has
	})
	return has
}

type view struct {
	p         *Profile
	identity  profile.Identity
	functions func() []*Function // summed over contexts and inlined copies
}

// Identity has no build ids, because sample profiles have none.
func (v *view) Identity() profile.Identity { return v.identity }

// Features: locations are blocks, and lines are offsets from the first line of the function.
func (v *view) Features() profile.Features {
	return profile.Features{Blocks: true, LineOffsets: true, Edges: true, Hashes: v.p.Kind.ProbeBased}
}

func symbol(n Name) profile.Symbol { return profile.Symbol{Name: n.Text, ID: n.ID} }

func (v *view) Functions() iter.Seq[*profile.Function] {
	return func(yield func(*profile.Function) bool) {
		for _, f := range v.functions() {
			out := &profile.Function{Symbol: symbol(f.Name), Hash: f.Checksum, Covered: f.Total > 0}
			for i := range f.Body {
				out.Blocks = append(out.Blocks, profile.Block{Count: f.Body[i].Count})
			}
			if !yield(out) {
				return
			}
		}
	}
}

// Stacks are partial: without contexts, they end at the function that is not inlined.
func (v *view) Stacks() []profile.StackSet {
	return []profile.StackSet{{
		Name: "samples", Description: "a location of a function in a calling context, and how often it ran", Partial: true,
		Values: []profile.ValueType{{Name: "samples", Unit: profile.Count}},
		ReusedStacks: func(yield func(*profile.Stack) bool) {
			w := stackWalk{yield: yield}
			for _, f := range v.p.Functions {
				var callers []profile.Frame // innermost first
				for _, frame := range slices.Backward(f.Context[:max(0, len(f.Context)-1)]) {
					callers = append(callers, frameAt(frame.Name, frame.Location, false))
				}
				if !w.walk(f, callers, false) {
					return
				}
			}
		},
	}}
}

// frameAt returns a frame with a line relative to the function.
func frameAt(n Name, at Location, inlined bool) profile.Frame {
	return profile.Frame{Symbol: symbol(n), Line: int32(at.Line), Inlined: inlined}
}

type stackWalk struct {
	yield func(*profile.Stack) bool
	stack profile.Stack
}

// walk yields the stacks of a function, and of everything inlined into it. callers are innermost first.
func (w *stackWalk) walk(f *Function, callers []profile.Frame, inlined bool) bool {
	for i := range f.Body {
		s := &f.Body[i]
		if s.Count == 0 {
			continue
		}
		w.stack.Frames = append(append(w.stack.Frames[:0], frameAt(f.Name, s.Location, inlined)), callers...)
		w.stack.Values = append(w.stack.Values[:0], s.Count)
		if !w.yield(&w.stack) {
			return false
		}
	}
	for _, c := range f.Callsites {
		outer := append([]profile.Frame{frameAt(f.Name, c.Location, inlined)}, callers...)
		if !w.walk(c.Callee, outer, true) {
			return false
		}
	}
	return true
}

// Edges of a function have sites numbered in the order of the locations with calls.
func (v *view) Edges() iter.Seq[*profile.Edge] {
	return func(yield func(*profile.Edge) bool) {
		for _, f := range v.functions() {
			site := int32(0)
			for i := range f.Body {
				for _, t := range f.Body[i].Targets {
					e := &profile.Edge{
						Kind: profile.Call, Caller: symbol(f.Name), Hash: f.Checksum, Site: site,
						Target: symbol(t.Name), Count: t.Count,
					}
					if !yield(e) {
						return
					}
				}
				if len(f.Body[i].Targets) > 0 {
					site++
				}
			}
		}
	}
}

func (v *view) Traces() iter.Seq[*profile.Trace] { return func(func(*profile.Trace) bool) {} }
