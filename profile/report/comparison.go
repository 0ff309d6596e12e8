package report

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/numbering"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/compare"
)

const (
	// maxComparisonRows bounds the rows of the table. It drops the rows whose share changed least.
	maxComparisonRows = 50_000
	maxScatterPoints  = 4_000 // bounds the points of the drawing to the rows whose share changed most
	maxComparedFrames = 8     // bounds how much of a stack is in its name
)

// comparisonData is the data of the page's script. A column has an entry for each function or stack that changed.
type comparisonData struct {
	Kind      string    `json:"kind"` // "functions", "stacks of samples"
	Name      []int     `json:"name"`
	File      []int     `json:"file"` // -1 for none
	Base      []uint64  `json:"base"`
	New       []uint64  `json:"new"`
	BaseShare []float64 `json:"baseShare"` // 0 to 1
	NewShare  []float64 `json:"newShare"`
	Before    []int     `json:"before"` // index in Temperatures
	After     []int     `json:"after"`
	// Lists has for each row the lists that contain it, a bit for each of ListTitles.
	Lists        []int     `json:"lists"`
	ListTitles   []string  `json:"listTitles"`
	ListCounts   []int     `json:"listCounts"` // rows of the whole lists, omitted ones included
	Temperatures []string  `json:"temperatures"`
	Unit         string    `json:"unit"`
	Points       int       `json:"points"` // the number of rows in the drawing, the first ones
	Scale        scaleData `json:"scale"`
}

// scaleData is the scale of the drawing, in pixels.
type scaleData struct {
	Low     int `json:"low"`  // of the least share
	High    int `json:"high"` // of the whole
	None    int `json:"none"` // of no share
	Size    int `json:"size"`
	Decades int `json:"decades"`
}

type comparedList struct {
	title   string
	changes []compare.Change
}

// comparedLists returns the lists in the order of the page, which is also the order of the bits of
// comparedRow.lists.
func comparedLists(r *compare.Result) []comparedList {
	return []comparedList{
		{"Became hot", r.BecameHot},
		{"No longer hot", r.LeftHot},
		{"Ran for the first time", r.Started},
		{"Does not run any more", r.Stopped},
		{"New", r.Appeared},
		{"Gone", r.Disappeared},
		{"Control flow changed", r.HashChanged},
		{"Share changed", r.Movers},
	}
}

type comparedRow struct {
	compare.Change
	// A bit for each list that contains the row.
	lists int
	name  string
}

type comparison struct {
	*compare.Result
	rows    []comparedRow // the greatest change first
	counts  []int         // of the lists, in their order
	omitted int
}

// comparisonPage shows how two profiles differ; nil if they have nothing to
// compare. It uses the table of names of a.
func comparisonPage(a, b *source) (*page, error) {
	r, err := compareSources(a, b)
	if err != nil || r == nil {
		return nil, err
	}
	c := newComparison(r, a)
	return newPage(comparisonID, "Comparison", c.static(a, b), c.data(a.names))
}

// compareSources compares functions or, if the base does not count functions, the stacks of the base's
// first set. It returns nil if the profiles cannot be compared: the report then has no comparison.
func compareSources(a, b *source) (*compare.Result, error) {
	r, err := compare.Views(a.view, b.view, compare.Options{})
	if err != nil {
		return nil, nil
	}
	if r.Base.Items == 0 && r.New.Items == 0 {
		return nil, nil
	}
	if !(r.Overlap >= 0 && r.Overlap <= 1+1e-9) {
		return nil, errors.New("the overlap of the profiles is no share")
	}
	r.Overlap = min(r.Overlap, 1)
	return r, nil
}

// newComparison joins the lists: a function or stack of several lists is one row.
func newComparison(r *compare.Result, src *source) *comparison {
	c := &comparison{Result: r}
	type key struct {
		symbol profile.Symbol
		frames string
	}
	var rows numbering.Table[key]
	for i, list := range comparedLists(r) {
		c.counts = append(c.counts, len(list.changes))
		for j := range list.changes {
			ch := &list.changes[j]
			k := key{symbol: ch.Symbol}
			if ch.Frames != nil {
				k.frames = fmt.Sprint(ch.Frames)
			}
			row := int(rows.Of(k))
			if row == len(c.rows) {
				c.rows = append(c.rows, comparedRow{Change: *ch})
			}
			c.rows[row].lists |= 1 << i
		}
	}
	slices.SortStableFunc(c.rows, func(a, b comparedRow) int {
		switch x, y := math.Abs(a.Delta), math.Abs(b.Delta); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return strings.Compare(a.Symbol.Name, b.Symbol.Name)
	})
	if n := len(c.rows) - maxComparisonRows; n > 0 {
		c.omitted, c.rows = n, c.rows[:maxComparisonRows]
	}
	for i := range c.rows {
		c.rows[i].name = changeName(src, &c.rows[i].Change)
	}
	return c
}

// changeName returns the name of a function, or of a stack, the callee first.
func changeName(src *source, c *compare.Change) string {
	if c.Frames == nil {
		return src.symbolName(&c.Symbol)
	}
	var parts []string
	for i := range c.Frames {
		if i == maxComparedFrames {
			parts = append(parts, fmt.Sprintf("%d more", len(c.Frames)-i))
			break
		}
		parts = append(parts, src.frameName(&c.Frames[i]))
	}
	return strings.Join(parts, " < ")
}

func (c *comparison) what() string {
	if c.Kind == profile.FunctionSet {
		return "functions"
	}
	return "stacks of " + clean(c.Kind)
}

func (c *comparison) data(names *nameTable) *comparisonData {
	d := &comparisonData{Kind: c.what(), Unit: string(c.Unit), ListCounts: c.counts, Points: min(len(c.rows), maxScatterPoints)}
	d.Scale = scaleData{scatterLow, scatterHigh, scatterNone, scatterSize, newScatterScale(c.rows).decades}
	for _, list := range comparedLists(c.Result) {
		d.ListTitles = append(d.ListTitles, list.title)
	}
	temperatures := []compare.Temperature{compare.Absent, compare.NeverRan, compare.Cold, compare.Warm, compare.Hot}
	for _, t := range temperatures {
		d.Temperatures = append(d.Temperatures, string(t))
	}
	for i := range c.rows {
		r := &c.rows[i]
		d.Name = append(d.Name, names.add(r.name))
		d.File = append(d.File, names.addOrNone(r.Symbol.File))
		d.Base = append(d.Base, r.Base)
		d.New = append(d.New, r.New)
		d.BaseShare = append(d.BaseShare, roundShare(r.BaseShare))
		d.NewShare = append(d.NewShare, roundShare(r.NewShare))
		d.Before = append(d.Before, slices.Index(temperatures, r.Before))
		d.After = append(d.After, slices.Index(temperatures, r.After))
		d.Lists = append(d.Lists, r.lists)
	}
	return d
}

// roundShare rounds a share to six digits, more than the page shows.
func roundShare(x float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, 6-math.Ceil(math.Log10(x)))
	if math.IsInf(scale, 0) {
		return 0
	}
	return math.Round(x*scale) / scale
}
