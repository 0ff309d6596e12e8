package report

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/numbering"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// A siteTable holds the data of single sites in functions.
type siteTable struct {
	sites   []valueSite // the most frequent first
	callers int         // functions with sites
	kinds   []kindTotal // in the order of profile.EdgeKind, those that occur
}

// A valueSite is a site in a function, with the functions called or the values observed there.
type valueSite struct {
	kind    profile.EdgeKind
	caller  int32 // symbol of the table of edges
	hash    uint64
	site    int32
	line    int32
	total   uint64        // stops at 2^64-1
	targets []valueTarget // the most frequent first
	// promoted is the number of targets that LLVM would call directly, or of
	// sizes that it would make versions for, if the fate says that it does.
	promoted int
	fate     fate
}

type valueTarget struct {
	symbol int32  // of the table of edges; -1 if the profile does not name the target
	size   uint64 // of a memory operation
	count  uint64
}

func (t *valueTarget) unknown() bool { return t.symbol < 0 }

type kindTotal struct {
	kind     profile.EdgeKind
	sites    int
	single   int // with one target, which is known
	total    uint64
	top      uint64 // met as the first of their sites
	unknown  uint64
	promoted int // sites of which a target is promoted
	direct   uint64
}

// newSiteTable collects the edges of a view; nil if there are none.
func newSiteTable(src *source) *siteTable {
	type key struct {
		kind profile.EdgeKind
		hash uint64
		site int32
	}
	t := &siteTable{}
	at := make(map[key]int) // of one caller, whose edges follow each other
	caller, edges := int32(-1), src.edges().edges
	for i := range edges {
		e := &edges[i]
		if e.caller != caller {
			caller = e.caller
			t.callers++
			clear(at)
		}
		// Records of one function from several builds differ in their hash alone.
		k := key{e.kind, e.hash, e.site}
		i, ok := at[k]
		if !ok {
			i = len(t.sites)
			at[k] = i
			t.sites = append(t.sites, valueSite{kind: e.kind, caller: caller, hash: e.hash, site: e.site, line: e.line})
		}
		s := &t.sites[i]
		s.total = saturate.Add(s.total, e.count)
		s.targets = append(s.targets, valueTarget{e.target, e.size, e.count})
	}
	if len(t.sites) == 0 {
		return nil
	}
	for i := range t.sites {
		t.sites[i].targets = joinTargets(t.sites[i].targets)
	}
	slices.SortStableFunc(t.sites, func(a, b valueSite) int { return cmp.Compare(b.total, a.total) })
	// What LLVM would do depends on the hot threshold of the profile's summary.
	p := promotion{src.heat.hot}
	for i := range t.sites {
		p.setFate(&t.sites[i])
	}
	t.sumKinds()
	return t
}

// joinTargets adds up the counts of equal targets and sorts by count. Targets
// with equal counts keep their order, as in LLVM.
func joinTargets(targets []valueTarget) []valueTarget {
	// For so few a list is faster than a map.
	const few = 16
	type key struct {
		symbol int32
		size   uint64
	}
	out := targets[:0]
	indexOf := func(t *valueTarget) int { // in out; -1 if it is new
		return slices.IndexFunc(out, func(o valueTarget) bool { return o.symbol == t.symbol && o.size == t.size })
	}
	if len(targets) > few {
		var at numbering.Table[key]
		indexOf = func(t *valueTarget) int {
			if i := int(at.Of(key{t.symbol, t.size})); i < len(out) {
				return i
			}
			return -1
		}
	}
	for _, t := range targets {
		if i := indexOf(&t); i >= 0 {
			out[i].count = saturate.Add(out[i].count, t.count)
		} else {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b valueTarget) int { return cmp.Compare(b.count, a.count) })
	return out
}

// sumKinds needs the fates of the sites.
func (t *siteTable) sumKinds() {
	for kind := profile.Call; kind <= profile.MemOpSize; kind++ {
		k := kindTotal{kind: kind}
		for i := range t.sites {
			s := &t.sites[i]
			if s.kind != kind {
				continue
			}
			k.sites++
			k.total = saturate.Add(k.total, s.total)
			k.top = saturate.Add(k.top, s.targets[0].count)
			if len(s.targets) == 1 && (kind == profile.MemOpSize || !s.targets[0].unknown()) {
				k.single++
			}
			for j := range s.targets {
				if kind != profile.MemOpSize && s.targets[j].unknown() {
					k.unknown = saturate.Add(k.unknown, s.targets[j].count)
				}
			}
			if s.promoted > 0 {
				k.promoted++
			}
			for _, target := range s.promotedTargets() {
				k.direct = saturate.Add(k.direct, target.count)
			}
		}
		if k.sites > 0 {
			t.kinds = append(t.kinds, k)
		}
	}
}

func (s *valueSite) share(n uint64) float64 {
	if s.total == 0 {
		return 0
	}
	return float64(n) / float64(s.total)
}

// A sizeRange is a range of lengths of memory operations, as LLVM counts them.
type sizeRange struct {
	min, max uint64 // bytes
	count    uint64
}

// sizes adds up the memory operations by length, the shortest first.
func (t *siteTable) sizes() []sizeRange {
	counts := make(map[uint64]uint64)
	for i := range t.sites {
		if t.sites[i].kind != profile.MemOpSize {
			continue
		}
		for _, target := range t.sites[i].targets {
			// Raw profiles have ranges already: the value of a range is its lower bound.
			low, _ := sizeRangeOf(target.size)
			counts[low] = saturate.Add(counts[low], target.count)
		}
	}
	var list []sizeRange
	for low, count := range counts {
		_, high := sizeRangeOf(low)
		list = append(list, sizeRange{low, high, count})
	}
	slices.SortFunc(list, func(a, b sizeRange) int { return cmp.Compare(a.min, b.min) })
	return list
}
