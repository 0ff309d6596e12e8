package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"

	"github.com/profuse-pgo/profuse/profile"
)

const (
	staticContexts = 50   // the number of contexts that are listed without scripts
	maxHeapDots    = 4000 // bounds the dots of the plot
)

type allocationsText struct {
	*heapContexts
	Plot    template.HTML
	Thinned bool // not all contexts are in the plot
	Rows    []contextRow
	More    int // contexts without a row
}

// A contextRow is a context in the list without scripts, with its frames, the innermost first.
type contextRow struct {
	temperatureWord
	Name              string
	Frames            []frameRow
	Bytes, Count      uint64
	Lifetime, Density string
}

// A frameRow is a frame of a contextRow; Place is its source line, see frameLine.
type frameRow struct {
	Name, Place string
	Inlined     bool
}

// allocationsData is the data of the script: columns by context, the one with the most
// bytes first, and the tree of frames.
type allocationsData struct {
	Node        []int32   `json:"node"`
	Bytes       []float64 `json:"bytes"`
	Count       []float64 `json:"count,omitempty"`
	Lifetime    []float64 `json:"lifetime,omitempty"` // seconds
	Density     []float64 `json:"density,omitempty"`
	Temperature []int     `json:"temperature"`
	Words       []string  `json:"words"`
	Colors      []string  `json:"colors"`

	Frame   []int32   `json:"frame"`  // of nodes
	Caller  []int32   `json:"caller"` // node; -1 for none
	Name    []int     `json:"name"`   // of frames
	File    []int     `json:"file"`   // name; -1 if not known
	Line    []int32   `json:"line"`
	Column  []int32   `json:"column"`
	Inlined []int     `json:"inlined"`
	Offsets bool      `json:"offsets"` // lines count from the function's first
	Plot    *plotData `json:"plot,omitempty"`
}

// allocationsPage shows where memory was allocated; nil without allocation contexts.
func allocationsPage(src *source) (*page, error) {
	h := newHeap(src.view)
	if h == nil {
		return nil, nil
	}
	text := &allocationsText{heapContexts: h}
	data := h.data(src)
	if h.Timed {
		p, points, thinned := h.scatter()
		var err error
		if text.Plot, err = p.html(); err != nil {
			return nil, err
		}
		data.Plot, text.Thinned = points, thinned
	}
	offsets := src.features.LineOffsets
	for i := range h.contexts[:min(len(h.contexts), staticContexts)] {
		text.Rows = append(text.Rows, h.row(src, &h.contexts[i], offsets))
	}
	text.More = h.All.Contexts - len(text.Rows)
	return newPage("allocations", "Allocations", text, data)
}

// threeDigits prints a number with three significant digits.
func threeDigits(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 999.5:
		return countText(uint64(math.Round(min(v, 1e18))))
	case v < 0.001:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// frameLine returns the source line of a frame, "FILE:LINE". With offsets, it is "+OFFSET" from the
// function's first line.
func frameLine(f *profile.Frame, offsets bool) string {
	switch {
	case offsets:
		return fmt.Sprintf("+%d", f.Line)
	case f.Line == 0:
		return ""
	case f.File == "":
		return fmt.Sprintf("line %d", f.Line)
	}
	return fmt.Sprintf("%s:%d", clean(f.File), f.Line)
}

func (h *heapContexts) allocator(src *source, c *allocContext) string {
	if c.node < 0 {
		return "unknown"
	}
	return src.symbolName(&h.frames[h.nodes[c.node].frame].Symbol)
}

func (h *heapContexts) row(src *source, c *allocContext, offsets bool) contextRow {
	row := contextRow{
		temperatureWord: wordOf(c.temperature), Name: h.allocator(src, c), Bytes: c.bytes, Count: c.count,
		Lifetime: secondsText(c.lifetime), Density: threeDigits(c.density),
	}
	for _, f := range h.stack(c) {
		row.Frames = append(row.Frames, frameRow{src.symbolName(&f.Symbol), frameLine(f, offsets), f.Inlined})
	}
	return row
}

func (h *heapContexts) data(src *source) *allocationsData {
	// Columns are empty, not null, in JSON.
	d := &allocationsData{
		Offsets: src.features.LineOffsets, Node: []int32{}, Bytes: []float64{}, Temperature: []int{},
		Frame: []int32{}, Caller: []int32{}, Name: []int{}, File: []int{}, Line: []int32{}, Column: []int32{}, Inlined: []int{},
	}
	numbers := make(map[string]int)
	for i, t := range h.Totals {
		numbers[t.temperature] = i
		d.Words, d.Colors = append(d.Words, t.Word), append(d.Colors, t.Color)
	}
	for i := range h.contexts {
		c := &h.contexts[i]
		d.Node, d.Bytes, d.Temperature = append(d.Node, c.node), append(d.Bytes, float64(c.bytes)), append(d.Temperature, numbers[c.temperature])
		if h.Counted {
			d.Count = append(d.Count, float64(c.count))
		}
		if h.Timed {
			d.Lifetime, d.Density = append(d.Lifetime, significant(c.lifetime)), append(d.Density, significant(c.density))
		}
	}
	for _, n := range h.nodes {
		d.Frame, d.Caller = append(d.Frame, n.frame), append(d.Caller, n.caller)
	}
	for i := range h.frames {
		f := &h.frames[i]
		inlined := 0
		if f.Inlined {
			inlined = 1
		}
		d.File = append(d.File, src.names.addOrNone(f.File))
		d.Name = append(d.Name, src.names.add(src.symbolName(&f.Symbol)))
		d.Line, d.Column, d.Inlined = append(d.Line, f.Line), append(d.Column, f.Column), append(d.Inlined, inlined)
	}
	return d
}

// significant rounds to four digits.
func significant(v float64) float64 {
	if v == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-3)
	return math.Round(v/unit) * unit
}

// scatter draws lifetime against access density, with the limits of temperatures. A context with more
// bytes has a larger dot.
func (h *heapContexts) scatter() (*plot, *plotData, bool) {
	x, y := h.axes()
	p := &plot{
		Key: "heap", Title: "Lifetime and access density of contexts", Tall: true,
		Label:  "Average lifetime against access density of allocation contexts; the larger the dot, the more bytes",
		XTitle: "average lifetime", YTitle: "accesses per byte and second of life",
		X: x.ticks(7, secondsText), Y: y.ticks(7, threeDigits),
	}
	p.Lines = h.limitLines(x, y)
	// Large dots first, so that small ones lie above them. The extremes of either direction are always drawn.
	kept := thinContexts(h.contexts)
	points := newPlotData(p.Key)
	// For the legend, in its order.
	for _, t := range h.Totals {
		p.Series = append(p.Series, series{Name: t.Word, Shape: "blobs", Color: t.Color})
	}
	most := 1.0
	if len(h.contexts) > 0 {
		most = math.Max(1, float64(h.contexts[0].bytes))
	}
	var last *series
	lastKey := ""
	for _, i := range kept {
		c := &h.contexts[i]
		at := point{x.at(c.lifetime), plotSize - y.at(c.density)}
		points.addPoint(at, int32(i), 0)
		// Whole pixels, so that neighbours share a path.
		width := math.Round(5 + 27*math.Sqrt(float64(c.bytes)/most))
		key := fmt.Sprint(c.temperature, width)
		if last == nil || key != lastKey {
			w := wordOf(c.temperature)
			p.Series = append(p.Series, series{Name: w.Word, Shape: "blobs", Color: w.Color, Width: width, Unnamed: true})
			last, lastKey = &p.Series[len(p.Series)-1], key
		}
		last.Path += dotPath([]point{at})
	}
	return p, points, len(kept) < len(h.contexts)
}

// limitLines returns the thresholds of cold and hot contexts.
func (h *heapContexts) limitLines(x, y axis) []plotLine {
	l := h.Limits
	if l == nil {
		return nil
	}
	lines := []plotLine{
		{At: tenths(x.at(float64(l.ColdLifetime)) / plotSize * 100), Text: fmt.Sprintf("cold from %d s", l.ColdLifetime), Upright: true},
		{At: tenths(y.at(float64(l.ColdAccessDensity)) / plotSize * 100), Text: fmt.Sprintf("cold below %v", l.ColdAccessDensity)},
	}
	if hot := float64(l.HotAccessDensity); hot < y.hi {
		text := fmt.Sprintf("hot above %v", hot)
		if !l.HasHot {
			text += ", with -memprof-use-hot-hints"
		}
		lines = append(lines, plotLine{At: tenths(y.at(hot) / plotSize * 100), Text: text})
	}
	return lines
}

// thinContexts returns the indexes of the contexts to draw, in order: the contexts with the most bytes,
// and among the others the extremes of lifetime and density.
func thinContexts(all []allocContext) []int {
	wanted := make(map[int]bool)
	if len(all) > maxHeapDots {
		for _, v := range []func(int) float64{
			func(i int) float64 { return all[i].lifetime }, func(i int) float64 { return all[i].density },
		} {
			for _, i := range thin(len(all), maxHeapDots/4, v) {
				wanted[i] = true
			}
		}
	}
	var kept []int
	for i := range all {
		if len(all) <= maxHeapDots || i < maxHeapDots/2 || wanted[i] {
			kept = append(kept, i)
		}
	}
	return kept
}
