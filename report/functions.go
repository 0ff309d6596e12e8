package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/profile"
)

// Limits of the page of functions. Those with the greatest counts are kept.
const (
	maxFunctionRows = 250_000
	maxBlockCounts  = 1_000_000
	maxEdgeRows     = 150_000
)

// functionsData is what the page's script has. Columns have one entry per
// function, or none at all if the profile does not have them; functions are in
// descending order of what they are ranked by.
type functionsData struct {
	Total    float64  `json:"total"`   // of Count, of all functions
	Omitted  int      `json:"omitted"` // functions
	CountOf  string   `json:"countOf"` // "blocks" or "calls"
	Names    []int    `json:"names"`   // numbers of names
	Files    []int    `json:"files"`   // -1 for none
	Lines    []int32  `json:"lines"`   // where they begin; 0 for unknown
	Count    []uint64 `json:"count"`   // what they are ranked by
	Calls    []uint64 `json:"calls"`   // 1 or 0 if only that is known
	Max      []uint64 `json:"max"`
	Blocks   []int    `json:"blocks"`
	Covered  []int    `json:"covered"` // blocks
	First    []int    `json:"first"`   // mean rank of the first call; 0 for none
	Sizes    []uint64 `json:"sizes"`
	Runs     []uint64 `json:"runs"`
	Hashes   []string `json:"hashes"` // hexadecimal
	Heat     []heat   `json:"heat"`
	HeatName []string `json:"heatName"` // of the numbers in Heat
	// Stacks are values of stacks by function.
	Stacks []stackColumn `json:"stacks"`
	// Labels has an entry for each label of each function.
	Labels functionLabels `json:"labels"`
	// The blocks of the first functions, one after the other.
	BlocksOf     int      `json:"blocksOf"` // functions
	BlockCounts  []uint64 `json:"blockCounts"`
	BlockLines   []uint32 `json:"blockLines"`
	BlockOffsets []uint32 `json:"blockOffsets"`
	Edges        edgeRows `json:"edges"`
	EdgesOmitted int      `json:"edgesOmitted"`
}

// A stackColumn is a value of the stacks that functions are the innermost of,
// and of those that they are anywhere in.
type stackColumn struct {
	Title string       `json:"title"`
	Unit  profile.Unit `json:"unit"`
	Self  []uint64     `json:"self"`
	All   []uint64     `json:"all"` // none if stacks do not begin with the thread
}

type functionLabels struct {
	Function []int `json:"function"` // ascending
	Key      []int `json:"key"`      // numbers of names
	Value    []int `json:"value"`    // numbers of names
}

// edgeRows are edges by caller.
type edgeRows struct {
	Function []int              `json:"function"` // ascending
	Kind     []profile.EdgeKind `json:"kind"`
	KindName []string           `json:"kindName"` // of the numbers in Kind
	Site     []int32            `json:"site"`
	Line     []int32            `json:"line"`
	Target   []int              `json:"target"` // number of a name; -1: something else
	Size     []uint64           `json:"size"`   // of memory operations
	Count    []uint64           `json:"count"`
}

// functionsPage lists all functions.
func functionsPage(src *source) (*page, error) {
	c := collectFunctions(src)
	if len(c.rows) == 0 {
		return nil, nil
	}
	data := c.data(src)
	body, err := execute("functions", c.static(src, data))
	if err != nil {
		return nil, err
	}
	return &page{id: "functions", title: "Functions", body: body, data: data}, nil
}

// A functionRow is a function with what it is ranked by.
type functionRow struct {
	profile.Function
	count uint64
	heat  heat
	name  string
	// Of the stack sets' values, in their order.
	self, all []uint64
}

// collectedFunctions are ranked; of too many the last are dropped.
type collectedFunctions struct {
	rows    []functionRow
	omitted int
	total   float64
	stacks  []stackColumn // without rows
	partial bool          // stacks do not begin with the thread
}

func collectFunctions(src *source) *collectedFunctions {
	c := &collectedFunctions{}
	bySymbol := c.collectStacks(src)
	for f := range src.view.Functions() {
		row := functionRow{Function: *f, count: src.functionCount(f), heat: src.heat.of(f)}
		row.Labels = slices.Clone(f.Labels)
		if src.features.Has(profile.HasBlocks) {
			row.Blocks = slices.Clone(f.Blocks)
		}
		if v := bySymbol[f.Symbol]; v != nil {
			row.self, row.all = v.self, v.all
		}
		c.total += float64(row.count)
		c.rows = append(c.rows, row)
	}
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

// stackValues are the values of the stacks that a function is in.
type stackValues struct {
	self, all []uint64
	last      int // stack that was added to all
}

// collectStacks sums up the values of the first set's stacks by function: the
// first two that add up.
func (c *collectedFunctions) collectStacks(src *source) map[profile.Symbol]*stackValues {
	sets := src.view.Stacks()
	if len(sets) == 0 {
		return nil
	}
	set := sets[0]
	if set.Name == "calls" && src.features.Has(profile.HasCalls) {
		return nil // the functions have them
	}
	var values []int // that are summed up
	for i, v := range set.Values {
		if v.Combine == profile.Sum && len(values) < 2 {
			values = append(values, i)
			c.stacks = append(c.stacks, stackColumn{Title: clean(v.Name), Unit: profile.Unit(clean(string(v.Unit)))})
		}
	}
	c.partial = set.Partial
	bySymbol := make(map[profile.Symbol]*stackValues)
	number := 0
	for s := range set.Stacks {
		number++
		for i := range s.Frames {
			v := bySymbol[s.Frames[i].Symbol]
			if v == nil {
				v = &stackValues{self: make([]uint64, len(values)), all: make([]uint64, len(values))}
				bySymbol[s.Frames[i].Symbol] = v
			}
			for j, k := range values {
				if i == 0 {
					addTo(&v.self[j], s.Values[k])
				}
				// A function that is in a stack twice counts once.
				if v.last != number {
					addTo(&v.all[j], s.Values[k])
				}
			}
			v.last = number
		}
	}
	return bySymbol
}

// addTo adds v to sum, which stops at 2^64-1.
func addTo(sum *uint64, v uint64) {
	if *sum += v; *sum < v {
		*sum = math.MaxUint64
	}
}

// data lays out the rows in columns.
func (c *collectedFunctions) data(src *source) *functionsData {
	d := &functionsData{Total: c.total, Omitted: c.omitted, CountOf: "blocks"}
	if src.summary.OfCalls {
		d.CountOf = "calls"
	}
	for h := never; h <= ran; h++ {
		d.HeatName = append(d.HeatName, h.String())
	}
	c.numberNames(src.names)
	has := src.features.Has
	files, lines := false, false
	for i := range c.rows {
		files = files || c.rows[i].File != ""
		lines = lines || c.rows[i].StartLine != 0
	}
	for _, s := range c.stacks {
		s.Self = make([]uint64, len(c.rows))
		if !c.partial {
			s.All = make([]uint64, len(c.rows))
		}
		d.Stacks = append(d.Stacks, s)
	}
	for i := range c.rows {
		f := &c.rows[i]
		d.Names = append(d.Names, src.names.add(f.name))
		if files {
			d.Files = append(d.Files, src.names.addOrNone(f.File))
		}
		if lines {
			d.Lines = append(d.Lines, f.StartLine)
		}
		if has(profile.HasCalls) {
			d.Calls = append(d.Calls, f.Calls)
		}
		if src.heat.counts {
			d.Count = append(d.Count, f.count)
			if !src.summary.OfCalls {
				d.Max = append(d.Max, f.Max())
			}
		}
		if has(profile.HasBlocks) {
			d.Blocks = append(d.Blocks, len(f.Blocks))
			d.Covered = append(d.Covered, f.CoveredBlocks())
		}
		if has(profile.HasFirstCalls) {
			d.First = append(d.First, int(math.Round(f.FirstCall)))
		}
		if has(profile.HasSizes) {
			d.Sizes = append(d.Sizes, f.Size)
		}
		if has(profile.HasRuns) {
			d.Runs = append(d.Runs, f.Runs)
		}
		if has(profile.HasHashes) {
			d.Hashes = append(d.Hashes, fmt.Sprintf("%x", f.Hash))
		}
		if src.features&(profile.HasCalls|profile.HasBlocks) != 0 {
			d.Heat = append(d.Heat, f.heat)
		}
		for _, l := range f.Labels {
			d.Labels.Function = append(d.Labels.Function, i)
			d.Labels.Key = append(d.Labels.Key, src.names.add(l.Key))
			d.Labels.Value = append(d.Labels.Value, src.names.add(l.Value))
		}
		for j := range d.Stacks {
			if len(f.self) > 0 {
				d.Stacks[j].Self[i] = f.self[j]
				if len(d.Stacks[j].All) > 0 {
					d.Stacks[j].All[i] = f.all[j]
				}
			}
		}
	}
	c.addBlocks(src, d)
	c.addEdges(src, d)
	return d
}

// numberNames numbers the names in ascending order, in which the table takes
// the least room.
func (c *collectedFunctions) numberNames(t *nameTable) {
	sorted := make([]string, len(c.rows))
	for i := range c.rows {
		sorted[i] = c.rows[i].name
	}
	slices.Sort(sorted)
	for _, name := range sorted {
		t.add(name)
	}
}

// addBlocks adds the blocks of the first functions.
func (c *collectedFunctions) addBlocks(src *source, d *functionsData) {
	if !src.features.Has(profile.HasBlocks) {
		return
	}
	for i := range c.rows {
		blocks := c.rows[i].Blocks
		if len(d.BlockCounts)+len(blocks) > maxBlockCounts {
			break
		}
		d.BlocksOf = i + 1
		for _, b := range blocks {
			d.BlockCounts = append(d.BlockCounts, b.Count)
			if src.features.Has(profile.HasBlockLines) {
				d.BlockLines = append(d.BlockLines, b.Line)
			}
			if src.features.Has(profile.HasOffsets) {
				d.BlockOffsets = append(d.BlockOffsets, b.Offset)
			}
		}
	}
}

// addEdges adds the edges of the functions, the most frequent if there are too
// many.
func (c *collectedFunctions) addEdges(src *source, d *functionsData) {
	type caller struct {
		symbol profile.Symbol
		hash   uint64
	}
	type edge struct {
		profile.Edge
		row, at int
	}
	for k := profile.EdgeKind(0); k <= profile.MemOpSize; k++ {
		name := ""
		if k > 0 {
			name = strings.ReplaceAll(k.String(), "_", " ")
		}
		d.Edges.KindName = append(d.Edges.KindName, name)
	}
	if !src.features.Has(profile.HasEdges) {
		return
	}
	rows := make(map[caller]int, len(c.rows))
	for i := range c.rows {
		rows[caller{c.rows[i].Symbol, c.rows[i].Hash}] = i
	}
	var edges []edge
	byCount := func(a, b edge) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.at, b.at)) }
	cut := func() {
		if len(edges) > maxEdgeRows {
			slices.SortFunc(edges, byCount)
			d.EdgesOmitted += len(edges) - maxEdgeRows
			edges = edges[:maxEdgeRows]
		}
	}
	at := 0
	for e := range src.view.Edges() {
		row, ok := rows[caller{e.Caller, e.Hash}]
		if !ok {
			continue
		}
		edges = append(edges, edge{*e, row, at})
		if at++; len(edges) >= 2*maxEdgeRows {
			cut()
		}
	}
	cut()
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.row, b.row), byCount(a, b)) })
	r := &d.Edges
	for i := range edges {
		e := &edges[i]
		target := -1
		if e.Target.Name != "" || e.Target.ID != 0 {
			target = src.names.add(src.symbolName(&e.Target))
		}
		r.Function = append(r.Function, e.row)
		r.Kind = append(r.Kind, e.Kind)
		r.Site = append(r.Site, e.Site)
		r.Line = append(r.Line, e.Line)
		r.Target = append(r.Target, target)
		r.Size = append(r.Size, e.Size)
		r.Count = append(r.Count, e.Count)
	}
}

// A staticFunctions is what is read without scripts.
type staticFunctions struct {
	Functions uint64
	Omitted   uint64
	Edges     uint64 // that are left out
	Columns   []string
	Rows      []staticFunction
	More      uint64
}

type staticFunction struct {
	Name, File string
	Cells      []string
}

// static makes the rows that are read without scripts.
func (c *collectedFunctions) static(src *source, d *functionsData) *staticFunctions {
	s := &staticFunctions{Functions: uint64(len(c.rows) + c.omitted), Omitted: uint64(c.omitted), Edges: uint64(d.EdgesOmitted)}
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
