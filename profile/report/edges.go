package report

import (
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

// edgeStacks presents the calls of known targets as stacks of two frames, callee and caller.
func (s *source) edgeStacks() profile.StackSet {
	return profile.StackSet{
		Name: "edges", Description: "calls seen at one place of a function", Partial: true,
		Values: []profile.ValueType{{Name: "calls", Unit: profile.Count}},
		ReusedStacks: func(yield func(*profile.Stack) bool) {
			stack := profile.Stack{Frames: make([]profile.Frame, 2), Values: make([]uint64, 1)}
			table := s.edges()
			for i := range table.edges {
				e := &table.edges[i]
				if e.kind != profile.Call && e.kind != profile.IndirectCall || e.target < 0 {
					continue
				}
				stack.Frames[0].Symbol = table.symbols.Keys[e.target]
				stack.Frames[1].Symbol = table.symbols.Keys[e.caller]
				stack.Values[0] = e.count
				if !yield(&stack) {
					return
				}
			}
		},
	}
}
