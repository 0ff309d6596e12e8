package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// A staticTree is a tree of weights as a table, which pages with drawings show without
// scripts: its heaviest nodes, each above its children.
type staticTree struct {
	Value, All string
	Others     []string // what else the page shows with scripts
	Extra      string   // title of a further column
	Rows       []treeRow
	More       uint64 // nodes that are lighter
}

// A treeValue is one of the values of a tree.
type treeValue struct {
	*treeData
	values         []flameValue
	value, classes int
}

type treeRow struct {
	Indent, Name         string
	Weight, Share, Extra string
}

// newStaticTree makes the table of a value of a tree. name and extra return the texts of a
// node; self is the share of the node itself.
func newStaticTree(w treeValue, name func(node int32) string, extra func(node int32, self float64) string) *staticTree {
	total, self, _ := w.weights(w.value, w.classes)
	text := func(x float64) string {
		if x >= 1<<63 {
			return fmt.Sprintf("%.3g", x)
		}
		return valueText(uint64(x), w.values[w.value].Unit)
	}
	t := &staticTree{Value: w.values[w.value].Name, All: text(total[0])}
	for v := range w.values {
		if v != w.value {
			t.Others = append(t.Others, w.values[v].Name)
		}
	}
	var order []int32
	for node := int32(1); int(node) < len(total); node++ {
		if total[node] > 0 {
			order = append(order, node)
		}
	}
	// Nodes come after their parents, which are at least as heavy.
	heaviestFirst := func(a, b int32) int { return cmp.Compare(total[b], total[a]) }
	slices.SortStableFunc(order, heaviestFirst)
	shown := make([]bool, len(total))
	for _, node := range order[:min(len(order), maxStaticRows)] {
		shown[node] = true
	}
	t.More = uint64(max(0, len(order)-maxStaticRows))
	kids := w.children()
	var add func(node int32)
	add = func(node int32) {
		slices.SortStableFunc(kids[node], heaviestFirst)
		for _, k := range kids[node] {
			if !shown[k] {
				continue
			}
			indent := strings.Repeat("\u2003", min(int(w.Depth[k])-1, 40))
			t.Rows = append(t.Rows, treeRow{indent, name(k), text(total[k]), percentText(total[k] / total[0]), extra(k, self[k]/total[0])})
			add(k)
		}
	}
	add(0)
	return t
}

func staticFlame(src *source, sets []*flameSet) (template.HTML, error) {
	set := sets[0]
	value := slices.IndexFunc(set.All, func(all uint64) bool { return all > 0 })
	t := newStaticTree(treeValue{set.Down, set.Values, value, len(set.Classes)},
		func(node int32) string { return src.names.Keys[set.Functions.Name[set.Down.Label[node]]] },
		func(_ int32, self float64) string { return percentText(self) })
	t.Extra = "Itself"
	for _, other := range sets[1:] {
		t.Others = append(t.Others, other.Name)
	}
	return execute("static-tree", t)
}

func staticTreemap(src *source, d *treemapData) (template.HTML, error) {
	var byClass [][]float64
	for c := range d.Classes {
		total, _, _ := d.Tree.weights(d.First*len(d.Classes)+c, 1)
		byClass = append(byClass, total)
	}
	t := newStaticTree(treeValue{d.Tree, d.Values, d.First, len(d.Classes)},
		func(node int32) string { return src.names.Keys[d.Labels.Name[d.Tree.Label[node]]] },
		func(node int32, _ float64) string {
			main := 0
			for c := range byClass {
				if byClass[c][node] > byClass[main][node] {
					main = c
				}
			}
			return d.Classes[main]
		})
	t.Extra = "Mostly"
	return execute("static-tree", t)
}
