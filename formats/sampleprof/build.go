package sampleprof

import (
	"cmp"
	"iter"
	"slices"

	"github.com/profuse-pgo/profuse/internal/addup"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmorder"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// tidy sorts all lists of a function and adds up equal entries. It reports whether a count saturated.
func (f *Function) tidy() (overflow bool) {
	overflow = joinSamples(&f.Body, byCount)
	overflow = joinSamples(&f.VTables, byName) || overflow
	f.Callsites = addup.Equal(f.Callsites, (*Callsite).compare, func(to, c *Callsite) {
		overflow = to.Callee.absorb(c.Callee) || overflow
	})
	for _, c := range f.Callsites {
		overflow = c.Callee.tidy() || overflow
	}
	return overflow
}

// joinSamples adds up samples at the same location, and sorts the samples and, by order, their targets.
func joinSamples(samples *[]Sample, order func(a, b Target) int) (overflow bool) {
	if !inOrder(*samples) {
		*samples = addup.Equal(*samples, func(a, b *Sample) int { return a.compare(b.Location) }, func(to, s *Sample) {
			overflow = addCount(&to.Count, s.Count, 1) || overflow
			to.Targets = append(to.Targets, s.Targets...)
		})
	}
	for i := range *samples {
		if s := &(*samples)[i]; len(s.Targets) > 1 {
			overflow = joinTargets(&s.Targets, order) || overflow
		}
	}
	return overflow
}

// inOrder reports whether samples are sorted, each location once, as in most files.
func inOrder(body []Sample) bool {
	for i := 1; i < len(body); i++ {
		if body[i-1].word() >= body[i].word() {
			return false
		}
	}
	return true
}

// absorb appends the samples of another copy of the function; tidy then adds them up.
func (f *Function) absorb(o *Function) (overflow bool) {
	f.Body, f.Callsites, f.VTables = append(f.Body, o.Body...), append(f.Callsites, o.Callsites...), append(f.VTables, o.VTables...)
	if o.Checksum != 0 || o.Attributes != 0 {
		f.Checksum, f.Attributes = cmp.Or(o.Checksum, f.Checksum), o.Attributes
	}
	return addCount(&f.Total, o.Total, 1)
}

// joinTargets adds up targets with the same name and sorts the list by order.
func joinTargets(targets *[]Target, order func(a, b Target) int) (overflow bool) {
	if fewInOrder(*targets, order) {
		return false
	}
	*targets = addup.Equal(*targets, (*Target).compare, func(to, t *Target) {
		overflow = addCount(&to.Count, t.Count, 1) || overflow
	})
	sortFew(*targets, order)
	return overflow
}

// fewInOrder reports whether a list is short and in order, each name once, as most lists are.
func fewInOrder(targets []Target, order func(a, b Target) int) bool {
	const few = 8
	for i := 1; i < len(targets); i++ {
		if i == few || order(targets[i-1], targets[i]) >= 0 {
			return false
		}
		for j := range i {
			if targets[j].Name.ID == targets[i].Name.ID {
				return false
			}
		}
	}
	return true
}

// byCount orders targets by descending count, then by name.
func byCount(a, b Target) int {
	if a.Count != b.Count {
		return cmp.Compare(b.Count, a.Count)
	}
	return a.Name.compare(b.Name)
}

func byName(a, b Target) int { return a.Name.compare(b.Name) }

func (t *Target) compare(o *Target) int { return t.Name.byID(o.Name) }

func (c *Callsite) compare(o *Callsite) int {
	if d := c.Location.compare(o.Location); d != 0 {
		return d
	}
	return c.Callee.Name.compare(o.Callee.Name)
}

// callee returns the function with the given name that is inlined at a location, or nil.
func (f *Function) callee(at Location, name Name) *Function {
	want := Callsite{at, &Function{Name: name}}
	i, found := slices.BinarySearchFunc(f.Callsites, want, func(a, b Callsite) int { return a.compare(&b) })
	if !found {
		return nil
	}
	return f.Callsites[i].Callee
}

// addCount adds weight·count to sum, saturating, and reports whether it saturated.
func addCount(sum *uint64, count, weight uint64) (overflow bool) {
	*sum, overflow = saturate.AddScaled(*sum, count, weight)
	return overflow
}

// A functionMap finds functions by key and iterates in the order of LLVM's hash map, which its tools show.
type functionMap struct {
	order     llvmorder.Unordered
	functions []*Function
}

// get returns the function with the key of f; if there is none, it adds f.
func (m *functionMap) get(f *Function) (known *Function, added bool) {
	i, added := m.order.Insert(f.key())
	if i >= len(m.functions) {
		m.functions = append(m.functions, make([]*Function, i+1-len(m.functions))...)
	}
	if added {
		m.functions[i] = f
	}
	return m.functions[i], added
}

func (m *functionMap) find(key uint64) *Function {
	if i, ok := m.order.Find(key); ok {
		return m.functions[i]
	}
	return nil
}

// all yields the functions in map order. The loop may remove the function that it is at.
func (m *functionMap) all() iter.Seq[*Function] {
	return func(yield func(*Function) bool) {
		for i := range m.order.All() {
			if !yield(m.functions[i]) {
				return
			}
		}
	}
}

func (m *functionMap) remove(key uint64) {
	if i, ok := m.order.Find(key); ok {
		m.functions[i] = nil
		m.order.Remove(key)
	}
}

// clone returns a copy of the map that shares the functions.
func (m *functionMap) clone() *functionMap {
	return &functionMap{m.order.Clone(), slices.Clone(m.functions)}
}

func (m *functionMap) slice() []*Function {
	return slices.AppendSeq(make([]*Function, 0, m.order.Len()), m.all())
}

func mapOf(functions []*Function) *functionMap {
	m := new(functionMap)
	for _, f := range functions {
		m.get(f)
	}
	return m
}

// New returns a profile of functions whose lists may be in any order and may have entries for the same thing, whose
// counts it adds up.
func New(kind Kind, functions []*Function) *Profile {
	b := newBuilder()
	b.p.Kind, b.p.Functions = kind, functions
	b.known = *mapOf(functions)
	b.finish()
	return b.p
}

// A builder collects the functions of a profile while it is read.
type builder struct {
	p     *Profile
	known functionMap
}

func newBuilder() builder { return builder{p: new(Profile)} }

// tidy tidies all functions. It reports whether a count saturated.
func (b *builder) tidy() (overflow bool) {
	for _, f := range b.p.Functions {
		overflow = f.tidy() || overflow
	}
	return overflow
}

// finish tidies all functions and sorts them in file order. It reports whether a count saturated.
func (b *builder) finish() (overflow bool) {
	overflow = b.tidy()
	if !slices.IsSortedFunc(b.p.Functions, inFileOrder) {
		b.p.setFunctions(&b.known)
	}
	return overflow
}

// function returns the function with the given name or context; it adds one if there is none.
func (b *builder) function(name Name, context []Frame) *Function {
	f, added := b.known.get(&Function{Name: name, Context: context})
	if added {
		b.p.Functions = append(b.p.Functions, f)
	}
	return f
}
