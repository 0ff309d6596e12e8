package iprofcmd

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/formats/iprof"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// unknownBCI is the target of a branch whose target only another record has: UNKNOWN_BCI of
// jdk.vm.ci.code.BytecodeFrame.
const unknownBCI int32 = -5

// A typeCount is how often a type was counted.
type typeCount struct {
	Type  iprof.TypeID
	Count int64
}

// A branchSite is a conditional in the bytecode, with the sums of all contexts.
type branchSite struct {
	iprof.Frame
	Ways  []wayFacts // by index
	Total int64
}

// bias returns the share of the most frequent way, from 0 to 1; 0 if none was taken.
func (b *branchSite) bias() float64 {
	most := int64(0)
	for _, w := range b.Ways {
		most = max(most, w.Count)
	}
	if b.Total <= 0 {
		return 0
	}
	return float64(most) / float64(b.Total)
}

// branchSites returns the conditionals by total, descending, then by name of the method and bytecode
// index. A record is a target, which may be unknown, an index and a count. Like the compiler, it
// adds up counts by index.
func branchSites(p *iprof.Profile) []branchSite {
	sites := make(map[iprof.Frame]*branchSite)
	s := &p.Sections[iprof.Conditionals]
	for ctx, records := range s.All() {
		site := sites[ctx[0]]
		if site == nil {
			site = &branchSite{Frame: ctx[0]}
			sites[ctx[0]] = site
		}
		for ; len(records) > 0; records = records[3:] {
			target, index, count := int32(records[0]), int32(records[1]), records[2]
			i, ok := slices.BinarySearchFunc(site.Ways, index, func(w wayFacts, i int32) int { return cmp.Compare(w.Index, i) })
			if !ok {
				site.Ways = slices.Insert(site.Ways, i, wayFacts{Index: index, Targets: []int32{}})
			}
			w := &site.Ways[i]
			w.Count, _ = saturate.AddSigned(w.Count, count)
			site.Total, _ = saturate.AddSigned(site.Total, count)
			if target != unknownBCI && !slices.Contains(w.Targets, target) {
				w.Targets = append(w.Targets, target)
			}
		}
	}
	out := make([]branchSite, 0, len(sites))
	for _, site := range sites {
		out = append(out, *site)
	}
	sortByName(out, func(b branchSite) string { return p.MethodName(b.Method) },
		func(a, b branchSite) int { return cmp.Compare(b.Total, a.Total) },
		func(a, b branchSite) int { return compareFrames(a.Frame, b.Frame) })
	return out
}

// A typeSite is a bytecode with counted types, with the sums of all contexts.
type typeSite struct {
	iprof.Frame
	Types   []typeCount // the largest counts first, then by name
	Total   int64
	Entries int // contexts
}

// polymorphic reports whether more than one type was seen.
func (t *typeSite) polymorphic() bool { return len(t.Types) > 1 }

// typeSites returns the sites of [iprof.VirtualInvokes] or [iprof.TypeChecks] by total, descending,
// then by name of the method and bytecode index.
func typeSites(p *iprof.Profile, k iprof.Kind) []typeSite {
	type site struct {
		types   map[iprof.TypeID]int64
		entries int
	}
	sites := make(map[iprof.Frame]*site)
	for ctx, records := range p.Sections[k].All() {
		s := sites[ctx[0]]
		if s == nil {
			s = &site{types: make(map[iprof.TypeID]int64)}
			sites[ctx[0]] = s
		}
		s.entries++
		for ; len(records) > 0; records = records[2:] {
			t := iprof.TypeID(records[0])
			s.types[t], _ = saturate.AddSigned(s.types[t], records[1])
		}
	}
	out := make([]typeSite, 0, len(sites))
	for frame, s := range sites {
		t := typeSite{Frame: frame, Types: sortTypes(p, s.types), Entries: s.entries}
		for _, c := range t.Types {
			t.Total, _ = saturate.AddSigned(t.Total, c.Count)
		}
		out = append(out, t)
	}
	sortByName(out, func(t typeSite) string { return p.MethodName(t.Method) },
		func(a, b typeSite) int { return cmp.Compare(b.Total, a.Total) },
		func(a, b typeSite) int { return compareFrames(a.Frame, b.Frame) })
	return out
}

// monitors returns the types that were synchronized on, by count, descending, then by name.
func monitors(p *iprof.Profile) []typeCount {
	types := make(map[iprof.TypeID]int64)
	for _, records := range p.Sections[iprof.Monitors].All() {
		for ; len(records) > 0; records = records[2:] {
			t := iprof.TypeID(records[0])
			types[t], _ = saturate.AddSigned(types[t], records[1])
		}
	}
	return sortTypes(p, types)
}

// sortTypes returns the types by count, descending, then by name, then by id.
func sortTypes(p *iprof.Profile, types map[iprof.TypeID]int64) []typeCount {
	out := make([]typeCount, 0, len(types))
	for t, n := range types {
		out = append(out, typeCount{t, n})
	}
	sortByName(out, func(t typeCount) string { return p.TypeName(t.Type) },
		func(a, b typeCount) int { return cmp.Compare(b.Count, a.Count) },
		func(a, b typeCount) int { return cmp.Compare(a.Type, b.Type) })
	return out
}

// compareFrames orders frames by the id of the method, then by bytecode index.
func compareFrames(a, b iprof.Frame) int {
	return cmp.Or(cmp.Compare(a.Method, b.Method), cmp.Compare(a.BCI, b.BCI))
}
