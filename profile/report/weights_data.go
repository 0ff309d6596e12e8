package report

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

// treeData is a tree in the form of the page's data: columns over nodes, a node
// before its children, the heavier children first.
type treeData struct {
	Depth []int32 `json:"depth"` // 0 for the root
	Label []int32 `json:"label"` // -1 for the root
	Left  []int32 `json:"left"`  // the number of left-out children of the node
	// Self is the weight that ends at the node, Rest the weight of the left-out children: by value and, within, by
	// class. The total of a node is the sum of both and of its children's totals. A column of zeros is empty.
	Self [][]uint64 `json:"self"`
	Rest [][]uint64 `json:"rest"`
	// Other has a column for each value that does not add up: its combination over the node and all nodes below.
	Other [][]uint64 `json:"other"`
}

// arrange brings a tree into the order of the page. Children are in the order
// of the first value, then of their names.
func (g *grownTree) arrange(classes int, name func(label int32) string) *treeData {
	n := len(g.parent)
	first := make([]uint64, n)
	for c := 0; c < classes && c < len(g.total); c++ {
		for i := range first {
			first[i] = saturate.Add(first[i], g.total[c][i])
		}
	}
	kids := make([][]int32, n)
	for i := 1; i < n; i++ {
		kids[g.parent[i]] = append(kids[g.parent[i]], int32(i))
	}
	for _, k := range kids {
		slices.SortStableFunc(k, func(a, b int32) int {
			return cmp.Or(cmp.Compare(first[b], first[a]), strings.Compare(name(g.label[a]), name(g.label[b])))
		})
	}
	d := &treeData{Self: [][]uint64{}, Rest: [][]uint64{}, Other: [][]uint64{}}
	order := make([]int32, 0, n)
	depth := make([]int32, n)
	stack := []int32{0}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		order = append(order, at)
		if p := g.parent[at]; p >= 0 {
			depth[at] = depth[p] + 1
		}
		d.Depth, d.Label = append(d.Depth, depth[at]), append(d.Label, g.label[at])
		d.Left = append(d.Left, g.kids[at]-int32(len(kids[at])))
		for _, k := range slices.Backward(kids[at]) {
			stack = append(stack, k)
		}
	}
	column := func(from func(int32) uint64) []uint64 {
		out := make([]uint64, n)
		any := false
		for i, at := range order {
			out[i] = from(at)
			any = any || out[i] != 0
		}
		if !any {
			return []uint64{}
		}
		return out
	}
	for c := range g.total {
		rest := slices.Clone(g.total[c])
		for i := range rest {
			rest[i] -= min(rest[i], g.self[c][i])
		}
		for i := 1; i < n; i++ {
			p := g.parent[i]
			rest[p] -= min(rest[p], g.total[c][i]) // less only where a sum has stopped
		}
		d.Self = append(d.Self, column(func(at int32) uint64 { return g.self[c][at] }))
		d.Rest = append(d.Rest, column(func(at int32) uint64 { return rest[at] }))
	}
	for c := range g.other {
		d.Other = append(d.Other, column(func(at int32) uint64 { return g.other[c][at] }))
	}
	return d
}

func at(column []uint64, i int) uint64 {
	if len(column) == 0 {
		return 0
	}
	return column[i]
}

// weights returns the weights of a value at each node, for all classes together: in total, at the node itself, and
// in left-out children. Floating-point numbers do not overflow.
func (d *treeData) weights(value, classes int) (total, self, rest []float64) {
	n := len(d.Depth)
	total, self, rest = make([]float64, n), make([]float64, n), make([]float64, n)
	parents := d.parents()
	for i := n - 1; i >= 0; i-- {
		for c := value * classes; c < (value+1)*classes; c++ {
			self[i] += float64(at(d.Self[c], i))
			rest[i] += float64(at(d.Rest[c], i))
		}
		total[i] += self[i] + rest[i]
		if i > 0 {
			total[parents[i]] += total[i]
		}
	}
	return total, self, rest
}

func (d *treeData) parents() []int32 {
	parents := make([]int32, len(d.Depth))
	var path []int32
	for i, depth := range d.Depth {
		parents[i] = -1
		path = append(path[:depth], int32(i))
		if depth > 0 {
			parents[i] = path[depth-1]
		}
	}
	return parents
}

func (d *treeData) children() [][]int32 {
	kids := make([][]int32, len(d.Depth))
	for i, p := range d.parents() {
		if p >= 0 {
			kids[p] = append(kids[p], int32(i))
		}
	}
	return kids
}

// colourOf returns one of ten colours for a name, the same one in every report.
func colourOf(name string) int {
	h := fnv.New32a()
	h.Write([]byte(name))
	sum := h.Sum32()
	return int((sum ^ sum>>16) % 10)
}
