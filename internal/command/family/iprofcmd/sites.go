package iprofcmd

import (
	"cmp"
	"maps"
	"slices"

	"github.com/profuse-pgo/profuse/formats/iprof"
	"github.com/profuse-pgo/profuse/internal/numbering"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// unknownBCI is the target of a branch whose target only another record has: UNKNOWN_BCI of
// jdk.vm.ci.code.BytecodeFrame.
const unknownBCI int32 = -5

// branchSites returns the conditionals by total, descending, then by name of the method and bytecode index, with the
// sums of all contexts. A record is a target, which may be unknown, an index and a count. Like the compiler, it adds up
// counts by index.
func branchSites(p *iprof.Profile) []*branchFacts {
	sites := make(map[iprof.Frame]*branchFacts)
	for ctx, records := range p.Sections[iprof.Conditionals].All() {
		site := sites[ctx[0]]
		if site == nil {
			site = &branchFacts{frame: ctx[0]}
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
			site.Count, _ = saturate.AddSigned(site.Count, count)
			if target != unknownBCI && !slices.Contains(w.Targets, target) {
				w.Targets = append(w.Targets, target)
			}
		}
	}
	out := slices.Collect(maps.Values(sites))
	for _, site := range out {
		if site.Count > 0 {
			site.Bias = float64(site.mostFrequent()) / float64(site.Count)
		}
	}
	sortByName(out, func(b *branchFacts) string { return p.MethodName(b.frame.Method) },
		func(a, b *branchFacts) int { return cmp.Compare(b.Count, a.Count) },
		func(a, b *branchFacts) int { return compareFrames(a.frame, b.frame) })
	return out
}

// mostFrequent returns the count of the most frequent way.
func (b *branchFacts) mostFrequent() (most int64) {
	for _, w := range b.Ways {
		most = max(most, w.Count)
	}
	return most
}

// typeSites returns the sites of [iprof.VirtualInvokes] or [iprof.TypeChecks] by total, descending, then by name of
// the method and bytecode index, with the sums of all contexts.
func typeSites(p *iprof.Profile, k iprof.Kind) []siteFacts {
	type site struct {
		types    map[iprof.TypeID]int64
		contexts int
	}
	sites := make(map[iprof.Frame]*site)
	for ctx, records := range p.Sections[k].All() {
		s := sites[ctx[0]]
		if s == nil {
			s = &site{types: make(map[iprof.TypeID]int64)}
			sites[ctx[0]] = s
		}
		s.contexts++
		addTypes(s.types, records)
	}
	out := make([]siteFacts, 0, len(sites))
	for frame, s := range sites {
		t := siteFacts{frame: frame, Set: k.String(), Types: sortTypes(p, s.types), Contexts: s.contexts}
		for _, c := range t.Types {
			t.Count, _ = saturate.AddSigned(t.Count, c.Count)
		}
		out = append(out, t)
	}
	sortByName(out, func(t siteFacts) string { return p.MethodName(t.frame.Method) },
		func(a, b siteFacts) int { return cmp.Compare(b.Count, a.Count) },
		func(a, b siteFacts) int { return compareFrames(a.frame, b.frame) })
	return out
}

// monitors returns the types that were synchronized on, by count, descending, then by name.
func monitors(p *iprof.Profile) []typeFacts {
	types := make(map[iprof.TypeID]int64)
	for _, records := range p.Sections[iprof.Monitors].All() {
		addTypes(types, records)
	}
	return sortTypes(p, types)
}

// addTypes adds the records of an entry, pairs of a type and a count.
func addTypes(types map[iprof.TypeID]int64, records []int64) {
	for ; len(records) > 0; records = records[2:] {
		t := iprof.TypeID(records[0])
		types[t], _ = saturate.AddSigned(types[t], records[1])
	}
}

// sortTypes returns the types, without names, by count, descending, then by name, then by id.
func sortTypes(p *iprof.Profile, types map[iprof.TypeID]int64) []typeFacts {
	out := make([]typeFacts, 0, len(types))
	for t, n := range types {
		out = append(out, typeFacts{id: t, Count: n})
	}
	sortByName(out, func(t typeFacts) string { return p.TypeName(t.id) },
		func(a, b typeFacts) int { return cmp.Compare(b.Count, a.Count) },
		func(a, b typeFacts) int { return cmp.Compare(a.id, b.id) })
	return out
}

// compareFrames orders frames by the id of the method, then by bytecode index.
func compareFrames(a, b iprof.Frame) int {
	return cmp.Or(cmp.Compare(a.Method, b.Method), cmp.Compare(a.BCI, b.BCI))
}

// A methodCount sums up the entries of one kind for one method.
type methodCount struct {
	Method iprof.MethodID
	Self   int64 // sum of the counts of entries with the method in the first frame
	// Total is the sum of the counts of entries with the method in any frame. For [iprof.Samples] it
	// is the inclusive time of the method. For other kinds it covers only the code that was compiled
	// as part of the method, because their contexts are partial.
	Total   int64
	Inlined int64 // the part of Self with a caller in the context
	Entries int   // number of entries with the method in the first frame
}

// methodCounts returns the methods of the kind that keep accepts, sorted by Self and Total,
// descending, then by name and id. iprof.Monitors has no methods.
func methodCounts(p *iprof.Profile, k iprof.Kind, keep func(*methodCount) bool) []methodCount {
	s := &p.Sections[k]
	if k == iprof.Monitors {
		return nil
	}
	var (
		methods numbering.Table[iprof.MethodID]
		counts  []methodCount
		last    []int32 // by index in counts: the entry that was added to Total last, plus 1
	)
	for i := range s.Len() {
		ctx, count := s.Context(i), s.Count(i)
		for j, f := range ctx {
			n, fresh := methods.Add(f.Method)
			if fresh {
				counts = append(counts, methodCount{Method: f.Method})
				last = append(last, 0)
			}
			c := &counts[n]
			if j == 0 {
				c.Self, _ = saturate.AddSigned(c.Self, count)
				c.Entries++
				if len(ctx) > 1 {
					c.Inlined, _ = saturate.AddSigned(c.Inlined, count)
				}
			}
			// An entry counts once, also if the method is in several frames.
			if last[n] != int32(i)+1 {
				last[n] = int32(i) + 1
				c.Total, _ = saturate.AddSigned(c.Total, count)
			}
		}
	}
	counts = slices.DeleteFunc(counts, func(c methodCount) bool { return !keep(&c) })
	sortByName(counts, func(c methodCount) string { return p.MethodName(c.Method) }, func(a, b methodCount) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total))
	}, func(a, b methodCount) int { return cmp.Compare(a.Method, b.Method) })
	return counts
}

func entries(p *iprof.Profile) (n int) {
	for k := range iprof.NumKinds {
		n += p.Sections[k].Len()
	}
	return n
}

// sortByName sorts by first, then by name, then by last. It calls name only for elements that are equal by first.
func sortByName[T any](all []T, name func(T) string, first, last func(a, b T) int) {
	slices.SortFunc(all, func(a, b T) int {
		if c := first(a, b); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(name(a), name(b)), last(a, b))
	})
}
