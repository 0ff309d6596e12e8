package order

import (
	"github.com/profuse-pgo/profuse/internal/llvm/partition"
	"github.com/profuse-pgo/profuse/profile"
)

// Balanced returns the names of the functions of a profile's traces, in an order in which functions first called
// at about the same time, in as many runs as possible, share pages: LLVM's balanced partitioning, as in
// "llvm-profdata order". name returns a symbol's name in the order; Balanced omits symbols for which it returns
// "". Several symbols of one function are ordered individually. The result is nil if the profile has no traces.
func Balanced(v profile.View, name func(*profile.Symbol) string) (names []string) {
	symbols := make(map[uint64]profile.Symbol)
	ids := make(map[profile.Symbol]uint64)
	var traces [][]uint64
	for t := range v.Traces() {
		trace := make([]uint64, len(t.Functions))
		for i, s := range t.Functions {
			id, ok := ids[s]
			if !ok {
				// Like llvm-profdata, break ties by the format's function id.
				id = s.ID
				if _, taken := symbols[id]; taken || id == 0 {
					id = uint64(len(ids)) + 1<<63
				}
				ids[s], symbols[id] = id, s
			}
			trace[i] = id
		}
		traces = append(traces, trace)
	}
	for _, id := range partition.Order(traces) {
		s := symbols[id]
		if n := name(&s); n != "" {
			names = append(names, n)
		}
	}
	return names
}

// Clustered returns the names of the functions of a profile that ran, ordered by call-chain clustering (C3: Ottoni
// and Maher, "Optimizing Function Placement for Large-Scale Data-Center Applications", CGO 2017). name returns a
// symbol's name in the order; functions of one name count as one, and Clustered omits functions for which name
// returns "". The result is nil if the profile has no calls between functions.
func Clustered(v profile.View, name func(*profile.Symbol) string) (names []string) {
	if !v.Features().Edges {
		return nil
	}
	var nodes []callNode
	at := make(map[string]int)
	for f := range profile.ReusedFunctions(v) {
		n := name(&f.Symbol)
		if i, ok := at[n]; ok {
			nodes[i].Count = max(nodes[i].Count, f.Max())
			continue
		}
		if n != "" {
			at[n] = len(nodes)
			nodes = append(nodes, callNode{Name: n, Size: f.Size, Count: f.Max()})
		}
	}
	var arcs []callArc
	for e := range profile.ReusedEdges(v) {
		caller, callerKnown := at[name(&e.Caller)]
		callee, calleeKnown := at[name(&e.Target)]
		if callerKnown && calleeKnown && (e.Kind == profile.Call || e.Kind == profile.IndirectCall) {
			arcs = append(arcs, callArc{Caller: caller, Callee: callee, Count: e.Count})
		}
	}
	if len(arcs) == 0 {
		return nil
	}
	for _, i := range clusterOrder(nodes, arcs) {
		names = append(names, nodes[i].Name)
	}
	return names
}
