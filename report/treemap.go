package report

import (
	"slices"

	"github.com/profuse-pgo/profuse/profile"
)

// maxTreemapNodes limits the boxes of a treemap.
const maxTreemapNodes = 40_000

// treemapData is the tree of functions by namespace, package or file. Classes
// are their temperatures.
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

// A measure is a number that areas can represent.
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
	counted := features.Has(profile.HasBlocks) && !features.Has(profile.BlocksAreCoverage)
	add(counted, "block_counts", profile.Count, (*profile.Function).Total)
	add(features.Has(profile.HasCalls) && !features.Has(profile.CallsAreCoverage), "calls", profile.Count,
		func(f *profile.Function) uint64 { return f.Calls })
	add(features.Has(profile.HasSizes), "size", profile.Bytes, func(f *profile.Function) uint64 { return f.Size })
	add(features.Has(profile.HasBlocks), "blocks", profile.Count, func(f *profile.Function) uint64 { return uint64(len(f.Blocks)) })
	add(features.Has(profile.HasBlocks) && !counted, "covered_blocks", profile.Count,
		func(f *profile.Function) uint64 { return uint64(f.CoveredBlocks()) })
	add(true, "functions", profile.Count, func(*profile.Function) uint64 { return 1 })
	return out
}

// treemapPage shows where in the program the counts are. It returns nil if the
// profile names no functions.
func treemapPage(src *source) (*page, error) {
	m := newTreemap(src)
	if m.weights.totals(column{len(m.data.Values) - 1, -1})[0] == 0 && len(m.weights.entryClass) == 0 {
		return nil, nil
	}
	data := m.finish()
	return newPage("treemap", "Treemap", staticTreemap(src, data), data)
}

// A treemap builds the tree of names.
type treemap struct {
	src     *source
	data    *treemapData
	weights *weightTree
	labels  numbering[treemapKey]
	heats   map[profile.Symbol]heat
}

type treemapKey struct {
	part     string
	full     string // of functions
	function bool
}

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
	amounts := make([]uint64, len(values))
	for f := range profile.ReusedFunctions(src.view) {
		for i := range ofFunctions {
			amounts[len(additive)+i] = ofFunctions[i].of(f)
		}
		h := src.heat.of(f)
		m.weights.add(m.leaf(&f.Symbol), uint8(h), amounts)
		m.heats[f.Symbol] = h
	}
	if len(additive) > 0 {
		m.stacks(set, additive)
	}
	return m
}

// stackValues returns the stacks whose weight areas can represent as well, and
// which of their values: only those of whole stacks, or any if functions have
// no counts.
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

// stacks adds the weights of stacks to the functions on top of them.
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
		m.weights.add(m.leaf(symbol), uint8(h), amounts)
	}
}

// heatOfWord returns the temperature that a label names.
func heatOfWord(word string) heat {
	switch word {
	case "hot":
		return hot
	case "cold":
		return cold
	}
	return warm
}

// leaf returns the node of a function.
func (m *treemap) leaf(symbol *profile.Symbol) int32 {
	path := m.src.pathOf(symbol)
	node := int32(0)
	for _, part := range path[:len(path)-1] {
		node = m.weights.down(node, m.labels.of(treemapKey{part: part}))
	}
	return m.weights.down(node, m.labels.of(treemapKey{path[len(path)-1], m.src.symbolName(symbol), true}))
}

// pathOf returns the path of a function.
func (s *source) pathOf(symbol *profile.Symbol) namePath {
	name := symbol.String()
	if s.java() {
		return pathOf(symbol, name, true)
	}
	return pathOf(symbol, s.demangle(name), false)
}

func (m *treemap) finish() *treemapData {
	d := m.data
	grown := m.weights.grow(maxTreemapNodes)
	shareOut([]*grownTree{grown}, maxTreemapNodes)
	for v := range d.Values {
		d.All = append(d.All, m.weights.totals(column{v, -1})[0])
	}
	d.First = max(0, slices.IndexFunc(d.All, func(all uint64) bool { return all > 0 }))
	if blocks := slices.IndexFunc(d.Values, func(v flameValue) bool { return v.Name == "block_counts" }); blocks >= 0 && d.All[blocks] > 0 {
		d.First = blocks
	}
	d.Tree = grown.arrange(len(d.Classes), func(label int32) string {
		if label < 0 {
			return ""
		}
		return m.labels.keys[label].part
	})
	names := m.src.names
	var kept numbering[int32]
	for i, label := range d.Tree.Label {
		if label >= 0 {
			d.Tree.Label[i] = kept.of(label)
		}
	}
	l := &d.Labels
	l.Name, l.Full, l.Colour = []int{}, []int{}, []int{}
	for _, label := range kept.keys {
		key := &m.labels.keys[label]
		full := -1
		if key.function {
			full = names.add(key.full)
		}
		l.Name, l.Full, l.Colour = append(l.Name, names.add(key.part)), append(l.Full, full), append(l.Colour, colourOf(key.part))
	}
	return d
}
