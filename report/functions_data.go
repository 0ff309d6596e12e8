package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/profile"
)

// functionsData is the data of the page's script. A column has an entry for each
// function, or none if the profile lacks it. Functions are ordered by rank.
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

// A stackColumn sums up a value over the stacks with the function on top (Self), and over
// those with the function anywhere (All).
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
	files := slices.ContainsFunc(c.rows, func(f functionRow) bool { return f.File != "" })
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
	lines := slices.ContainsFunc(c.rows, func(f functionRow) bool { return f.StartLine != 0 })
	d.Lines = columnIf(lines, c.rows, func(f *functionRow) int32 { return f.StartLine })
	d.Count = columnIf(src.heat.counts, c.rows, func(f *functionRow) uint64 { return f.count })
	d.Max = columnIf(src.heat.counts && !src.summary.OfCalls, c.rows, func(f *functionRow) uint64 { return f.Max() })
	d.Calls = columnIf(has(profile.HasCalls), c.rows, func(f *functionRow) uint64 { return f.Calls })
	d.Blocks = columnIf(has(profile.HasBlocks), c.rows, func(f *functionRow) int { return len(f.Blocks) })
	d.Covered = columnIf(has(profile.HasBlocks), c.rows, func(f *functionRow) int { return f.CoveredBlocks() })
	d.First = columnIf(has(profile.HasFirstCalls), c.rows, func(f *functionRow) int { return int(math.Round(f.FirstCall)) })
	d.Sizes = columnIf(has(profile.HasSizes), c.rows, func(f *functionRow) uint64 { return f.Size })
	d.Runs = columnIf(has(profile.HasRuns), c.rows, func(f *functionRow) uint64 { return f.Runs })
	d.Hashes = columnIf(has(profile.HasHashes), c.rows, func(f *functionRow) string { return fmt.Sprintf("%x", f.Hash) })
	d.Heat = columnIf(src.features&(profile.HasCalls|profile.HasBlocks) != 0, c.rows, func(f *functionRow) heat { return f.heat })
	c.addBlocks(src, d)
	c.addEdges(src, d)
	return d
}

// columnIf returns a value of each row, or nil if the profile does not have it.
func columnIf[V any](there bool, rows []functionRow, value func(*functionRow) V) []V {
	if !there {
		return nil
	}
	column := make([]V, len(rows))
	for i := range rows {
		column[i] = value(&rows[i])
	}
	return column
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
	rows := make(map[functionKey]int, len(c.rows))
	for i := range c.rows {
		rows[functionKey{c.rows[i].Symbol, c.rows[i].Hash}] = i
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
	for e := range profile.ReusedEdges(src.view) {
		row, ok := rows[functionKey{e.Caller, e.Hash}]
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
