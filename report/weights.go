package report

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// A weightTree adds up values along paths of labels: call stacks from the
// outermost function on, or functions by their namespaces. Memory grows with
// the number of distinct paths.
//
// Values belong to a class, for example a temperature, so that a box can show
// its composition. Sums stop at 2^64-1.
type weightTree struct {
	values  []profile.ValueType
	classes int

	// Nodes; 0 is the root and has no label. Parents come before children.
	parent, label []int32
	first, next   []int32 // children, as a list
	kids          []int32
	own           []int32 // first entry of the node, -1 if none
	child         map[edgeKey]int32

	// Entries: what ends at a node, once for each class.
	entryClass []uint8
	entryNext  []int32
	entryValue []uint64 // len(values) for each
}

type edgeKey struct{ parent, label int32 }

func newWeightTree(values []profile.ValueType, classes int) *weightTree {
	t := &weightTree{values: values, classes: max(classes, 1), child: make(map[edgeKey]int32)}
	t.node(-1, -1)
	return t
}

func (t *weightTree) node(parent, label int32) int32 {
	n := int32(len(t.parent))
	t.parent, t.label = append(t.parent, parent), append(t.label, label)
	t.first, t.next = append(t.first, -1), append(t.next, -1)
	t.kids, t.own = append(t.kids, 0), append(t.own, -1)
	if parent >= 0 {
		t.next[n] = t.first[parent]
		t.first[parent] = n
		t.kids[parent]++
	}
	return n
}

// down returns the child of a node and creates it if necessary.
func (t *weightTree) down(parent, label int32) int32 {
	key := edgeKey{parent, label}
	n, ok := t.child[key]
	if !ok {
		n = t.node(parent, label)
		t.child[key] = n
	}
	return n
}

// add counts values, one for each of the tree's, where a path ends.
func (t *weightTree) add(node int32, class uint8, values []uint64) {
	for e := t.own[node]; e >= 0; e = t.entryNext[e] {
		if t.entryClass[e] != class {
			continue
		}
		at := t.entryValue[int(e)*len(t.values):]
		for i := range t.values {
			at[i] = combine(t.values[i].Combine, at[i], values[i])
		}
		return
	}
	t.entryClass, t.entryNext = append(t.entryClass, class), append(t.entryNext, t.own[node])
	t.entryValue = append(t.entryValue, values[:len(t.values)]...)
	t.own[node] = int32(len(t.entryClass) - 1)
}

// A combined is the combination of values of one type, if there are any.
type combined struct {
	value uint64
	some  bool
}

func (c *combined) add(how profile.Combine, value uint64) {
	if c.some {
		value = combine(how, c.value, value)
	}
	c.value, c.some = value, true
}

func combine(how profile.Combine, a, b uint64) uint64 {
	switch how {
	case profile.Min:
		return min(a, b)
	case profile.Max:
		return max(a, b)
	}
	return saturate.Add(a, b)
}

// A column is one value, of one class or of all classes.
type column struct {
	value int
	class int // -1: all
}

// columns are all additive values by class, grouped by value, and then the
// values that do not add up.
func (t *weightTree) columns() (additive, other []column) {
	for v := range t.values {
		if t.values[v].Combine != profile.Sum {
			other = append(other, column{v, -1})
			continue
		}
		for c := range t.classes {
			additive = append(additive, column{v, c})
		}
	}
	return additive, other
}

// ends returns the values that end at a node.
func (t *weightTree) ends(node int32, col column) (sum combined) {
	for e := t.own[node]; e >= 0; e = t.entryNext[e] {
		if col.class < 0 || int(t.entryClass[e]) == col.class {
			sum.add(t.values[col.value].Combine, t.entryValue[int(e)*len(t.values)+col.value])
		}
	}
	return sum
}

// totals returns for each node the sum of the values that end there or below.
func (t *weightTree) totals(col column) []uint64 {
	how := t.values[col.value].Combine
	sums := make([]combined, len(t.parent))
	totals := make([]uint64, len(t.parent))
	for n := len(totals) - 1; n >= 0; n-- {
		if own := t.ends(int32(n), col); own.some {
			sums[n].add(how, own.value)
		}
		if p := t.parent[n]; p >= 0 && sums[n].some {
			sums[p].add(how, sums[n].value)
		}
		totals[n] = sums[n].value
	}
	return totals
}

// shares returns the greatest share that each node has of any additive value:
// no child has more than its parent.
func (t *weightTree) shares() []float64 {
	shares := make([]float64, len(t.parent))
	for v := range t.values {
		if t.values[v].Combine != profile.Sum {
			continue
		}
		totals := t.totals(column{v, -1})
		if totals[0] == 0 {
			continue
		}
		for n := range totals {
			shares[n] = max(shares[n], float64(totals[n])/float64(totals[0]))
		}
	}
	return shares
}

// labelTotals returns by label what was counted below nodes of that label, each
// path once even if it passes the label several times, and what ended there.
func (t *weightTree) labelTotals(labels int, value int) (total, self []uint64) {
	total, self = make([]uint64, labels), make([]uint64, labels)
	totals := t.totals(column{value, -1})
	on := make([]int32, labels) // nodes of the label on the way here
	for n := t.first[0]; n > 0; {
		l := t.label[n]
		if on[l] == 0 {
			total[l] = saturate.Add(total[l], totals[n])
		}
		self[l] = saturate.Add(self[l], t.ends(n, column{value, -1}).value)
		if t.first[n] >= 0 {
			on[l]++
			n = t.first[n]
			continue
		}
		for n > 0 && t.next[n] < 0 {
			if n = t.parent[n]; n > 0 {
				on[t.label[n]]--
			}
		}
		if n > 0 {
			n = t.next[n]
		}
	}
	return total, self
}

// A grownTree is the heaviest part of a tree: its nodes in the order of their
// weight, parents before children, so that every prefix is a tree.
type grownTree struct {
	parent []int32
	label  []int32
	kids   []int32 // children in the whole tree
	// By column, as columns returns them.
	self  [][]uint64
	total [][]uint64
	other [][]uint64 // of the node and all below
}

// sizes returns, by n, the number of boxes for the first n nodes and for their
// left-out children. It grows with n up to the number of nodes.
func (g *grownTree) sizes() []int {
	sizes := make([]int, len(g.parent)+1)
	kept := make([]int32, len(g.parent))
	boxes := 0
	for i, p := range g.parent {
		boxes++
		if g.kids[i] > 0 {
			boxes++ // all its children are left out yet
		}
		if p >= 0 {
			if kept[p]++; kept[p] == g.kids[p] {
				boxes--
			}
		}
		sizes[i+1] = boxes
	}
	return sizes
}

// cut keeps the first n nodes.
func (g *grownTree) cut(n int) {
	g.parent, g.label, g.kids = g.parent[:n], g.label[:n], g.kids[:n]
	for _, columns := range [][][]uint64{g.self, g.total, g.other} {
		for i := range columns {
			columns[i] = columns[i][:n]
		}
	}
}

// shareOut cuts trees so that they have at most limit boxes together. It cuts
// the larger trees first.
func shareOut(trees []*grownTree, limit int) {
	order := slices.Clone(trees)
	slices.SortStableFunc(order, func(a, b *grownTree) int { return cmp.Compare(len(a.parent), len(b.parent)) })
	for i, g := range order {
		part := limit / (len(order) - i)
		sizes := g.sizes()
		n := len(g.parent)
		for n > 1 && sizes[n] > part {
			n--
		}
		g.cut(n)
		limit -= sizes[n]
	}
}

// frontier is a heap of the nodes that may come next.
type frontier []candidate

type candidate struct {
	share  float64
	seq    int32 // earlier ones first among equals
	node   int32
	parent int32 // in the grown tree
	group  []cursor
}

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

// grow takes up to limit nodes, by share.
func (t *weightTree) grow(limit int) *grownTree {
	g := &grownTree{}
	shares := t.shares()
	var taken []int32
	next := frontier{{share: shares[0], parent: -1}}
	for len(next) > 0 && len(taken) < limit {
		c := heap.Pop(&next).(candidate)
		at := int32(len(taken))
		taken = append(taken, c.node)
		g.parent, g.label, g.kids = append(g.parent, c.parent), append(g.label, t.label[c.node]), append(g.kids, t.kids[c.node])
		for n := t.first[c.node]; n >= 0; n = t.next[n] {
			heap.Push(&next, candidate{share: shares[n], seq: n, node: n, parent: at})
		}
	}
	additive, other := t.columns()
	pick := func(from func(int32) uint64) []uint64 {
		out := make([]uint64, len(taken))
		for i, n := range taken {
			out[i] = from(n)
		}
		return out
	}
	for _, col := range additive {
		totals := t.totals(col)
		g.total = append(g.total, pick(func(n int32) uint64 { return totals[n] }))
		g.self = append(g.self, pick(func(n int32) uint64 { return t.ends(n, col).value }))
	}
	for _, col := range other {
		totals := t.totals(col)
		g.other = append(g.other, pick(func(n int32) uint64 { return totals[n] }))
	}
	return g
}
