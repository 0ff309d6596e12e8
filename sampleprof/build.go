package sampleprof

import (
	"iter"
	"slices"
	"sort"

	"github.com/profuse-pgo/profuse/internal/llvmorder"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// sampleAt returns the sample at a location, which it adds with a count of 0 if there is
// none. Readers mostly add at the end.
func (f *Function) sampleAt(at Location) *Sample {
	i := len(f.Body)
	if i == 0 || f.Body[i-1].Compare(at) < 0 {
		f.Body = append(f.Body, Sample{Location: at})
		return &f.Body[i]
	}
	i, found := slices.BinarySearchFunc(f.Body, at, func(s Sample, at Location) int { return s.Compare(at) })
	if !found {
		f.Body = slices.Insert(f.Body, i, Sample{Location: at})
	}
	return &f.Body[i]
}

// calleeAt returns the function of a name that was inlined at a location. It adds one
// that newFunction makes if there is none.
func (f *Function) calleeAt(at Location, name Name, newFunction func() *Function) *Function {
	i := len(f.Callsites)
	compare := func(c *Callsite) int {
		if d := c.Compare(at); d != 0 {
			return d
		}
		return c.Callee.Name.Compare(name)
	}
	if i > 0 && compare(&f.Callsites[i-1]) >= 0 {
		var found bool
		if i, found = sort.Find(i, func(i int) int { return -compare(&f.Callsites[i]) }); found {
			return f.Callsites[i].Callee
		}
	}
	callee := newFunction()
	callee.Name = name
	f.Callsites = slices.Insert(f.Callsites, i, Callsite{at, callee})
	return callee
}

// vtablesAt returns the virtual tables used at a location, which it adds if there are
// none.
func (f *Function) vtablesAt(at Location) *VTableUses {
	i, found := slices.BinarySearchFunc(f.VTables, at, func(v VTableUses, at Location) int { return v.Compare(at) })
	if !found {
		f.VTables = slices.Insert(f.VTables, i, VTableUses{Location: at})
	}
	return &f.VTables[i]
}

// addTarget adds weight·count to a target and reports whether its count saturated. Targets
// added at the end cost no search.
func addTarget(targets []Target, name Name, count, weight uint64) (sum []Target, overflow bool) {
	i := len(targets)
	if i > 0 && targets[i-1].Name.byID(name) >= 0 {
		i, _ = slices.BinarySearchFunc(targets, name, func(t Target, name Name) int { return t.Name.byID(name) })
	}
	if i == len(targets) || targets[i].Name != name {
		targets = slices.Insert(targets, i, Target{Name: name})
	}
	overflow = add(&targets[i].Count, count, weight)
	return targets, overflow
}

// add adds weight·count to sum as LLVM does and reports whether it saturated.
func add(sum *uint64, count, weight uint64) (overflow bool) {
	*sum, overflow = saturate.AddScaled(*sum, count, weight)
	return overflow
}

// A functionMap has functions by key, in the order of LLVM's map of them. It shows where
// LLVM breaks no ties, and in the metadata of files.
type functionMap struct {
	order  llvmorder.Unordered
	places []*Function
}

// get returns the function with the key of f, which it adds if there is none.
func (m *functionMap) get(f *Function) (known *Function, added bool) {
	place, added := m.order.Insert(f.key())
	if place >= len(m.places) {
		m.places = append(m.places, make([]*Function, place+1-len(m.places))...)
	}
	if added {
		m.places[place] = f
	}
	return m.places[place], added
}

// find returns the function with a key, or nil.
func (m *functionMap) find(key uint64) *Function {
	if place, ok := m.order.Find(key); ok {
		return m.places[place]
	}
	return nil
}

// all yields the functions in the order of the map. The one that was yielded may be
// removed.
func (m *functionMap) all() iter.Seq[*Function] {
	return func(yield func(*Function) bool) {
		for place := range m.order.All() {
			if !yield(m.places[place]) {
				return
			}
		}
	}
}

// remove removes the function with a key.
func (m *functionMap) remove(key uint64) {
	if place, ok := m.order.Find(key); ok {
		m.places[place] = nil
		m.order.Remove(key)
	}
}

// clone returns a map of the same functions, to remove some.
func (m *functionMap) clone() *functionMap {
	return &functionMap{m.order.Clone(), slices.Clone(m.places)}
}

func (m *functionMap) slice() []*Function {
	return slices.AppendSeq(make([]*Function, 0, m.order.Len()), m.all())
}

// mapOf puts functions into a map, in their order.
func mapOf(functions []*Function) *functionMap {
	m := new(functionMap)
	for _, f := range functions {
		m.get(f)
	}
	return m
}

// A builder collects the functions of a profile that is being read.
type builder struct {
	p     *Profile
	known functionMap
}

func newBuilder() builder { return builder{p: new(Profile)} }

// function returns the function of a name or context, which it adds if it is new.
func (b *builder) function(name Name, context []Frame) *Function {
	f, added := b.known.get(&Function{Name: name, Context: context})
	if added {
		b.p.Functions = append(b.p.Functions, f)
	}
	return f
}
