package layout

import (
	"cmp"
	"slices"
)

// A callNode is a function to be clustered.
type callNode struct {
	Name  string
	Size  uint64 // of its code in bytes; 0 if unknown
	Count uint64 // how often it was called, or another measure of how hot it is
}

// A callArc is a caller and a callee, as indexes of nodes, and how often the
// one called the other.
type callArc struct {
	Caller, Callee int
	Count          uint64
}

const (
	// maxCluster keeps clusters to what the instruction TLB has an entry for,
	// in bytes.
	maxCluster = 2 << 20
	// maxThinning is by how much a cluster may become less dense.
	maxThinning = 8
	// unknownSize is taken for the size of functions without one.
	unknownSize = 64
)

// clusterOrder returns indexes of nodes: from the hottest down, each function's
// cluster is appended to that of its most frequent caller, unless that one would
// become too large or too thin; then clusters follow by density. Functions that
// were never called are left out. Equal ones keep their order.
func clusterOrder(nodes []callNode, arcs []callArc) []int {
	callers := heaviestCallers(nodes, arcs)
	clusters := make([]*cluster, len(nodes))
	var hot []int
	for i, n := range nodes {
		if n.Count > 0 {
			clusters[i] = &cluster{members: []int{i}, size: nodeSize(n), count: float64(n.Count)}
			hot = append(hot, i)
		}
	}
	slices.SortStableFunc(hot, func(a, b int) int { return cmp.Compare(nodes[b].Count, nodes[a].Count) })
	for _, i := range hot {
		caller := callers[i]
		if caller < 0 || clusters[caller] == nil || clusters[caller] == clusters[i] {
			continue
		}
		into, own := clusters[caller], clusters[i]
		joined := cluster{size: into.size + own.size, count: into.count + own.count}
		if joined.size > maxCluster || into.density() > maxThinning*joined.density() {
			continue
		}
		into.members = append(into.members, own.members...)
		into.size, into.count = joined.size, joined.count
		for _, m := range own.members {
			clusters[m] = into
		}
	}
	// A cluster is met at its hottest member first.
	var order []*cluster
	for _, i := range hot {
		if c := clusters[i]; !c.listed {
			c.listed = true
			order = append(order, c)
		}
	}
	slices.SortStableFunc(order, func(a, b *cluster) int { return cmp.Compare(b.density(), a.density()) })
	var out []int
	for _, c := range order {
		out = append(out, c.members...)
	}
	return out
}

// A cluster is functions in their order.
type cluster struct {
	members []int
	size    uint64
	count   float64
	listed  bool
}

func (c *cluster) density() float64 { return c.count / float64(c.size) }

func nodeSize(n callNode) uint64 {
	if n.Size == 0 {
		return unknownSize
	}
	return n.Size
}

// heaviestCallers returns the most frequent caller of each node, itself
// excepted, or -1.
func heaviestCallers(nodes []callNode, arcs []callArc) []int {
	sums := make(map[[2]int]uint64)
	for _, a := range arcs {
		if a.Caller != a.Callee {
			sums[[2]int{a.Callee, a.Caller}] += a.Count
		}
	}
	best := make([]int, len(nodes))
	most := make([]uint64, len(nodes))
	for i := range best {
		best[i] = -1
	}
	for key, count := range sums {
		callee, caller := key[0], key[1]
		if count > most[callee] || count == most[callee] && count > 0 && caller < best[callee] {
			best[callee], most[callee] = caller, count
		}
	}
	return best
}
