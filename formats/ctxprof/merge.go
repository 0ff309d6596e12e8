package ctxprof

import (
	"cmp"
	"maps"
	"slices"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

// A Merger adds up profiles: contexts by their call paths, roots, unhandled and flat functions by GUID. The zero value is
// ready for use. The sum does not depend on the order of the profiles.
//
// A function with different numbers of counters comes from different builds, and so do the numbers of its call sites. Of
// such contexts at one place the one with the greatest entry count stays, with all below it.
type Merger struct {
	Left      int  // after [Merger.Profile]: contexts and functions of other builds, which are not in the sum
	Saturated bool // a count would exceed 64 bits and is 2^64-1

	roots, flat sums
}

// A place identifies a context among the callees of its caller, or a function in a list.
type place struct {
	site uint32
	guid uint64
	size int // number of counters
}

type sums map[place]*sum

// A sum is the sum of the contexts at one place, or of the functions in one list.
type sum struct {
	total     uint64 // of roots
	counters  []uint64
	unhandled sums
	callees   sums
}

// at returns the sum at a place.
func (s *sums) at(p place) *sum {
	if *s == nil {
		*s = make(sums)
	}
	to := (*s)[p]
	if to == nil {
		to = &sum{counters: make([]uint64, p.size)}
		(*s)[p] = to
	}
	return to
}

// Add adds a profile, its counters multiplied by weight.
func (m *Merger) Add(p *Profile, weight uint64) {
	for i := range p.Roots {
		r := &p.Roots[i]
		to := m.context(&m.roots, &r.Context, weight)
		to.total = m.scaled(to.total, r.Total, weight)
		for j := range r.Unhandled {
			m.function(&to.unhandled, 0, &r.Unhandled[j], weight)
		}
	}
	for i := range p.Flat {
		m.function(&m.flat, 0, &p.Flat[i], weight)
	}
}

func (m *Merger) scaled(to, n, weight uint64) uint64 {
	total, cut := saturate.AddScaled(to, n, weight)
	m.Saturated = m.Saturated || cut
	return total
}

func (m *Merger) function(to *sums, site uint32, f *Function, weight uint64) *sum {
	s := to.at(place{site, f.GUID, len(f.Counters)})
	for i, n := range f.Counters {
		s.counters[i] = m.scaled(s.counters[i], n, weight)
	}
	return s
}

func (m *Merger) context(to *sums, x *Context, weight uint64) *sum {
	s := m.function(to, x.Site, &x.Function, weight)
	for i := range x.Callees {
		m.context(&s.callees, &x.Callees[i], weight)
	}
	return s
}

// Profile returns the sum divided by unit, rounded to whole counts, with everything in the order of GUIDs. Call it once.
func (m *Merger) Profile(unit uint64) *Profile {
	f := &finisher{m: m, unit: unit}
	p := &Profile{Flat: f.functions(m.flat)}
	for _, at := range f.chosen(m.roots) {
		s := m.roots[at]
		root := Root{Context: f.context(at, s), Total: saturate.Div(s.total, unit), Unhandled: f.functions(s.unhandled)}
		p.Roots = append(p.Roots, root)
	}
	return p
}

// A finisher makes a profile of the sums of a merger.
type finisher struct {
	m    *Merger
	unit uint64
}

// chosen returns the places of sums by call site and GUID: of several builds of one function the one with the greatest
// total or entry count.
func (f *finisher) chosen(all sums) []place {
	entries := func(p place) uint64 {
		s := all[p]
		if p.size == 0 {
			return s.total
		}
		return max(s.total, s.counters[0])
	}
	sorted := slices.SortedFunc(maps.Keys(all), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.site, b.site), cmp.Compare(a.guid, b.guid), cmp.Compare(entries(b), entries(a)), cmp.Compare(b.size, a.size))
	})
	kept := sorted[:0]
	for _, p := range sorted {
		if n := len(kept); n > 0 && kept[n-1].site == p.site && kept[n-1].guid == p.guid {
			f.m.Left += all[p].contexts()
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

// contexts returns how many contexts and unhandled functions there are in a sum.
func (s *sum) contexts() int {
	n := 1 + len(s.unhandled)
	for _, c := range s.callees {
		n += c.contexts()
	}
	return n
}

func (f *finisher) function(at place, s *sum) Function {
	for i := range s.counters {
		s.counters[i] = saturate.Div(s.counters[i], f.unit)
	}
	return Function{at.guid, s.counters}
}

func (f *finisher) functions(all sums) (list []Function) {
	for _, at := range f.chosen(all) {
		list = append(list, f.function(at, all[at]))
	}
	return list
}

func (f *finisher) context(at place, s *sum) Context {
	x := Context{Function: f.function(at, s), Site: at.site}
	for _, at := range f.chosen(s.callees) {
		x.Callees = append(x.Callees, f.context(at, s.callees[at]))
	}
	return x
}
