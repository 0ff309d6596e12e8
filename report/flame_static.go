package report

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/profile"
)

// The sizes of the flame graph without scripts, in pixels.
const (
	staticWidth  = 1200
	staticRow    = 18
	staticLevels = 30
	staticLeast  = 3.0 // narrower boxes are left out
	// monoWidth is the width of a character of 11 pixels.
	monoWidth = 6.65
)

// A staticFlamePage is the data of assets/flame.tmpl.
type staticFlamePage struct {
	About  string
	Value  string
	All    string
	Chain  []string // callers that all stacks have in common and that are left out
	Height int
	Boxes  []staticBox
	Others []string
}

type staticBox struct {
	X, Y, W string
	Class   string
	Title   string
	Text    string
	TextX   string
	TextY   int
}

// staticFlame draws the first value of the first set, with the root at the
// bottom.
func staticFlame(src *source, sets []*flameSet) staticFlamePage {
	set := sets[0]
	value := slices.IndexFunc(set.All, func(all uint64) bool { return all > 0 })
	p := staticFlamePage{
		About: set.About, Value: set.Values[value].Name, All: valueText(set.All[value], set.Values[value].Unit),
	}
	for _, other := range sets[1:] {
		p.Others = append(p.Others, other.Name)
	}
	for v, other := range set.Values {
		if v != value {
			p.Others = append(p.Others, other.Name)
		}
	}
	f := flameDrawing{src: src, set: set, unit: set.Values[value].Unit, kids: set.Down.children()}
	f.total, f.self, f.rest = set.Down.weights(value, len(set.Classes))
	root := int32(0)
	for f.self[root] == 0 && f.rest[root] == 0 && len(f.kids[root]) == 1 {
		root = f.kids[root][0]
		p.Chain = append(p.Chain, f.short(root))
	}
	if len(p.Chain) > 3 {
		p.Chain = p.Chain[:len(p.Chain)-1]
	} else {
		root, p.Chain = 0, nil
	}
	if n := len(p.Chain); n > 8 {
		p.Chain = slices.Concat(p.Chain[:3], []string{fmt.Sprintf("%d more", n-6)}, p.Chain[n-3:])
	}
	f.box(root, 0, 0, staticWidth)
	p.Height = (f.deepest + 1) * staticRow
	for i := range f.boxes {
		b := &f.boxes[i]
		y := p.Height - (b.depth+1)*staticRow
		b.Y, b.TextY = fmt.Sprint(y), y+13
		p.Boxes = append(p.Boxes, b.staticBox)
	}
	return p
}

// A flameDrawing collects the boxes of a tree.
type flameDrawing struct {
	src               *source
	set               *flameSet
	unit              profile.Unit
	kids              [][]int32
	total, self, rest []float64
	boxes             []drawnBox
	deepest           int
}

type drawnBox struct {
	staticBox
	depth int
}

func (f *flameDrawing) name(node int32) string {
	label := f.set.Down.Label[node]
	if label < 0 {
		return "all"
	}
	return f.src.names.list[f.set.Functions.Name[label]]
}

// short returns the short name of the node.
func (f *flameDrawing) short(node int32) string {
	label := f.set.Down.Label[node]
	if label < 0 {
		return "all"
	}
	return f.src.names.list[f.set.Functions.Short[label]]
}

// value prints a weight.
func (f *flameDrawing) value(x float64) string {
	if x >= 1<<63 {
		return fmt.Sprintf("%.3g", x)
	}
	return valueText(uint64(x), f.unit)
}

// box draws a node and its callees.
func (f *flameDrawing) box(node int32, depth int, x, width float64) {
	class := "fill-root"
	if label := f.set.Down.Label[node]; label >= 0 {
		class = fmt.Sprintf("fill-c%d", f.set.Groups.Colour[f.set.Functions.Group[label]])
	}
	name := f.name(node)
	title := fmt.Sprintf("%s\n%s (%s)", name, f.value(f.total[node]), percentText(f.total[node]/f.total[0]))
	if f.self[node] > 0 && f.self[node] < f.total[node] {
		title += fmt.Sprintf("\n%s of it in the function itself", f.value(f.self[node]))
	}
	if fit(name, width-7) != name {
		name = f.short(node)
	}
	f.draw(depth, x, width, class, title, name)
	if depth+1 >= staticLevels || f.total[node] <= 0 {
		return
	}
	left, leftOut := f.rest[node], int(f.set.Down.Left[node])
	at := x
	for _, k := range f.kids[node] {
		w := width * f.total[k] / f.total[node]
		if w < staticLeast {
			left += f.total[k]
			leftOut++
			continue
		}
		f.box(k, depth+1, at, w)
		at += w
	}
	if w := width * left / f.total[node]; w >= staticLeast {
		text := fmt.Sprintf("(%s smaller)", countText(uint64(leftOut)))
		f.draw(depth+1, at, w, "fill-rest", fmt.Sprintf("%s\n%s (%s)", text, f.value(left), percentText(left/f.total[0])), text)
	}
}

func (f *flameDrawing) draw(depth int, x, width float64, class, title, text string) {
	f.deepest = max(f.deepest, depth)
	b := staticBox{X: hundredthsText(x), W: hundredthsText(width - 1), Class: class, Title: title, Text: fit(text, width-7), TextX: hundredthsText(x + 3)}
	f.boxes = append(f.boxes, drawnBox{b, depth})
}

// fit shortens a name to a width in pixels. The result is empty if two letters
// do not fit.
func fit(text string, width float64) string {
	room := int(width / monoWidth)
	if room < 3 {
		return ""
	}
	if utf8.RuneCountInString(text) <= room {
		return text
	}
	return string([]rune(text)[:room-1]) + "…"
}
