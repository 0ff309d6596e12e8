package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The sizes of the treemap without scripts, in pixels.
const (
	treemapHeight  = 640
	treemapHeader  = 16
	treemapLevels  = 4
	treemapBoxes   = 700
	treemapParts   = 200 // of one box
	treemapSmall   = 8.0 // boxes with shorter sides on average are joined
	treemapOpening = 48.0
)

// A staticTreemapPage is the data of assets/treemap.tmpl.
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
		sums, _, _ := d.Tree.weights(value*len(d.Classes)+c, 1)
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
	t.open(closedBox{r: rect{0, 0, staticWidth, treemapHeight}, at: -1})
	// Level by level, so that all groups are visible before their content.
	for len(t.closed) > 0 {
		next := t.closed[0]
		t.closed = t.closed[1:]
		t.open(next)
	}
	return *t.page
}

type treemapDrawing struct {
	src               *source
	d                 *treemapData
	kids              [][]int32
	total, self, rest []float64
	byClass           [][]float64
	page              *staticTreemapPage
	closed            []closedBox // groups that are to be drawn in parts
}

// A closedBox is a group that is still drawn as one box.
type closedBox struct {
	node  int32
	r     rect
	depth int
	at    int // among the page's boxes; -1 for the whole
}

// A part is one of the parts that a box is divided into: a child, or all
// left-out children.
type part struct {
	node   int32 // -1 for what is left out
	weight float64
	left   int
	heats  []float64 // of what is left out, by class
}

// open draws the parts of a group if there is room for all of them.
func (t *treemapDrawing) open(c closedBox) {
	inner := c.r
	if c.at >= 0 {
		inner = rect{c.r.x + 2, c.r.y + treemapHeader, c.r.w - 4, c.r.h - treemapHeader - 2}
	}
	parts := t.parts(c.node, inner)
	if len(t.page.Boxes)+len(parts) > treemapBoxes {
		return
	}
	if c.at >= 0 {
		t.page.Boxes[c.at].Class, t.page.Boxes[c.at].Header = "group", true
	}
	weights := make([]float64, len(parts))
	for i := range parts {
		weights[i] = parts[i].weight
	}
	for i, r := range squarify(weights, inner) {
		switch {
		case r.w < 1 || r.h < 1:
		case parts[i].node < 0:
			t.leftOut(parts[i], r)
		default:
			t.box(parts[i].node, r, c.depth+1)
		}
	}
}

// parts returns the parts of a node, the heaviest first. Those that would be
// too small to see form one part.
func (t *treemapDrawing) parts(node int32, r rect) []part {
	perPixel := t.total[node] / (r.w * r.h)
	left := part{node: -1, weight: t.rest[node], left: int(t.d.Tree.Left[node]), heats: make([]float64, len(t.byClass))}
	for c := range t.byClass {
		left.heats[c] = float64(at(t.d.Tree.Rest[t.d.First*len(t.byClass)+c], int(node)))
	}
	kids := slices.Clone(t.kids[node])
	slices.SortStableFunc(kids, func(a, b int32) int { return cmp.Compare(t.total[b], t.total[a]) })
	var parts []part
	for _, k := range kids {
		if t.total[k] >= treemapSmall*treemapSmall*perPixel && len(parts) < treemapParts-1 {
			parts = append(parts, part{node: k, weight: t.total[k]})
			continue
		}
		left.weight += t.total[k]
		left.left++
		for c := range t.byClass {
			left.heats[c] += t.byClass[c][k]
		}
	}
	if left.weight > 0 {
		parts = append(parts, left)
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.weight, a.weight) })
	return parts
}

func (t *treemapDrawing) box(node int32, r rect, depth int) {
	name := t.name(node)
	// A group whose only content is another group shares one box with it.
	for len(t.kids[node]) == 1 && t.self[node] == 0 && t.rest[node] == 0 && t.d.Labels.Full[t.d.Tree.Label[t.kids[node][0]]] < 0 {
		node = t.kids[node][0]
		name = joinPath(name, t.name(node), t.d.Separator)
	}
	t.page.Boxes = append(t.page.Boxes, t.area(r, name, t.total[node], t.class(node)))
	group := len(t.kids[node]) > 0 || t.rest[node] > 0
	if group && depth < treemapLevels && r.w >= treemapOpening && r.h >= treemapOpening {
		t.closed = append(t.closed, closedBox{node, r, depth, len(t.page.Boxes) - 1})
	}
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

// class returns the fill of a node: the class that most of it belongs to.
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
		X: hundredthsText(r.x), Y: hundredthsText(r.y), W: hundredthsText(max(0, r.w-1)), H: hundredthsText(max(0, r.h-1)), Class: class, Title: title,
		TextX: hundredthsText(r.x + 3), TextY: hundredthsText(r.y + 12),
	}
	if r.h >= 15 {
		a.Text = fit(name, r.w-6)
	}
	return a
}
