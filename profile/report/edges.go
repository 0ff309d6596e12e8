package report

import (
	"iter"

	"github.com/profuse-pgo/profuse/internal/numbering"
	"github.com/profuse-pgo/profuse/profile"
)

// An edgeTable has the edges of a profile, for the pages that show edges. A view takes most of the time
// of a walk over its edges to find the names of targets.
type edgeTable struct {
	edges   []tableEdge
	symbols numbering.Table[profile.Symbol] // the callers and the targets
}

type tableEdge struct {
	kind       profile.EdgeKind
	caller     int32 // number of its symbol
	target     int32 // number of its symbol; -1 if it is unknown
	site, line int32
	hash       uint64
	size       uint64
	count      uint64
}

// newEdgeTable reads the edges of a view, in its order; the table is empty if it has none.
func newEdgeTable(v profile.View) *edgeTable {
	t := &edgeTable{}
	if !v.Features().Edges {
		return t
	}
	symbols := &t.symbols
	for e := range profile.ReusedEdges(v) {
		own := tableEdge{e.Kind, 0, -1, e.Site, e.Line, e.Hash, e.Size, e.Count}
		// Edges are grouped by caller, so most have the caller of the edge before.
		if n := len(t.edges); n > 0 && symbols.Keys[t.edges[n-1].caller] == e.Caller {
			own.caller = t.edges[n-1].caller
		} else {
			own.caller = symbols.Of(e.Caller)
		}
		if e.Target.Name != "" || e.Target.ID != 0 {
			own.target = symbols.Of(e.Target)
		}
		t.edges = append(t.edges, own)
	}
	return t
}

// edgeName is symbolName for a symbol of the table of edges.
func (s *source) edgeName(symbol int32) string {
	sym := &s.edges().symbols.Keys[symbol]
	if readable := s.readable.edges()[symbol]; readable != "" && !s.opt.Mangled {
		return readable + clean(sym.Signature)
	}
	return s.symbolName(sym)
}

type edgeView struct {
	profile.View
	table *edgeTable
}

// ReusedEdges is for [profile.ReusedEdges].
func (v edgeView) ReusedEdges() iter.Seq[*profile.Edge] {
	return func(yield func(*profile.Edge) bool) {
		t := v.table
		var edge profile.Edge
		for i := range t.edges {
			e := &t.edges[i]
			edge = profile.Edge{Kind: e.kind, Caller: t.symbols.Keys[e.caller], Hash: e.hash, Site: e.site, Line: e.line, Size: e.size, Count: e.count}
			if e.target >= 0 {
				edge.Target = t.symbols.Keys[e.target]
			}
			if !yield(&edge) {
				return
			}
		}
	}
}
