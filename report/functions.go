package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// Limits of the page of functions. Those with the greatest counts are kept.
const (
	maxFunctionRows = 250_000
	maxBlockCounts  = 1_000_000
	maxEdgeRows     = 150_000
)

// functionsPage lists all functions.
func functionsPage(src *source) (*page, error) {
	c := collectFunctions(src)
	if len(c.rows) == 0 {
		return nil, nil
	}
	data := c.data(src)
	return newPage("functions", "Functions", c.static(data), data)
}

// A functionRow is a function with the values that it is ranked by.
type functionRow struct {
	profile.Function
	count uint64
	heat  heat
	name  string
	// extra means that only stacks or edges have the function.
	extra bool
	// Of the stack sets' values, in their order.
	self, all []uint64
}

// collectedFunctions are the functions by rank; if there are too many, the last are
// dropped.
type collectedFunctions struct {
	rows    []functionRow
	omitted int
	extra   int // rows
	total   float64
	stacks  []stackColumn // without rows
	partial bool          // stacks do not begin with the thread
}

func collectFunctions(src *source) *collectedFunctions {
	c := &collectedFunctions{}
	values := c.collectStacks(src)
	for f := range profile.ReusedFunctions(src.view) {
		row := functionRow{Function: *f, count: src.functionCount(f), heat: src.heat.of(f)}
		row.Labels, row.Blocks = slices.Clone(f.Labels), nil
		if src.features.Has(profile.HasBlocks) {
			row.Blocks = slices.Clone(f.Blocks)
		}
		if v := values.of[f.Symbol]; v != nil {
			row.self, row.all, v.found = v.self, v.all, true
		}
		c.total += float64(row.count)
		c.rows = append(c.rows, row)
	}
	c.addExtra(src, values)
	for i := range c.rows {
		c.rows[i].name = src.symbolName(&c.rows[i].Symbol)
	}
	slices.SortStableFunc(c.rows, func(a, b functionRow) int {
		return cmp.Or(
			cmp.Compare(b.count, a.count), slices.Compare(b.all, a.all), slices.Compare(b.self, a.self),
			cmp.Compare(b.heat, a.heat), strings.Compare(a.name, b.name), cmp.Compare(a.Hash, b.Hash),
		)
	})
	if len(c.rows) > maxFunctionRows {
		c.omitted = len(c.rows) - maxFunctionRows
		c.rows = c.rows[:maxFunctionRows]
	}
	return c
}

// A functionKey identifies the record of a function.
type functionKey struct {
	symbol profile.Symbol
	hash   uint64
}

// addExtra adds the functions that only stacks or edges have.
func (c *collectedFunctions) addExtra(src *source, values *stackValues) {
	add := func(s profile.Symbol, hash uint64, where string, v *functionValues) {
		row := functionRow{Function: profile.Function{Symbol: s, Hash: hash, Covered: true}, heat: ran, extra: true}
		row.Labels = []profile.Label{{Key: "known from", Value: where}}
		if v != nil {
			row.self, row.all = v.self, v.all
		}
		c.rows = append(c.rows, row)
		c.extra++
	}
	for _, s := range values.order {
		if v := values.of[s]; !v.found {
			add(s, 0, "stacks alone", v)
		}
	}
	if !src.features.Has(profile.HasEdges) {
		return
	}
	known := make(map[functionKey]bool, len(c.rows))
	for i := range c.rows {
		known[functionKey{c.rows[i].Symbol, c.rows[i].Hash}] = true
	}
	for e := range profile.ReusedEdges(src.view) {
		if k := (functionKey{e.Caller, e.Hash}); !known[k] {
			known[k] = true
			add(e.Caller, e.Hash, "edges alone", nil)
		}
	}
}

// stackValues are the values of stacks by function.
type stackValues struct {
	of    map[profile.Symbol]*functionValues
	order []profile.Symbol
}

// functionValues are the values of the stacks that a function is in.
type functionValues struct {
	self, all []uint64
	last      int  // stack that was added to all
	found     bool // among the profile's functions
}

// collectStacks sums up the first two additive values of the first stack set by
// function.
func (c *collectedFunctions) collectStacks(src *source) *stackValues {
	out := &stackValues{of: make(map[profile.Symbol]*functionValues)}
	sets := src.view.Stacks()
	if len(sets) == 0 {
		return out
	}
	set := sets[0]
	if set.Name == "calls" && src.features.Has(profile.HasCalls) {
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

// staticFunctions is the page without scripts.
type staticFunctions struct {
	Functions uint64
	Omitted   uint64
	Extra     uint64 // that only stacks or edges have
	Edges     uint64 // that are left out
	Columns   []string
	Rows      []staticFunction
	More      uint64
}

type staticFunction struct {
	Name, File string
	Cells      []string
}

// static makes the page without scripts.
func (c *collectedFunctions) static(d *functionsData) *staticFunctions {
	s := &staticFunctions{Functions: uint64(len(c.rows) + c.omitted), Omitted: uint64(c.omitted), Extra: uint64(c.extra), Edges: uint64(d.EdgesOmitted)}
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
		row := staticFunction{Name: f.name, File: clean(f.File)}
		if d.Count != nil {
			row.Cells = append(row.Cells, countText(f.count))
		}
		if calls {
			row.Cells = append(row.Cells, countText(f.Calls))
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
