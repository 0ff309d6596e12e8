package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/profile"
)

// functionsData is the data of the page's script. A column has an entry for each
// function, or none if the profile lacks it. Functions are ordered by rank.
type functionsData struct {
	Total    float64        `json:"total"`   // of Count, of all functions
	Omitted  int            `json:"omitted"` // functions
	CountOf  string         `json:"countOf"` // "blocks" or "calls"
	Names    []int32        `json:"names"`   // numbers of names
	Files    []int32        `json:"files"`   // -1 for none
	Lines    []int32        `json:"lines"`   // where they begin; 0 for unknown
	Count    []uint64       `json:"count"`   // what they are ranked by
	Calls    []uint64       `json:"calls"`   // 1 or 0 if only that is known
	Max      []uint64       `json:"max"`
	Blocks   []int32        `json:"blocks"`
	Covered  []int32        `json:"covered"` // blocks
	First    []int          `json:"first"`   // mean rank of the first call; 0 for none
	Sizes    []uint64       `json:"sizes"`
	Runs     []uint64       `json:"runs"`
	Hashes   hexColumn      `json:"hashes"`
	Heat     []heat         `json:"heat"`
	HeatName []string       `json:"heatName"` // of the numbers in Heat
	Stacks   []stackColumn  `json:"stacks"`   // values of stacks by function
	Labels   functionLabels `json:"labels"`   // has an entry for each label of each function
	// The blocks of the first functions, one after the other.
	BlocksOf     int      `json:"blocksOf"` // functions
	BlockCounts  []uint64 `json:"blockCounts"`
	BlockLines   []uint32 `json:"blockLines"`
	BlockOffsets []uint32 `json:"blockOffsets"`
	Edges        edgeRows `json:"edges"`
	EdgesOmitted int      `json:"edgesOmitted"`
}

type hexColumn []uint64

// MarshalJSON implements [encoding/json.Marshaler].
func (c hexColumn) MarshalJSON() ([]byte, error) {
	return columnJSON(c, func(text []byte, n uint64) []byte {
		return append(strconv.AppendUint(append(text, '"'), n, 16), '"')
	}), nil
}

// A stackColumn sums up a value over the stacks with the function on top (Self), and over the stacks
// with the function anywhere (All).
type stackColumn struct {
	Title string       `json:"title"`
	Unit  profile.Unit `json:"unit"`
	Self  []uint64     `json:"self"`
	All   []uint64     `json:"all"` // none if stacks do not begin with the thread
}

// functionLabels are columns by label; Function is the row.
type functionLabels struct {
	Function []int `json:"function"` // ascending
	Key      []int `json:"key"`      // numbers of names
	Value    []int `json:"value"`    // numbers of names
}

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

// data lays out the rows in columns. It walks over the functions again: a row holds only what ranks the
// function, which saves memory.
func (c *collectedFunctions) data(src *source) *functionsData {
	d := &functionsData{Total: c.total, Omitted: c.omitted, CountOf: "blocks"}
	if src.summary.OfCalls {
		d.CountOf = "calls"
	}
	for h := never; h <= ran; h++ {
		d.HeatName = append(d.HeatName, h.String())
	}
	var naming sync.WaitGroup
	naming.Go(func() { c.numberNames(src.names) })
	w := c.newColumns(src, d)
	index := 0
	for f := range profile.ReusedFunctions(src.view) {
		w.addFunction(index, f)
		index++
	}
	for i := range c.extra {
		x := &c.extra[i]
		w.addFunction(index, &profile.Function{
			Symbol: x.symbol, Hash: x.hash, Covered: true, Labels: []profile.Label{{Key: "known from", Value: x.where}},
		})
		index++
	}
	naming.Wait()
	w.number(src.names)
	c.addEdges(src, d)
	return d
}

// A columnWriter fills in the columns of the rows, in the order of the view.
type columnWriter struct {
	src    *source
	d      *functionsData
	rows   []functionRow
	row    []int32 // by index of the function; -1 if the function is dropped
	starts []int   // of the blocks of the first functions
	files  []string
	labels []rowLabel
	lines  bool // some function has one
}

type rowLabel struct {
	row int32
	profile.Label
}

func (c *collectedFunctions) newColumns(src *source, d *functionsData) *columnWriter {
	w := &columnWriter{src: src, d: d, rows: c.rows, row: make([]int32, c.all+len(c.extra))}
	for i := range w.row {
		w.row[i] = -1
	}
	for i := range c.rows {
		w.row[c.rows[i].index] = int32(i)
	}
	n, has := len(c.rows), src.features
	for _, s := range c.stacks {
		s.Self = make([]uint64, n)
		if !c.partial {
			s.All = make([]uint64, n)
		}
		d.Stacks = append(d.Stacks, s)
	}
	d.Lines = make([]int32, n)
	d.Count = columnIf[uint64](src.heat.counts, n)
	d.Max = columnIf[uint64](src.heat.counts && !src.summary.OfCalls, n)
	d.Calls = columnIf[uint64](has.Calls, n)
	d.Blocks = columnIf[int32](has.Blocks, n)
	d.Covered = columnIf[int32](has.Blocks, n)
	d.First = columnIf[int](has.FirstCalls, n)
	d.Sizes = columnIf[uint64](has.Sizes, n)
	d.Runs = columnIf[uint64](has.Runs, n)
	d.Hashes = columnIf[uint64](has.Hashes, n)
	d.Heat = columnIf[heat](src.features.Calls || src.features.Blocks, n)
	if has.Blocks {
		w.makeBlocks()
	}
	return w
}

func columnIf[V any](there bool, n int) []V {
	if !there {
		return nil
	}
	return make([]V, n)
}

func setRow[V any](column []V, row int32, value V) {
	if column != nil {
		column[row] = value
	}
}

func (w *columnWriter) makeBlocks() {
	n := 0
	for i := range w.rows {
		if n+int(w.rows[i].blocks) > maxBlockCounts {
			break
		}
		w.starts = append(w.starts, n)
		n += int(w.rows[i].blocks)
	}
	w.d.BlocksOf = len(w.starts)
	w.d.BlockCounts = columnIf[uint64](n > 0, n)
	w.d.BlockLines = columnIf[uint32](n > 0 && w.src.features.BlockLines, n)
	w.d.BlockOffsets = columnIf[uint32](n > 0 && w.src.features.Offsets, n)
}

func (w *columnWriter) addFunction(index int, f *profile.Function) {
	row, d := w.row[index], w.d
	if row < 0 {
		return
	}
	r := &w.rows[row]
	if f.File != "" {
		if w.files == nil {
			w.files = make([]string, len(w.rows))
		}
		w.files[row] = f.File
	}
	for _, l := range f.Labels {
		w.labels = append(w.labels, rowLabel{row, l})
	}
	for j := range d.Stacks {
		if r.values != nil {
			d.Stacks[j].Self[row] = r.values.self[j]
			setRow(d.Stacks[j].All, row, r.values.all[j])
		}
	}
	w.lines = w.lines || f.StartLine != 0
	d.Lines[row] = f.StartLine
	setRow(d.Count, row, r.count)
	setRow(d.Max, row, f.Max())
	setRow(d.Calls, row, f.Calls)
	setRow(d.Blocks, row, int32(len(f.Blocks)))
	setRow(d.Covered, row, int32(f.CoveredBlocks()))
	setRow(d.First, row, int(math.Round(f.FirstCall)))
	setRow(d.Sizes, row, f.Size)
	setRow(d.Runs, row, f.Runs)
	setRow(d.Hashes, row, f.Hash)
	setRow(d.Heat, row, heat(r.heat))
	if int(row) < len(w.starts) {
		for i := range f.Blocks {
			at := int32(w.starts[row] + i)
			setRow(d.BlockCounts, at, f.Blocks[i].Count)
			setRow(d.BlockLines, at, f.Blocks[i].Line)
			setRow(d.BlockOffsets, at, f.Blocks[i].Offset)
		}
	}
}

func (w *columnWriter) number(names *nameTable) {
	slices.SortStableFunc(w.labels, func(a, b rowLabel) int { return cmp.Compare(a.row, b.row) })
	labels, d := w.labels, w.d
	for i := range w.rows {
		d.Names = append(d.Names, int32(names.add(w.rows[i].name)))
		if w.files != nil {
			d.Files = append(d.Files, int32(names.addOrNone(w.files[i])))
		}
		for ; len(labels) > 0 && int(labels[0].row) == i; labels = labels[1:] {
			d.Labels.Function = append(d.Labels.Function, i)
			d.Labels.Key = append(d.Labels.Key, names.add(labels[0].Key))
			d.Labels.Value = append(d.Labels.Value, names.add(labels[0].Value))
		}
	}
	if !w.lines {
		d.Lines = nil
	}
}

// numberNames numbers the names in ascending order, which makes the encoded table smallest.
func (c *collectedFunctions) numberNames(t *nameTable) {
	sorted := make([]string, len(c.rows))
	for i := range c.rows {
		sorted[i] = c.rows[i].name
	}
	slices.Sort(sorted)
	t.wait()
	t.Expect(len(t.Keys) + len(sorted))
	for _, name := range sorted {
		t.add(name)
	}
}

func (c *collectedFunctions) addEdges(src *source, d *functionsData) {
	for k := profile.EdgeKind(0); k <= profile.MemOpSize; k++ {
		name := ""
		if k > 0 {
			name = strings.ReplaceAll(k.String(), "_", " ")
		}
		d.Edges.KindName = append(d.Edges.KindName, name)
	}
	rows := make([]int32, len(c.callers.Keys))
	for i := range rows {
		rows[i] = -1
	}
	for i := range c.rows {
		if n := c.rows[i].caller; n >= 0 {
			rows[n] = int32(i)
		}
	}
	row := func(edge int32) int32 { return rows[c.callers.of[edge]] }
	table := src.edges()
	var order []int32
	for i := range table.edges {
		if row(int32(i)) >= 0 {
			order = append(order, int32(i))
		}
	}
	// Edges with equal counts keep the order of the view.
	byCount := func(a, b int32) int {
		return cmp.Or(cmp.Compare(table.edges[b].count, table.edges[a].count), cmp.Compare(a, b))
	}
	if len(order) > maxEdgeRows {
		slices.SortFunc(order, byCount)
		d.EdgesOmitted = len(order) - maxEdgeRows
		order = order[:maxEdgeRows]
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(row(a), row(b)), byCount(a, b)) })
	r := &d.Edges
	for _, i := range order {
		e, target := &table.edges[i], -1
		if e.target >= 0 {
			target = src.names.add(src.edgeName(e.target))
		}
		r.Function = append(r.Function, int(row(i)))
		r.Kind = append(r.Kind, e.kind)
		r.Site = append(r.Site, e.site)
		r.Line = append(r.Line, e.line)
		r.Target = append(r.Target, target)
		r.Size = append(r.Size, e.size)
		r.Count = append(r.Count, e.count)
	}
}
