package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/numbering"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// Limits of the page of functions. It keeps the functions and edges with the greatest counts.
const (
	maxFunctionRows = 250_000
	maxBlockCounts  = 1_000_000
	maxEdgeRows     = 150_000
)

func functionsPage(src *source) (*page, error) {
	c := collectFunctions(src)
	if len(c.rows) == 0 {
		return nil, nil
	}
	data := c.data(src)
	return newPage("functions", "Functions", c.static(data, src.names), data)
}

type functionRow struct {
	index  int32 // in the functions of the view, then in the extra functions
	caller int32 // number among the callers of edges; -1 if it has none
	blocks int32 // number
	heat   int8
	count  uint64
	hash   uint64
	name   string
	values *functionValues // nil if it is in no stack
}

type extraFunction struct {
	functionKey
	where string
}

// collectedFunctions are the functions by rank; if there are too many, the last are dropped.
type collectedFunctions struct {
	rows    []functionRow
	omitted int
	all     int // functions of the view
	extra   []extraFunction
	callers callers
	total   float64
	stacks  []stackColumn // without rows
	partial bool          // stacks do not begin with the thread
}

// collectFunctions collects and ranks the functions of the view and the functions that only stacks or edges have.
func collectFunctions(src *source) *collectedFunctions {
	c := &collectedFunctions{rows: make([]functionRow, 0, src.summary.Functions)}
	values := c.collectStacks(src)
	c.callers.readEdges(src.edges())
	for f := range profile.ReusedFunctions(src.view) {
		row := functionRow{
			index: int32(c.all), blocks: int32(len(f.Blocks)), heat: int8(src.heat.of(f)),
			count: src.functionCount(f), hash: f.Hash, name: src.functionName(c.all, &f.Symbol), values: values.of[f.Symbol],
		}
		if row.values != nil {
			row.values.found = true
		}
		c.total += float64(row.count)
		c.addRow(row, f.Symbol)
		c.all++
	}
	for _, s := range values.order {
		if v := values.of[s]; !v.found {
			c.addExtra(src, functionKey{symbol: s}, "stacks alone", v)
		}
	}
	for n, listed := range c.callers.listed {
		if !listed {
			c.addExtra(src, c.callers.Keys[n], "edges alone", nil)
		}
	}
	c.rank()
	return c
}

func (c *collectedFunctions) rank() {
	var none functionValues
	slices.SortFunc(c.rows, func(a, b functionRow) int {
		if a.count != b.count {
			return cmp.Compare(b.count, a.count)
		}
		if a.values != b.values {
			x, y := cmp.Or(a.values, &none), cmp.Or(b.values, &none)
			if n := cmp.Or(slices.Compare(y.all, x.all), slices.Compare(y.self, x.self)); n != 0 {
				return n
			}
		}
		return cmp.Or(cmp.Compare(b.heat, a.heat), strings.Compare(a.name, b.name), cmp.Compare(a.hash, b.hash), cmp.Compare(a.index, b.index))
	})
	if len(c.rows) > maxFunctionRows {
		c.omitted = len(c.rows) - maxFunctionRows
		c.rows = slices.Clone(c.rows[:maxFunctionRows])
	}
}

func (c *collectedFunctions) addRow(row functionRow, symbol profile.Symbol) {
	row.caller = c.callers.Find(functionKey{symbol, row.hash})
	if row.caller >= 0 {
		c.callers.listed[row.caller] = true
	}
	c.rows = append(c.rows, row)
}

func (c *collectedFunctions) addExtra(src *source, key functionKey, where string, v *functionValues) {
	index := int32(c.all + len(c.extra))
	c.extra = append(c.extra, extraFunction{key, where})
	c.addRow(functionRow{index: index, heat: int8(ran), hash: key.hash, name: src.symbolName(&key.symbol), values: v}, key.symbol)
}

// A functionKey identifies the record of a function.
type functionKey struct {
	symbol profile.Symbol
	hash   uint64
}

type callers struct {
	numbering.Table[functionKey]
	of     []int32 // by edge
	listed []bool  // has a row
}

// readEdges numbers the callers. Edges of one function follow each other in most views, so few callers
// have to be looked up.
func (c *callers) readEdges(t *edgeTable) {
	c.of = make([]int32, len(t.edges))
	for i := range t.edges {
		e := &t.edges[i]
		if i > 0 && t.edges[i-1].caller == e.caller && t.edges[i-1].hash == e.hash {
			c.of[i] = c.of[i-1]
		} else {
			c.of[i] = c.Of(functionKey{t.symbols.Keys[e.caller], e.hash})
		}
	}
	c.listed = make([]bool, len(c.Keys))
}

type stackValues struct {
	of    map[profile.Symbol]*functionValues
	order []profile.Symbol
}

type functionValues struct {
	self, all []uint64
	last      int  // stack that was added to all
	found     bool // among the profile's functions
}

func (c *collectedFunctions) collectStacks(src *source) *stackValues {
	out := &stackValues{of: make(map[profile.Symbol]*functionValues)}
	sets := src.view.Stacks()
	if len(sets) == 0 {
		return out
	}
	set := sets[0]
	if set.Name == "calls" && src.features.Calls {
		return out // the functions have them
	}
	var values []int // that are summed up
	for i, v := range set.Values {
		if v.Combine == profile.Sum && len(values) < 2 {
			values = append(values, i)
			c.stacks = append(c.stacks, stackColumn{Title: clean(v.Name), Unit: profile.Unit(clean(string(v.Unit)))})
		}
	}
	c.partial = set.Partial
	number := 0
	for s := range set.ReusedStacks {
		number++
		for i := range s.Frames {
			symbol := s.Frames[i].Symbol
			v := out.of[symbol]
			if v == nil {
				v = &functionValues{self: make([]uint64, len(values)), all: make([]uint64, len(values))}
				out.of[symbol] = v
				out.order = append(out.order, symbol)
			}
			for j, k := range values {
				if i == 0 {
					v.self[j] = saturate.Add(v.self[j], s.Values[k])
				}
				// A function that is in a stack twice counts once.
				if v.last != number {
					v.all[j] = saturate.Add(v.all[j], s.Values[k])
				}
			}
			v.last = number
		}
	}
	return out
}

type staticFunctions struct {
	Functions uint64
	Omitted   uint64
	Extra     uint64 // that only stacks or edges have
	Edges     uint64 // that are left out
	Columns   []string
	Rows      []staticFunction
	More      uint64
}

// A staticFunction is a row; Cells follow the columns after the name.
type staticFunction struct {
	Name, File string
	Cells      []string
}

func (c *collectedFunctions) static(d *functionsData, names *nameTable) *staticFunctions {
	s := &staticFunctions{Functions: uint64(c.all + len(c.extra)), Omitted: uint64(c.omitted), Extra: uint64(len(c.extra)), Edges: uint64(d.EdgesOmitted)}
	add := func(title string, there bool) {
		if there {
			s.Columns = append(s.Columns, title)
		}
	}
	calls := d.Calls != nil && !(d.Count != nil && d.CountOf == "calls")
	title := "Total"
	if d.CountOf == "calls" {
		title = "Calls"
	}
	add(title, d.Count != nil)
	add("Calls", calls)
	add("Blocks run", d.Blocks != nil)
	for i := range d.Stacks {
		add(d.Stacks[i].Title+", self", true)
	}
	for i := range c.rows[:min(len(c.rows), maxStaticRows)] {
		f := &c.rows[i]
		row := staticFunction{Name: f.name}
		if d.Files != nil && d.Files[i] >= 0 {
			row.File = names.Keys[d.Files[i]]
		}
		if d.Count != nil {
			row.Cells = append(row.Cells, countText(f.count))
		}
		if calls {
			row.Cells = append(row.Cells, countText(d.Calls[i]))
		}
		if d.Blocks != nil {
			cell := "–"
			if d.Blocks[i] > 0 {
				cell = countText(uint64(d.Covered[i])) + " of " + countText(uint64(d.Blocks[i]))
			}
			row.Cells = append(row.Cells, cell)
		}
		for j := range d.Stacks {
			row.Cells = append(row.Cells, valueText(d.Stacks[j].Self[i], d.Stacks[j].Unit))
		}
		s.Rows = append(s.Rows, row)
	}
	s.More = s.Functions - uint64(len(s.Rows))
	return s
}
