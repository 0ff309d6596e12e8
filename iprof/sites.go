package iprof

import (
	"cmp"
	"iter"
	"slices"
)

// A branch is one record of [Conditionals]: an outcome of a conditional. Cases of a
// switch with a common target have one record with the target and the count of all, and
// one with unknownBCI and count 0 for each case beyond the first, all with one index.
type branch struct {
	Target BCI
	Index  int32 // position of the outcome in the compiler; not unique
	Count  int64
}

// branchesIn iterates over records of [Conditionals].
func branchesIn(records []int64) iter.Seq[branch] {
	return func(yield func(branch) bool) {
		for ; len(records) >= 3; records = records[3:] {
			if !yield(branch{BCI(records[0]), int32(records[1]), records[2]}) {
				return
			}
		}
	}
}

// TypeCount is one record of the kinds that have types.
type TypeCount struct {
	Type  TypeID
	Count int64
}

// typeCountsIn iterates over records of pairs of type and count.
func typeCountsIn(records []int64) iter.Seq[TypeCount] {
	return func(yield func(TypeCount) bool) {
		for ; len(records) >= 2; records = records[2:] {
			if !yield(TypeCount{TypeID(records[0]), records[1]}) {
				return
			}
		}
	}
}

// A Way is the sum of the records of one index at a conditional.
type Way struct {
	Index   int32
	Targets []BCI // without UnknownBCI, in the order in which they appear
	Cases   int   // greatest number of records of the index in one entry
	Count   int64
}

// BranchSite is a conditional in the bytecode with the counts of all contexts.
type BranchSite struct {
	Frame
	Ways    []Way // by index
	Total   int64
	Entries int // contexts
}

// Bias returns the share of the most frequent way, from 0 to 1; 0 if none was taken.
func (b *BranchSite) Bias() float64 {
	most := int64(0)
	for _, w := range b.Ways {
		most = max(most, w.Count)
	}
	if b.Total <= 0 {
		return 0
	}
	return float64(most) / float64(b.Total)
}

// BranchSites returns the conditionals by total, descending, then by name of the method
// and bytecode. It adds counts by index, as the compiler does.
func (p *Profile) BranchSites() []BranchSite {
	sites := make(map[Frame]*BranchSite)
	s := p.Section(Conditionals)
	for ctx, records := range s.All() {
		site := sites[ctx.leaf()]
		if site == nil {
			site = &BranchSite{Frame: ctx.leaf()}
			sites[ctx.leaf()] = site
		}
		site.Entries++
		cases := make(map[int32]int)
		for b := range branchesIn(records) {
			i, ok := slices.BinarySearchFunc(site.Ways, b.Index, func(w Way, i int32) int { return cmp.Compare(w.Index, i) })
			if !ok {
				site.Ways = slices.Insert(site.Ways, i, Way{Index: b.Index})
			}
			w := &site.Ways[i]
			cases[b.Index]++
			w.Cases = max(w.Cases, cases[b.Index])
			w.Count, _ = addSaturating(w.Count, b.Count)
			site.Total, _ = addSaturating(site.Total, b.Count)
			if b.Target != unknownBCI && !slices.Contains(w.Targets, b.Target) {
				w.Targets = append(w.Targets, b.Target)
			}
		}
	}
	out := make([]BranchSite, 0, len(sites))
	for _, site := range sites {
		out = append(out, *site)
	}
	sortByName(out, func(b BranchSite) string { return p.MethodName(b.Method) },
		func(a, b BranchSite) int { return cmp.Compare(b.Total, a.Total) },
		func(a, b BranchSite) int { return compareContexts(Context{a.Frame}, Context{b.Frame}) })
	return out
}

// A TypeSite is a place in the bytecode with counted types, with the counts of all
// contexts.
type TypeSite struct {
	Frame
	Types   []TypeCount // the largest counts first, then by name
	Total   int64
	Entries int // contexts
}

// Polymorphic reports whether more than one type was seen.
func (t *TypeSite) Polymorphic() bool { return len(t.Types) > 1 }

// TypeSites returns the places with counted types, [VirtualInvokes] or [TypeChecks], by
// total, descending, then by name of the method and bytecode.
func (p *Profile) TypeSites(k Kind) []TypeSite {
	if !k.hasTypes() || k == Monitors {
		return nil
	}
	type site struct {
		types   map[TypeID]int64
		entries int
	}
	sites := make(map[Frame]*site)
	for ctx, records := range p.Section(k).All() {
		s := sites[ctx.leaf()]
		if s == nil {
			s = &site{types: make(map[TypeID]int64)}
			sites[ctx.leaf()] = s
		}
		s.entries++
		for t := range typeCountsIn(records) {
			s.types[t.Type], _ = addSaturating(s.types[t.Type], t.Count)
		}
	}
	out := make([]TypeSite, 0, len(sites))
	for at, s := range sites {
		t := TypeSite{Frame: at, Types: p.sortTypes(s.types), Entries: s.entries}
		for _, c := range t.Types {
			t.Total, _ = addSaturating(t.Total, c.Count)
		}
		out = append(out, t)
	}
	sortByName(out, func(t TypeSite) string { return p.MethodName(t.Method) },
		func(a, b TypeSite) int { return cmp.Compare(b.Total, a.Total) },
		func(a, b TypeSite) int { return compareContexts(Context{a.Frame}, Context{b.Frame}) })
	return out
}

// Monitors returns the types that were synchronized on, by count, descending, then by
// name.
func (p *Profile) Monitors() []TypeCount {
	types := make(map[TypeID]int64)
	for _, records := range p.Section(Monitors).All() {
		for t := range typeCountsIn(records) {
			types[t.Type], _ = addSaturating(types[t.Type], t.Count)
		}
	}
	return p.sortTypes(types)
}

func (p *Profile) sortTypes(types map[TypeID]int64) []TypeCount {
	out := make([]TypeCount, 0, len(types))
	for t, n := range types {
		out = append(out, TypeCount{t, n})
	}
	sortByName(out, func(t TypeCount) string { return p.TypeName(t.Type) },
		func(a, b TypeCount) int { return cmp.Compare(b.Count, a.Count) },
		func(a, b TypeCount) int { return cmp.Compare(a.Type, b.Type) })
	return out
}
