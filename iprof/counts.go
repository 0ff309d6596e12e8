package iprof

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

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
				f.edge.Count, _ = saturate.AddSigned(f.edge.Count, count)
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
