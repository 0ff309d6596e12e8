package report

import (
	"fmt"
	"html/template"
	"slices"

	"github.com/profuse-pgo/profuse/internal/numbering"
	"github.com/profuse-pgo/profuse/profile"
)

// maxFlameNodes limits the boxes of all call trees of a profile together.
const maxFlameNodes = 60_000

// A flameSet is a stack set in the form of the page's data.
type flameSet struct {
	Name        string       `json:"name"`
	Description string       `json:"-"`
	Partial     bool         `json:"-"`
	Stacks      uint64       `json:"stacks"`
	Values      []flameValue `json:"values"` // values that add up
	Other       []flameValue `json:"other"`  // values that do not
	// Classes are the temperatures of the stacks, or one empty class if they have none.
	Classes   []string       `json:"classes"`
	Functions flameFunctions `json:"functions"` // the functions that the labels of nodes refer to
	Groups    flameGroups    `json:"groups"`
	Down      *treeData      `json:"down"` // callers above callees
	Up        *treeData      `json:"up"`   // callees above callers: the root's children are on top of stacks
	// All is the sum of each value. Cut is true if nodes are left out.
	All   []uint64 `json:"all"`
	Cut   bool     `json:"cut"`
	About string   `json:"about"` // explains what a box represents

	labelled bool
}

// A flameValue is a value of a stack set, with cleaned texts.
type flameValue struct {
	Name string       `json:"name"`
	Unit profile.Unit `json:"unit"`
}

func newFlameValue(v profile.ValueType) flameValue {
	return flameValue{clean(v.Name), profile.Unit(clean(string(v.Unit)))}
}

// flameFunctions are columns. Total, by value, counts every stack once even if
// the function is in it several times, and includes left-out nodes.
type flameFunctions struct {
	Name  []int      `json:"name"`
	Short []int      `json:"short"` // for boxes without room
	Group []int      `json:"group"`
	Total [][]uint64 `json:"total"`
	Self  [][]uint64 `json:"self"`
}

type flameGroups struct {
	Name   []int `json:"name"`
	Colour []int `json:"colour"`
}

type flameData struct {
	Sets []*flameSet `json:"sets"`
}

// flamePage shows call stacks as a tree; nil if there are none.
func flamePage(src *source) (*page, error) {
	title := "Flame graph"
	sets := src.view.Stacks()
	if len(sets) == 0 && src.features.Edges {
		sets = []profile.StackSet{src.edgeStacks()}
		if !src.features.Bytecodes && src.features.Blocks {
			title = "Indirect calls" // the only ones that counters of blocks come with
		}
	}
	var trees []*callTree
	for i := range sets {
		if t := newCallTree(src, &sets[i]); t != nil {
			trees = append(trees, t)
		}
	}
	if len(trees) == 0 {
		return nil, nil
	}
	var grown []*grownTree
	for _, t := range trees {
		t.down, t.up = t.weights.grow(maxFlameNodes), t.weights.invert(maxFlameNodes)
		grown = append(grown, t.down, t.up)
	}
	shareOut(grown, maxFlameNodes)
	var data flameData
	for _, t := range trees {
		data.Sets = append(data.Sets, t.data())
	}
	tree, err := staticFlame(src, data.Sets)
	if err != nil {
		return nil, err
	}
	return newPage("flame", title, struct {
		About string
		Tree  template.HTML
	}{data.Sets[0].About, tree}, data)
}

type callTree struct {
	src     *source
	set     *profile.StackSet
	stacks  uint64
	classes []string
	frames  numbering.Table[frameKey]
	weights *weightTree

	down, up *grownTree
}

// A frameKey identifies the content of a box: a function, or a label of a stack, drawn as if the
// innermost function called it.
type frameKey struct {
	profile.Symbol
	label string // key of the label, whose value is the name
}

// newCallTree adds up the stacks of a set. It returns nil if there is nothing
// to draw: no additive value, or only zeros.
func newCallTree(src *source, set *profile.StackSet) *callTree {
	if !slices.ContainsFunc(set.Values, func(v profile.ValueType) bool { return v.Combine == profile.Sum }) {
		return nil
	}
	t := &callTree{src: src, set: set, weights: newWeightTree(set.Values, 1)}
	for s := range set.ReusedStacks {
		t.addStack(s)
	}
	t.weights.classes = max(len(t.classes), 1)
	for v := range set.Values {
		if set.Values[v].Combine == profile.Sum && t.weights.whole(v) > 0 {
			return t
		}
	}
	return nil
}

// addStack adds a stack as a path from the outermost frame. Labels become nodes at its end, but
// for the temperature, which is a class.
func (t *callTree) addStack(s *profile.Stack) {
	t.stacks++
	node := int32(0)
	for i := range slices.Backward(s.Frames) {
		node = t.weights.child(node, t.frames.Of(frameKey{Symbol: s.Frames[i].Symbol}))
	}
	class := uint8(0)
	for _, l := range s.Labels {
		if l.Key == profile.LabelTemperature {
			class = t.class(l.Value)
			continue
		}
		node = t.weights.child(node, t.frames.Of(frameKey{profile.Symbol{Name: l.Value}, l.Key}))
	}
	t.weights.addValues(node, class, s.Values)
}

// class returns the number of a temperature. There are four; if a view has more
// than eight, the others count as the last.
func (t *callTree) class(word string) uint8 {
	i := slices.Index(t.classes, clean(word))
	if i < 0 && len(t.classes) < 8 {
		t.classes = append(t.classes, clean(word))
		i = len(t.classes) - 1
	}
	if i < 0 {
		i = len(t.classes) - 1
	}
	return uint8(i)
}

func (t *callTree) name(label int32) string {
	if label < 0 {
		return ""
	}
	f := &t.frames.Keys[label]
	if f.label != "" {
		return clean(f.label + ": " + f.Name)
	}
	return t.src.symbolName(&f.Symbol)
}

// groupAndShort returns the group of a box and its short name.
func (t *callTree) groupAndShort(label int32) (group, short string) {
	f := &t.frames.Keys[label]
	if f.label != "" {
		return clean("(" + f.label + ")"), f.Name
	}
	p := t.src.pathOf(&f.Symbol, t.src.readable.symbol(&f.Symbol))
	short = t.name(label)
	if !t.src.opt.Mangled {
		short = p.short(t.src.java())
	}
	return clean(p.group(t.src.java())), short
}

func (s *source) java() bool { return s.features.Bytecodes }

func (t *callTree) data() *flameSet {
	d := &flameSet{
		Name: clean(t.set.Name), Description: clean(t.set.Description), Partial: t.set.Partial, Stacks: t.stacks,
		Values: []flameValue{}, Other: []flameValue{}, Classes: t.classes,
	}
	if len(d.Classes) == 0 {
		d.Classes = []string{""}
	}
	for v, value := range t.set.Values {
		out := newFlameValue(value)
		if value.Combine != profile.Sum {
			d.Other = append(d.Other, out)
			continue
		}
		d.Values = append(d.Values, out)
		d.All = append(d.All, t.weights.whole(v))
	}
	d.Down = t.down.arrange(len(d.Classes), t.name)
	d.Up = t.up.arrange(len(d.Classes), t.name)
	d.Cut = slices.ContainsFunc(d.Down.Left, func(n int32) bool { return n > 0 }) ||
		slices.ContainsFunc(d.Up.Left, func(n int32) bool { return n > 0 })
	d.labelled = slices.ContainsFunc(t.frames.Keys, func(f frameKey) bool { return f.label != "" })
	d.About = d.about()
	t.functions(d)
	return d
}

// functions fills in the functions that boxes refer to and numbers them in that order.
func (t *callTree) functions(d *flameSet) {
	var kept numbering.Table[int32]
	var groups numbering.Table[string]
	for _, tree := range []*treeData{d.Down, d.Up} {
		for i, label := range tree.Label {
			if label >= 0 {
				tree.Label[i] = kept.Of(label)
			}
		}
	}
	f, g := &d.Functions, &d.Groups
	f.Name, f.Short, f.Group, g.Name, g.Colour = []int{}, []int{}, []int{}, []int{}, []int{}
	for _, label := range kept.Keys {
		group, short := t.groupAndShort(label)
		at := int(groups.Of(group))
		if at == len(g.Name) {
			g.Name, g.Colour = append(g.Name, t.src.names.add(group)), append(g.Colour, colourOf(group))
		}
		f.Name, f.Group = append(f.Name, t.src.names.add(t.name(label))), append(f.Group, at)
		f.Short = append(f.Short, t.src.names.add(short))
	}
	for v := range t.set.Values {
		if t.set.Values[v].Combine != profile.Sum {
			continue
		}
		total, self := t.weights.labelTotals(len(t.frames.Keys), v)
		f.Total, f.Self = append(f.Total, pickAll(total, kept.Keys)), append(f.Self, pickAll(self, kept.Keys))
	}
}

func pickAll(from []uint64, at []int32) []uint64 {
	out := make([]uint64, len(at))
	for i, n := range at {
		out[i] = from[n]
	}
	return out
}

// about explains in a sentence or two what a box represents.
func (d *flameSet) about() string {
	text := fmt.Sprintf("A stack stands for %s.", d.Description)
	if d.Partial {
		text += " Stacks are partial: they end at the function that was compiled, not where the thread begins," +
			" so that what is summed up over callers says nothing about those further out."
	}
	if d.labelled {
		text += " Boxes at the end of a stack with a colon are its labels, as if they were called there."
	}
	return text
}
