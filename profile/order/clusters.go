package order

import (
	"cmp"
	"slices"
)

type callNode struct {
	Name  string
	Size  uint64 // of its code in bytes; 0 if unknown
	Count uint64 // number of calls, or another measure of hotness
}

// A callArc counts the calls from a caller to a callee, both indexes of nodes.
type callArc struct {
	Caller, Callee int
	Count          uint64
}

const (
	maxCluster  = 2 << 20 // bounds the size of a cluster in bytes to one entry of the instruction TLB
	maxThinning = 8       // the factor by which a cluster's density may drop when another is appended
	unknownSize = 64      // the size, in bytes, assumed for functions of unknown size
)

// clusterOrder returns indexes of nodes in the order of C3. From the hottest function down, it appends
// the function's cluster to the cluster of its most frequent caller, unless the result would exceed
// maxCluster or lose too much density. Then it sorts the clusters by density. It omits functions that
// were never called. Ties keep their order.
func clusterOrder(nodes []callNode, arcs []callArc) []int {
	callers := heaviestCallers(nodes, arcs)
	clusters := make([]*cluster, len(nodes))
	var hot []int
	for i, n := range nodes {
		if n.Count > 0 {
			clusters[i] = &cluster{members: []int{i}, size: cmp.Or(n.Size, unknownSize), count: float64(n.Count)}
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
	// Visit each cluster at its hottest member.
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

type cluster struct {
	members []int
	size    uint64
	count   float64
	listed  bool
}

func (c *cluster) density() float64 { return c.count / float64(c.size) }

// heaviestCallers returns the most frequent caller of each node other than itself, or -1.
func heaviestCallers(nodes []callNode, arcs []callArc) []int {
	sums := make(map[[2]int]uint64)
	for _, a := range arcs {
		if a.Caller != a.Callee {
			sums[[2]int{a.Callee, a.Caller}] += a.Count
		}
	}
	best := slices.Repeat([]int{-1}, len(nodes))
	most := make([]uint64, len(nodes))
	for key, count := range sums {
		callee, caller := key[0], key[1]
		if count > most[callee] || count == most[callee] && count > 0 && caller < best[callee] {
			best[callee], most[callee] = caller, count
		}
	}
	return best
}
