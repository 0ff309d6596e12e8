package report

import (
	"container/heap"

	"github.com/profuse-pgo/profuse/internal/numbering"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// maxInvertSteps limits the work of inverting a tree, counted in callers looked up. Only recursion designed for
// that purpose reaches the limit; nodes that are not reached appear smaller.
const maxInvertSteps = 100_000_000

// A cursor moves from the end of a path to the root.
type cursor struct{ at, from int32 }

type frontier []candidate

// A candidate is a node of the inverted tree that has not been taken. Its group are the
// paths that pass through it.
type candidate struct {
	share  float64
	seq    int32 // earlier ones first among equals
	node   int32
	parent int32 // in the grown tree
	group  []cursor
}

// The methods implement container/heap: the candidate with the greatest share comes first.
func (f frontier) Len() int { return len(f) }

func (f frontier) Less(i, j int) bool {
	return f[i].share > f[j].share || f[i].share == f[j].share && f[i].seq < f[j].seq
}
func (f frontier) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *frontier) Push(x any)   { *f = append(*f, x.(candidate)) }
func (f *frontier) Pop() any {
	old := *f
	last := old[len(old)-1]
	old[len(old)-1] = candidate{}
	*f = old[:len(old)-1]
	return last
}

// invert turns the tree around: below the root come the labels at which paths
// end, below these their callers. It takes up to limit nodes, by share. Nodes
// are made as they are taken, since the whole would be quadratic in the depth.
func (t *weightTree) invert(limit int) *grownTree {
	g := &grownTree{}
	in := &inverter{t: t, g: g}
	in.additive, in.other = t.columns()
	g.self = make([][]uint64, len(in.additive))
	g.total = make([][]uint64, len(in.additive))
	g.other = make([][]uint64, len(in.other))
	in.grand = make([]uint64, len(t.values))
	var all []cursor
	for n := range t.own {
		if t.own[n] >= 0 {
			all = append(all, cursor{int32(n), int32(n)})
			in.addTo(in.grand, int32(n))
		}
	}
	next := frontier{{share: 1, parent: -1, node: -1, group: all}}
	for len(next) > 0 && len(g.parent) < limit {
		c := heap.Pop(&next).(candidate)
		in.takeCandidate(&c, &next)
	}
	return g
}

type inverter struct {
	t               *weightTree
	g               *grownTree
	additive, other []column
	grand           []uint64 // of all paths, by value
	seq             int32
	steps           int
}

func (in *inverter) addTo(sums []uint64, node int32) {
	t := in.t
	for e := t.own[node]; e >= 0; e = t.entryNext[e] {
		for v := range t.values {
			if t.values[v].Combine == profile.Sum {
				sums[v] = saturate.Add(sums[v], t.entryValue[int(e)*len(t.values)+v])
			}
		}
	}
}

func (in *inverter) takeCandidate(c *candidate, next *frontier) {
	t, g, nodes := in.t, in.g, in.t.nodes
	at := int32(len(g.parent))
	g.parent, g.label = append(g.parent, c.parent), append(g.label, c.node)
	for i, col := range in.additive {
		var total, self uint64
		for _, m := range c.group {
			own := t.ends(m.from, col).value
			total = saturate.Add(total, own)
			if c.parent >= 0 && nodes[m.at].parent == 0 || m.at == 0 {
				self = saturate.Add(self, own)
			}
		}
		g.total[i], g.self[i] = append(g.total[i], total), append(g.self[i], self)
	}
	for i, col := range in.other {
		var total combined
		for _, m := range c.group {
			if own := t.ends(m.from, col); own.some {
				total.addValue(t.values[col.value].Combine, own.value)
			}
		}
		g.other[i] = append(g.other[i], total.value)
	}

	var groups numbering.Table[int32] // of found, by label
	var found []candidate
	var sums [][]uint64
	for _, m := range c.group {
		to := m.at // below the root come the ends themselves
		if c.parent >= 0 {
			to = nodes[m.at].parent
		}
		if to <= 0 {
			continue
		}
		l := nodes[to].label
		k := int(groups.Of(l))
		if k == len(found) {
			found = append(found, candidate{node: l, parent: at, seq: in.seq})
			sums = append(sums, make([]uint64, len(t.values)))
			in.seq++
		}
		found[k].group = append(found[k].group, cursor{to, m.from})
		in.addTo(sums[k], m.from)
	}
	g.kids = append(g.kids, int32(len(found)))
	in.steps += len(c.group)
	if in.steps > maxInvertSteps {
		return // the children are there, but nobody will take them
	}
	for k := range found {
		for v, grand := range in.grand {
			if grand > 0 {
				found[k].share = max(found[k].share, float64(sums[k][v])/float64(grand))
			}
		}
		heap.Push(next, found[k])
	}
}
