package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/numbering"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// A weightTree adds up values along paths of labels: call stacks from the outermost function on, or functions by
// their namespaces. Memory grows with the number of distinct paths.
//
// Values belong to a class, for example a temperature, so that a box can show
// its composition. Sums stop at 2^64-1.
type weightTree struct {
	values  []profile.ValueType
	classes int

	// Nodes; 0 is the root and has no label. Parents come before children.
	nodes []treeNode
	own   []int32 // first entry of the node, -1 if none
	// first is the first node of each label, -1 if there is none. Most labels have one node, so the
	// table of the others is small.
	first      []int32
	others     numbering.Table[treeNode]
	otherNodes []int32 // by number in others

	// Entries: what ends at a node, once for each class.
	entryClass []uint8
	entryNext  []int32
	entryValue []uint64 // len(values) for each
}

type treeNode struct{ parent, label int32 }

func newWeightTree(values []profile.ValueType, classes int) *weightTree {
	t := &weightTree{values: values, classes: max(classes, 1)}
	t.newNode(treeNode{-1, -1})
	return t
}

func (t *weightTree) expect(nodes, entries int) {
	t.nodes, t.own, t.first = slices.Grow(t.nodes, nodes), slices.Grow(t.own, nodes), slices.Grow(t.first, nodes)
	t.entryClass, t.entryNext = slices.Grow(t.entryClass, entries), slices.Grow(t.entryNext, entries)
	t.entryValue = slices.Grow(t.entryValue, entries*len(t.values))
}

func (t *weightTree) newNode(n treeNode) int32 {
	t.nodes, t.own = append(t.nodes, n), append(t.own, -1)
	return int32(len(t.nodes) - 1)
}

// child returns the child of a node with a label, and creates it if necessary. Labels count from 0.
func (t *weightTree) child(parent, label int32) int32 {
	for int(label) >= len(t.first) {
		t.first = append(t.first, -1)
	}
	key := treeNode{parent, label}
	switch first := t.first[label]; {
	case first < 0:
		t.first[label] = t.newNode(key)
		return t.first[label]
	case t.nodes[first].parent == parent:
		return first
	}
	n, fresh := t.others.Add(key)
	if fresh {
		t.otherNodes = append(t.otherNodes, t.newNode(key))
	}
	return t.otherNodes[n]
}

// addValues adds values, one for each value of the tree, where a path ends.
func (t *weightTree) addValues(node int32, class uint8, values []uint64) {
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

func (c *combined) addValue(how profile.Combine, value uint64) {
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

// columns are all additive values by class, grouped by value, and then the values that do not add up.
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

func (t *weightTree) ends(node int32, col column) (sum combined) {
	for e := t.own[node]; e >= 0; e = t.entryNext[e] {
		if col.class < 0 || int(t.entryClass[e]) == col.class {
			sum.addValue(t.values[col.value].Combine, t.entryValue[int(e)*len(t.values)+col.value])
		}
	}
	return sum
}

// totals returns for each node the sum of the values that end there or below.
func (t *weightTree) totals(col column) []uint64 {
	return t.totalsIn(make([]uint64, len(t.own)), col)
}

func (t *weightTree) totalsIn(totals []uint64, col column) []uint64 {
	how, nodes := t.values[col.value].Combine, t.nodes
	clear(totals)
	if how == profile.Sum {
		for n := len(totals) - 1; n >= 0; n-- {
			totals[n] = saturate.Add(totals[n], t.ends(int32(n), col).value)
			if p := nodes[n].parent; p >= 0 {
				totals[p] = saturate.Add(totals[p], totals[n])
			}
		}
		return totals
	}
	sums := make([]combined, len(totals))
	for n := len(totals) - 1; n >= 0; n-- {
		if own := t.ends(int32(n), col); own.some {
			sums[n].addValue(how, own.value)
		}
		if p := nodes[n].parent; p >= 0 && sums[n].some {
			sums[p].addValue(how, sums[n].value)
		}
		totals[n] = sums[n].value
	}
	return totals
}

// shares returns the greatest share that each node has of any additive value: no child has more than its parent.
func (t *weightTree) shares() []float64 {
	shares, totals := make([]float64, len(t.own)), make([]uint64, len(t.own))
	for v := range t.values {
		if t.values[v].Combine != profile.Sum {
			continue
		}
		t.totalsIn(totals, column{v, -1})
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
	totals, nodes := t.totals(column{value, -1}), t.nodes
	first, next := make([]int32, len(t.own)), make([]int32, len(t.own)) // children, as a list; 0 for none
	for n := 1; n < len(t.own); n++ {
		p := nodes[n].parent
		first[p], next[n] = int32(n), first[p]
	}
	on := make([]int32, labels) // nodes of the label on the way here
	for n := first[0]; n > 0; {
		l := nodes[n].label
		if on[l] == 0 {
			total[l] = saturate.Add(total[l], totals[n])
		}
		self[l] = saturate.Add(self[l], t.ends(n, column{value, -1}).value)
		if first[n] > 0 {
			on[l]++
			n = first[n]
			continue
		}
		for n > 0 && next[n] == 0 {
			n = nodes[n].parent
			if n > 0 {
				on[nodes[n].label]--
			}
		}
		if n > 0 {
			n = next[n]
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
			kept[p]++
			if kept[p] == g.kids[p] {
				boxes--
			}
		}
		sizes[i+1] = boxes
	}
	return sizes
}

func (g *grownTree) cut(n int) {
	g.parent, g.label, g.kids = g.parent[:n], g.label[:n], g.kids[:n]
	for _, columns := range [][][]uint64{g.self, g.total, g.other} {
		for i := range columns {
			columns[i] = columns[i][:n]
		}
	}
}

// shareOut cuts trees so that they have at most limit boxes together. It cuts the larger trees first.
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

// heaviest returns up to limit nodes by descending share; nodes with equal shares keep their order.
func (t *weightTree) heaviest(limit int) []int32 {
	shares := t.shares()
	// Sort only the nodes with the greatest leading bits of the share, as many as reach the limit: most
	// nodes are small.
	leading := func(n int) int { return int(math.Float64bits(shares[n]) >> 48) }
	var number [1 << 16]int
	for n := range shares {
		number[leading(n)]++
	}
	least, some := len(number)-1, 0
	for ; least > 0 && some+number[least] < limit; least-- {
		some += number[least]
	}
	order := make([]int32, 0, some+number[least])
	for n := range shares {
		if leading(n) >= least {
			order = append(order, int32(n))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(shares[b], shares[a]), cmp.Compare(a, b)) })
	return slices.Clone(order[:min(limit, len(order))])
}

// grow takes the heaviest nodes, up to limit. No node has a greater share than its parent, so parents
// come before their children.
func (t *weightTree) grow(limit int) *grownTree {
	order, nodes := t.heaviest(limit), t.nodes
	within := make([]int32, len(t.own)) // the taken node that has the values of each
	for n := range within {
		within[n] = -1
	}
	for at, node := range order {
		within[node] = int32(at)
	}
	for n := range within {
		if within[n] < 0 {
			within[n] = within[nodes[n].parent]
		}
	}
	g := &grownTree{kids: make([]int32, len(order))}
	for _, node := range order {
		parent := nodes[node].parent
		if parent >= 0 {
			parent = within[parent]
		}
		g.parent, g.label = append(g.parent, parent), append(g.label, nodes[node].label)
	}
	for n := 1; n < len(t.own); n++ {
		if p := within[nodes[n].parent]; order[p] == nodes[n].parent {
			g.kids[p]++
		}
	}
	additive, other := t.columns()
	for _, col := range additive {
		self, total := make([]uint64, len(order)), make([]uint64, len(order))
		for at, node := range order {
			self[at] = t.ends(node, col).value
		}
		for n, at := range within {
			total[at] = saturate.Add(total[at], t.ends(int32(n), col).value)
		}
		for at := len(order) - 1; at > 0; at-- {
			total[g.parent[at]] = saturate.Add(total[g.parent[at]], total[at])
		}
		g.self, g.total = append(g.self, self), append(g.total, total)
	}
	for _, col := range other {
		totals, own := t.totals(col), make([]uint64, len(order))
		for at, node := range order {
			own[at] = totals[node]
		}
		g.other = append(g.other, own)
	}
	return g
}

func (t *weightTree) whole(value int) uint64 {
	var sum combined
	for e := range t.entryClass {
		sum.addValue(t.values[value].Combine, t.entryValue[e*len(t.values)+value])
	}
	return sum.value
}
