package iprof

import (
	"cmp"
	"slices"
)

// A MethodCount sums the entries of one kind for one method.
type MethodCount struct {
	Method MethodID
	// Self is the sum of the counts of entries with the method in their first
	// frame.
	Self int64
	// Total is the sum of the counts of entries with the method in any frame, each
	// entry once. For [Samples] that is the inclusive time of the method. The
	// contexts of the other kinds are partial: their totals cover the code that
	// was compiled as part of the method, and not all its callees.
	Total int64
	// Inlined is the part of Self with a caller in the context.
	Inlined int64
	Entries int // number of entries with the method in their first frame
}

// MethodCounts returns the methods in the entries of the kind, sorted by Self and Total,
// descending, then by name and id. Monitors has none.
func (p *Profile) MethodCounts(k Kind) []MethodCount {
	s := p.Section(k)
	if k == Monitors {
		return nil // its context is not a method
	}
	var (
		counts []MethodCount
		last   []int32 // by index in counts: the entry added to Total last, plus 1
		slots  = make([]int32, len(p.Methods))
		others = make(map[MethodID]int32)
	)
	slot := func(id MethodID) int32 {
		i := p.methIndex.find(int32(id))
		n := int32(0)
		if i >= 0 && i < len(slots) {
			n = slots[i]
		} else {
			n = others[id]
		}
		if n == 0 {
			counts = append(counts, MethodCount{Method: id})
			last = append(last, 0)
			n = int32(len(counts))
			if i >= 0 && i < len(slots) {
				slots[i] = n
			} else {
				others[id] = n
			}
		}
		return n - 1
	}
	for i := range s.ends {
		ctx, count := s.Context(i), s.Count(i)
		for j, f := range ctx {
			n := slot(f.Method)
			c := &counts[n]
			if j == 0 {
				c.Self, _ = addSaturating(c.Self, count)
				c.Entries++
				if ctx.inlined() {
					c.Inlined, _ = addSaturating(c.Inlined, count)
				}
			}
			if last[n] != int32(i)+1 {
				last[n] = int32(i) + 1
				c.Total, _ = addSaturating(c.Total, count)
			}
		}
	}
	sortByName(counts, func(c MethodCount) string { return p.MethodName(c.Method) }, func(a, b MethodCount) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total))
	}, func(a, b MethodCount) int { return cmp.Compare(a.Method, b.Method) })
	return counts
}

// sortByName sorts by first, then by name, then by last. It calls name only for elements
// that are equal by first.
func sortByName[T any](all []T, name func(T) string, first, last func(a, b T) int) {
	slices.SortFunc(all, func(a, b T) int {
		if c := first(a, b); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(name(a), name(b)), last(a, b))
	})
}

// edge is a place that calls a method.
type edge struct {
	Caller  Frame
	Callee  MethodID
	Count   int64
	Entries int // contexts with the edge
}

// edges returns the calls that contexts of the kind show, those with the
// largest counts first.
//
// Of [Samples] these are all pairs of neighbours in the stacks; the count is
// the number of samples with the call on the stack, each once. Of [CallCounts]
// it is the first pair of each context: the count is how often the call was
// made from there as far as the callee was inlined, since the callers of
// methods that were not are unknown. The other kinds are treated as the
// latter, with the counts of what happened in the callee.
func (p *Profile) edges(k Kind) []edge {
	type key struct {
		caller Frame
		callee MethodID
	}
	type found struct {
		edge edge
		last int // entry, plus 1
	}
	edges := make(map[key]*found)
	s := p.Section(k)
	for i := range s.ends {
		ctx, count := s.Context(i), s.Count(i)
		if k != Samples {
			ctx = ctx[:min(2, len(ctx))]
		}
		for j := 1; j < len(ctx); j++ {
			at := key{ctx[j], ctx[j-1].Method}
			f := edges[at]
			if f == nil {
				f = &found{edge: edge{Caller: at.caller, Callee: at.callee}}
				edges[at] = f
			}
			if f.last != i+1 {
				f.last = i + 1
				f.edge.Entries++
				f.edge.Count, _ = addSaturating(f.edge.Count, count)
			}
		}
	}
	out := make([]edge, 0, len(edges))
	for _, f := range edges {
		out = append(out, f.edge)
	}
	slices.SortFunc(out, func(a, b edge) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), compareContexts(Context{a.Caller}, Context{b.Caller}), cmp.Compare(a.Callee, b.Callee))
	})
	return out
}

// Summary describes a section.
type Summary struct {
	Kind      Kind
	Entries   int
	Total     int64 // sum of all counts
	Largest   int64 // greatest count of an entry
	Methods   int   // distinct methods in first frames
	Frames    int   // frames of all contexts
	MaxFrames int   // greatest number of frames of a context
}

// Summary describes the section of a kind.
func (p *Profile) Summary(k Kind) Summary {
	s := p.Section(k)
	sum := Summary{Kind: k, Entries: s.Len(), Total: s.Total(), Frames: len(s.frames)}
	about := make(map[MethodID]struct{})
	for i := range s.ends {
		ctx := s.Context(i)
		sum.MaxFrames = max(sum.MaxFrames, len(ctx))
		sum.Largest = max(sum.Largest, s.Count(i))
		about[ctx.leaf().Method] = struct{}{}
	}
	if k != Monitors {
		sum.Methods = len(about)
	}
	return sum
}
