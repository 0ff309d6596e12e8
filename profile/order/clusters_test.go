package order

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestClusters(t *testing.T) {
	nodes := []callNode{
		{Name: "main", Size: 100, Count: 1},
		{Name: "loop", Size: 100, Count: 1000},
		{Name: "leaf", Size: 10, Count: 900},
		{Name: "rare", Size: 10, Count: 5},
		{Name: "never", Size: 10},
		{Name: "alone", Size: 10, Count: 2000},
		{Name: "huge", Size: 4 << 20, Count: 4},
	}
	arcs := []callArc{
		{Caller: 0, Callee: 1, Count: 10},
		{Caller: 1, Callee: 2, Count: 800},
		{Caller: 0, Callee: 2, Count: 100},
		{Caller: 1, Callee: 3, Count: 5},
		{Caller: 1, Callee: 1, Count: 990},
		{Caller: 4, Callee: 0, Count: 1},
		{Caller: 1, Callee: 6, Count: 4},
	}
	order := func() string {
		var names []string
		for _, i := range clusterOrder(nodes, arcs) {
			names = append(names, nodes[i].Name)
		}
		return strings.Join(names, " ")
	}
	// alone is densest; leaf follows its most frequent caller; main, whose
	// caller never ran, leads the chain; huge would make the cluster too large.
	if got, want := order(), "alone main loop leaf rare huge"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// The order of arcs does not matter.
	for range 20 {
		before := order()
		rand.Shuffle(len(arcs), func(i, j int) { arcs[i], arcs[j] = arcs[j], arcs[i] })
		if got := order(); got != before {
			t.Errorf("%s, was %s", got, before)
		}
	}
}

// Every function that was called is listed once.
func TestClustersAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		nodes := make([]callNode, 1+rng.IntN(60))
		want := 0
		for i := range nodes {
			nodes[i] = callNode{Size: uint64(rng.IntN(1 << 20)), Count: uint64(rng.IntN(4))}
			if nodes[i].Count > 0 {
				want++
			}
		}
		arcs := make([]callArc, rng.IntN(200))
		for i := range arcs {
			arcs[i] = callArc{Caller: rng.IntN(len(nodes)), Callee: rng.IntN(len(nodes)), Count: uint64(rng.IntN(9))}
		}
		got := clusterOrder(nodes, arcs)
		slices.Sort(got)
		if len(got) != want || len(slices.Compact(got)) != want {
			t.Fatalf("%d functions, want %d", len(got), want)
		}
	}
}
