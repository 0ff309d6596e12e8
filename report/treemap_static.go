package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The treemap that is read without scripts, in pixels.
const (
	treemapHeight  = 640
	treemapHeader  = 16
	treemapLevels  = 4
	treemapBoxes   = 700
	treemapSmall   = 8.0 // boxes with shorter sides on average are joined
	treemapOpening = 48.0
)

// A staticTreemapPage is what assets/treemap.tmpl is executed with.
type staticTreemapPage struct {
	Value, All string
	Counts     bool
	Height     int
	Boxes      []staticArea
	Legend     []staticHeat
	Others     []string
}

// A staticHeat is a line of the legend.
type staticHeat struct{ Heat, Share string }

type staticArea struct {
	X, Y, W, H   string
	Class, Title string
	Text         string
	TextX, TextY string
	Header       bool
}

// staticTreemap draws the outer levels of the first value.
func staticTreemap(src *source, d *treemapData) staticTreemapPage {
	value := d.First
	t := treemapDrawing{
		src: src, d: d, kids: d.Tree.children(), page: &staticTreemapPage{
			Value: d.Values[value].Name, All: valueText(d.All[value], d.Values[value].Unit), Counts: d.Counts, Height: treemapHeight,
		},
	}
	t.total, t.self, t.rest = d.Tree.weights(value, len(d.Classes))
	for c := range d.Classes {
		sums := d.Tree.classTotals(value, c, len(d.Classes))
		t.byClass = append(t.byClass, sums)
		if sums[0] > 0 {
			t.page.Legend = append(t.page.Legend, staticHeat{d.Classes[c], percentText(sums[0] / t.total[0])})
		}
	}
	for v := range d.Values {
		if v != value {
			t.page.Others = append(t.page.Others, d.Values[v].Name)
		}
	}
	t.inside(0, rect{0, 0, staticWidth, treemapHeight}, 0)
	return *t.page
}

// classTotals returns what each node has of one class of a value.
func (d *treeData) classTotals(value, class, classes int) []float64 {
	sums := make([]float64, len(d.Depth))
	self, rest := d.Self[value*classes+class], d.Rest[value*classes+class]
	parents := d.parents()
	for i := len(sums) - 1; i >= 0; i-- {
		sums[i] += float64(at(self, i)) + float64(at(rest, i))
		if i > 0 {
			sums[parents[i]] += sums[i]
		}
	}
	return sums
}

type treemapDrawing struct {
	src               *source
	d                 *treemapData
	kids              [][]int32
	total, self, rest []float64
	byClass           [][]float64
	page              *staticTreemapPage
}

// A part is what a box is divided into: a child, or what is left out.
type part struct {
	node   int32 // -1 for what is left out
	weight float64
	left   int
	heats  []float64 // of what is left out, by class
}

// inside draws what a node consists of.
func (t *treemapDrawing) inside(node int32, r rect, depth int) {
	perPixel := t.total[node] / (r.w * r.h)
	left := part{node: -1, weight: t.rest[node], left: int(t.d.Tree.Left[node]), heats: make([]float64, len(t.byClass))}
	for c := range t.byClass {
		left.heats[c] = float64(at(t.d.Tree.Rest[t.d.First*len(t.byClass)+c], int(node)))
	}
	var parts []part
	for _, k := range t.kids[node] {
		if t.total[k] < treemapSmall*treemapSmall*perPixel {
			left.weight += t.total[k]
			left.left++
			for c := range t.byClass {
				left.heats[c] += t.byClass[c][k]
			}
			continue
		}
		parts = append(parts, part{node: k, weight: t.total[k]})
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.weight, a.weight) })
	if left.weight > 0 {
		last := len(parts)
		for last > 0 && parts[last-1].weight < left.weight {
			last--
		}
		parts = slices.Insert(parts, last, left)
	}
	weights := make([]float64, len(parts))
	for i := range parts {
		weights[i] = parts[i].weight
	}
	for i, r := range squarify(weights, r) {
		switch {
		case len(t.page.Boxes) >= treemapBoxes || r.w < 1 || r.h < 1:
		case parts[i].node < 0:
			t.leftOut(parts[i], r)
		default:
			t.box(parts[i].node, r, depth+1)
		}
	}
}

func (t *treemapDrawing) box(node int32, r rect, depth int) {
	name := t.name(node)
	// Groups in which there is nothing else but one other group are one box.
	for len(t.kids[node]) == 1 && t.self[node] == 0 && t.rest[node] == 0 && t.d.Labels.Full[t.d.Tree.Label[t.kids[node][0]]] < 0 {
		node = t.kids[node][0]
		name = joinPath(name, t.name(node), t.d.Separator)
	}
	area := t.area(r, name, t.total[node], t.class(node))
	if len(t.kids[node]) == 0 && t.rest[node] == 0 || depth >= treemapLevels || r.w < treemapOpening || r.h < treemapOpening {
		t.page.Boxes = append(t.page.Boxes, area)
		return
	}
	area.Class, area.Header = "group", true
	t.page.Boxes = append(t.page.Boxes, area)
	t.inside(node, rect{r.x + 2, r.y + treemapHeader, r.w - 4, r.h - treemapHeader - 2}, depth)
}

// joinPath joins parts of a name; folders end with a slash already.
func joinPath(a, b, separator string) string {
	if strings.HasSuffix(a, "/") {
		return a + b
	}
	return a + separator + b
}

func (t *treemapDrawing) leftOut(p part, r rect) {
	text := fmt.Sprintf("(%s smaller)", countText(uint64(p.left)))
	t.page.Boxes = append(t.page.Boxes, t.area(r, text, p.weight, "rest "+t.classOf(func(c int) float64 { return p.heats[c] })))
}

func (t *treemapDrawing) name(node int32) string {
	return t.src.names.list[t.d.Labels.Name[t.d.Tree.Label[node]]]
}

// class returns the fill of a node: what most of it is.
func (t *treemapDrawing) class(node int32) string {
	return t.classOf(func(c int) float64 { return t.byClass[c][node] })
}

func (t *treemapDrawing) classOf(weight func(class int) float64) string {
	best := 0
	for c := range t.byClass {
		if weight(c) > weight(best) {
			best = c
		}
	}
	return "fill-" + t.d.Classes[best]
}

func (t *treemapDrawing) area(r rect, name string, weight float64, class string) staticArea {
	unit := t.d.Values[t.d.First].Unit
	title := fmt.Sprintf("%s\n%.3g (%s)", name, weight, percentText(weight/t.total[0]))
	if weight < 1<<63 {
		title = fmt.Sprintf("%s\n%s (%s)", name, valueText(uint64(weight), unit), percentText(weight/t.total[0]))
	}
	a := staticArea{
		X: pixels(r.x), Y: pixels(r.y), W: pixels(max(0, r.w-1)), H: pixels(max(0, r.h-1)), Class: class, Title: title,
		TextX: pixels(r.x + 3), TextY: pixels(r.y + 12),
	}
	if r.h >= 15 {
		a.Text = fit(name, r.w-6)
	}
	return a
}
