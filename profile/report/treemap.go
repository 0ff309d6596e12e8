package report

import (
	"html/template"
	"slices"

	"github.com/profuse-pgo/profuse/internal/numbering"
	"github.com/profuse-pgo/profuse/profile"
)

const maxTreemapNodes = 40_000

// treemapData is the tree of functions by namespace, package or file. Classes are their temperatures.
type treemapData struct {
	Values    []flameValue  `json:"values"`
	Classes   []string      `json:"classes"`
	Labels    treemapLabels `json:"labels"`
	Tree      *treeData     `json:"tree"`
	All       []uint64      `json:"all"`
	Separator string        `json:"separator"`
	First     int           `json:"first"` // value to begin with
	Counts    bool          `json:"counts"`
}

// treemapLabels are columns: the part of the name, the number of the whole name
// of a function (-1 if it is not a function), and the colour.
type treemapLabels struct {
	Name   []int `json:"name"`
	Full   []int `json:"full"`
	Colour []int `json:"colour"`
}

type measure struct {
	flameValue
	of func(*profile.Function) uint64
}

// measures are the measures of functions, the initial one first.
func measures(features profile.Features) (out []measure) {
	add := func(when bool, name string, unit profile.Unit, of func(*profile.Function) uint64) {
		if when {
			out = append(out, measure{flameValue{name, unit}, of})
		}
	}
	counted := features.Blocks && !features.BlocksAreCoverage
	add(counted, "block_counts", profile.Count, (*profile.Function).Total)
	add(features.Calls && !features.CallsAreCoverage, "calls", profile.Count,
		func(f *profile.Function) uint64 { return f.Calls })
	add(features.Sizes, "size", profile.Bytes, func(f *profile.Function) uint64 { return f.Size })
	add(features.Blocks, "blocks", profile.Count, func(f *profile.Function) uint64 { return uint64(len(f.Blocks)) })
	add(features.Blocks && !counted, "covered_blocks", profile.Count,
		func(f *profile.Function) uint64 { return uint64(f.CoveredBlocks()) })
	add(true, "functions", profile.Count, func(*profile.Function) uint64 { return 1 })
	return out
}

// treemapPage shows where in the program the counts are. It returns nil if the profile names no functions.
func treemapPage(src *source) (*page, error) {
	m := newTreemap(src)
	if m.weights.whole(len(m.data.Values)-1) == 0 && len(m.weights.entryClass) == 0 {
		return nil, nil
	}
	data := m.finish()
	tree, err := staticTreemap(src, data)
	if err != nil {
		return nil, err
	}
	return newPage("treemap", "Treemap", struct {
		Counts bool
		Tree   template.HTML
	}{data.Counts, tree}, data)
}

type treemap struct {
	src     *source
	data    *treemapData
	weights *weightTree
	labels  numbering.Table[treemapLabel]
	last    namePath // of the last function, with its nodes
	nodes   []int32
	heats   map[profile.Symbol]heat
}

// A treemapLabel is a part of names, and the whole name if it is a function's.
type treemapLabel struct{ part, full string }

// newTreemap adds up the functions of the view, and the stacks where areas can represent their weight.
func newTreemap(src *source) *treemap {
	m := &treemap{src: src, heats: make(map[profile.Symbol]heat)}
	m.data = &treemapData{Separator: "::", Classes: []string{never.String(), cold.String(), warm.String(), hot.String(), ran.String()}}
	if src.java() {
		m.data.Separator = "."
	}
	m.data.Counts = src.heat.counts
	set, additive := m.stackValues()
	var values []profile.ValueType
	for _, v := range additive {
		values = append(values, set.Values[v])
		m.data.Values = append(m.data.Values, newFlameValue(set.Values[v]))
	}
	ofFunctions := measures(src.features)
	for _, f := range ofFunctions {
		values = append(values, profile.ValueType{Name: f.Name, Unit: f.Unit})
		m.data.Values = append(m.data.Values, f.flameValue)
	}
	m.weights = newWeightTree(values, len(m.data.Classes))
	readable := src.readable.functions() // before there is memory for all nodes
	functions := int(src.summary.Functions)
	nodes := functions*2 + functions/8 // there may be a class for each
	m.weights.expect(nodes, functions)
	m.labels.Expect(nodes)
	amounts, index := make([]uint64, len(values)), 0
	for f := range profile.ReusedFunctions(src.view) {
		for i := range ofFunctions {
			amounts[len(additive)+i] = ofFunctions[i].of(f)
		}
		h := src.heat.of(f)
		m.weights.addValues(m.leaf(src.pathOf(&f.Symbol, readable[index]), src.functionName(index, &f.Symbol)), uint8(h), amounts)
		index++
		if len(additive) > 0 {
			m.heats[f.Symbol] = h
		}
	}
	if len(additive) > 0 {
		m.stacks(set, additive)
	}
	return m
}

// stackValues returns the stack set whose weights areas can represent as well, and the indexes of its
// additive values. Partial stacks qualify only if functions have no counts.
func (m *treemap) stackValues() (set profile.StackSet, values []int) {
	for _, s := range m.src.view.Stacks() {
		if s.Partial && m.src.heat.counts {
			continue
		}
		for v := range s.Values {
			if s.Values[v].Combine == profile.Sum {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			return s, values
		}
	}
	return set, nil
}

func (m *treemap) stacks(set profile.StackSet, values []int) {
	amounts := make([]uint64, len(m.data.Values))
	for s := range set.ReusedStacks {
		if len(s.Frames) == 0 {
			continue
		}
		for i, v := range values {
			amounts[i] = s.Values[v]
		}
		symbol := &s.Frames[0].Symbol
		h, ok := m.heats[*symbol]
		if !ok {
			h = ran
		}
		for _, l := range s.Labels {
			if l.Key == profile.LabelTemperature {
				h = heatOfWord(l.Value)
			}
		}
		m.weights.addValues(m.leaf(m.src.pathOf(symbol, m.src.readable.symbol(symbol)), m.src.symbolName(symbol)), uint8(h), amounts)
	}
}

func heatOfWord(word string) heat {
	switch word {
	case "hot":
		return hot
	case "cold":
		return cold
	}
	return warm
}

// leaf returns the node of a function. Functions of one path and name have one.
func (m *treemap) leaf(path namePath, full string) int32 {
	groups, node := path[:len(path)-1], int32(0)
	same := 0 // as for the last function
	for same < min(len(groups), len(m.last)) && groups[same] == m.last[same] {
		node = m.nodes[same]
		same++
	}
	m.nodes = m.nodes[:same]
	for _, part := range groups[same:] {
		node = m.weights.child(node, m.labels.Of(treemapLabel{part: part}))
		m.nodes = append(m.nodes, node)
	}
	m.last = groups
	return m.weights.child(node, m.labels.Of(treemapLabel{path[len(path)-1], full}))
}

func (s *source) pathOf(symbol *profile.Symbol, readable string) namePath {
	return pathOf(symbol, readable, s.java())
}

// finish lays out the heaviest part of the tree and drops the rest.
func (m *treemap) finish() *treemapData {
	d := m.data
	m.labels.Shrink()
	grown := m.weights.grow(maxTreemapNodes)
	shareOut([]*grownTree{grown}, maxTreemapNodes)
	for v := range d.Values {
		d.All = append(d.All, m.weights.whole(v))
	}
	d.First = max(0, slices.IndexFunc(d.All, func(all uint64) bool { return all > 0 }))
	if blocks := slices.IndexFunc(d.Values, func(v flameValue) bool { return v.Name == "block_counts" }); blocks >= 0 && d.All[blocks] > 0 {
		d.First = blocks
	}
	d.Tree = grown.arrange(len(d.Classes), func(label int32) string {
		if label < 0 {
			return ""
		}
		return m.labels.Keys[label].part
	})
	var kept numbering.Table[treemapLabel]
	for i, label := range d.Tree.Label {
		if label >= 0 {
			d.Tree.Label[i] = kept.Of(m.labels.Keys[label])
		}
	}
	names, l := m.src.names, &d.Labels
	*m = treemap{} // the page may wait for its turn
	l.Name, l.Full, l.Colour = []int{}, []int{}, []int{}
	for _, label := range kept.Keys {
		l.Name, l.Full, l.Colour = append(l.Name, names.add(label.part)), append(l.Full, names.addOrNone(label.full)), append(l.Colour, colourOf(label.part))
	}
	return d
}
