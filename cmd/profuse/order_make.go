package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/layout"
	"github.com/profuse-pgo/profuse/profile"
)

// The ways to order functions.
const (
	byTraces = "traces"
	byCalls  = "first-calls"
	byHeat   = "heat"
	byEdges  = "edges"
)

func orderMakeCommand() *cli.Command {
	return &cli.Command{
		Name:  "make",
		Args:  "[OPTION]... FILE",
		Short: "write an order of functions for a linker",
		Long: `Orders the functions of a profile of any format for a linker:

    --by traces       those first called at about the same time in as many runs
                      as possible together (balanced partitioning, as
                      llvm-profdata order has it)
    --by first-calls  by the mean rank of first calls
    --by edges        callees after their most frequent callers, the densest
                      groups first (call-chain clustering, C3)
    --by heat         the hottest first

Without --by it is the first of these that the profile has something for. The
list is for a linker:
` + aboutOrders,
		Setup: func(f *cli.Flags) cli.Action {
			c := &orderMake{by: cli.Choice{Allowed: []string{byTraces, byCalls, byEdges, byHeat}}}
			c.declare(f)
			f.Var(&c.by, "by", "`WHAT` to order by")
			return c.run
		},
	}
}

// orderMake is one run of "profuse order make".
type orderMake struct {
	orderWriter
	by cli.Choice
}

func (c *orderMake) run(_ context.Context, env *cli.Env, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("it takes one profile, not %d", len(args))
	}
	if err := c.check(); err != nil {
		return err
	}
	v, err := openView(env, args[0], formats.ViewOptions{})
	if err != nil {
		return err
	}
	by := c.by.Value
	if by == "" {
		by = bestOrder(v)
	}
	names, err := orderOf(v, by)
	if err != nil {
		return err
	}
	if !c.quiet {
		fmt.Fprintf(env.Stderr, "ordered by %s\n", by)
	}
	return c.write(env, args[0], names)
}

// bestOrder chooses by what the profile has. One trace has nothing to balance.
func bestOrder(v profile.View) string {
	runs := 0
	for t := range v.Traces() {
		if !t.Mean {
			runs++
		}
	}
	switch features := v.Features(); {
	case runs > 0:
		return byTraces
	case features.Has(profile.HasFirstCalls):
		return byCalls
	case features.Has(profile.HasEdges):
		return byEdges
	}
	return byHeat
}

// orderOf returns the names of functions that ran in their order.
func orderOf(v profile.View, by string) ([]string, error) {
	var names []string
	switch by {
	case byTraces:
		names = balancedOrder(v)
	case byCalls:
		names = rankedOrder(v, func(f *profile.Function) float64 { return f.FirstCall })
	case byEdges:
		if names = clusterOrder(v); !v.Features().Has(profile.HasEdges) {
			names = nil
		}
	case byHeat:
		names = rankedOrder(v, func(f *profile.Function) float64 { return -float64(f.Max()) })
	}
	if len(names) == 0 {
		id := v.Identity()
		return nil, fmt.Errorf("%s: has nothing to order by %s", id.File, by)
	}
	return names, nil
}

func balancedOrder(v profile.View) (names []string) {
	byID := make(map[uint64]string)
	ids := make(map[profile.Symbol]uint64)
	var traces [][]uint64
	for t := range v.Traces() {
		trace := make([]uint64, 0, len(t.Functions))
		for _, s := range t.Functions {
			id, ok := ids[s]
			if !ok {
				// The identity of the format decides between equals, as in
				// llvm-profdata.
				if id = s.ID; id == 0 || byID[id] != "" {
					id = uint64(len(ids)) + 1<<63
				}
				ids[s] = id
				byID[id] = s.Name
			}
			trace = append(trace, id)
		}
		traces = append(traces, trace)
	}
	for _, id := range layout.Balanced(traces) {
		if name := byID[id]; name != "" {
			names = append(names, name)
		}
	}
	return names
}

// rankedOrder orders by a rank, the lowest first. Functions of rank 0 are left
// out.
func rankedOrder(v profile.View, rank func(*profile.Function) float64) (names []string) {
	type ranked struct {
		name string
		rank float64
	}
	var list []ranked
	for f := range v.Functions() {
		if r := rank(f); r != 0 && f.Covered && f.Name != "" {
			list = append(list, ranked{f.Name, r})
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	for _, f := range list {
		names = append(names, f.name)
	}
	return names
}

func clusterOrder(v profile.View) (names []string) {
	var nodes []layout.CallNode
	at := make(map[string]int)
	for f := range v.Functions() {
		if i, ok := at[f.Name]; ok {
			nodes[i].Count = max(nodes[i].Count, f.Max())
			continue
		}
		at[f.Name] = len(nodes)
		nodes = append(nodes, layout.CallNode{Name: f.Name, Size: f.Size, Count: f.Max()})
	}
	var arcs []layout.CallArc
	for e := range v.Edges() {
		caller, known := at[e.Caller.Name]
		callee, also := at[e.Target.Name]
		if known && also && (e.Kind == profile.Call || e.Kind == profile.IndirectCall) {
			arcs = append(arcs, layout.CallArc{Caller: caller, Callee: callee, Count: e.Count})
		}
	}
	for _, i := range layout.Clusters(nodes, arcs) {
		if nodes[i].Name != "" {
			names = append(names, nodes[i].Name)
		}
	}
	return names
}
