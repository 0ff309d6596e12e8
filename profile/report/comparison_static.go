package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/compare"
)

type staticComparison struct {
	Headline []string // sentences
	Facts    []fact
	Scatter  *scatter
	Lists    []staticList
	Omitted  uint64
	What     string
}

type staticList struct {
	Title string
	Count uint64
	Rows  []changeRow
	More  uint64
}

// A changeRow is a function or stack with its bar.
type changeRow struct {
	Name, File string
	Base, New  string // shares
	// In percentage points, with a sign.
	Points         string
	Before, After  string
	X1, X2         template.HTMLAttr // of the line
	CX1, CX2       template.HTMLAttr // of its ends
	Rise, Fall     bool
	NoBase, NoNew  bool // absent from the base, from the new profile
	BarDescription string
}

const listRows = 20

// static makes the page without scripts. The scale of the bars of a list ends at the list's greatest share.
func (c *comparison) static(a, b *source) *staticComparison {
	s := &staticComparison{Headline: c.headline(a, b), Facts: c.facts(a, b), Scatter: c.scatter(a, b), Omitted: uint64(c.omitted), What: c.what()}
	for _, list := range comparedLists(c.Result) {
		if len(list.changes) == 0 {
			continue
		}
		l := staticList{Title: list.title, Count: uint64(len(list.changes))}
		scale := 0.0
		shown := list.changes[:min(len(list.changes), listRows)]
		for i := range shown {
			scale = max(scale, shown[i].BaseShare, shown[i].NewShare)
		}
		for i := range shown {
			l.Rows = append(l.Rows, newChangeRow(a, &shown[i], scale))
		}
		// The script lists them all.
		l.More = l.Count - uint64(len(l.Rows))
		s.Lists = append(s.Lists, l)
	}
	return s
}

// newChangeRow draws a change; scale is the share at the right end.
func newChangeRow(src *source, c *compare.Change, scale float64) changeRow {
	r := changeRow{
		Name: changeName(src, c), Base: percentText(c.BaseShare), New: percentText(c.NewShare), Points: pointsText(c.Delta),
		Before: string(c.Before), After: string(c.After), Rise: c.Delta > 0, Fall: c.Delta < 0,
		NoBase: c.Before == compare.Absent, NoNew: c.After == compare.Absent,
	}
	if c.Frames == nil {
		r.File = clean(c.Symbol.File)
	}
	// Keep the ends of the bar inside the drawing.
	at := func(share float64) float64 {
		if scale > 0 {
			share /= scale
		}
		return 0.06 + 0.88*share
	}
	x, y := at(c.BaseShare), at(c.NewShare)
	r.X1, r.X2 = percentAttr("x1", x), percentAttr("x2", y)
	r.CX1, r.CX2 = percentAttr("cx", x), percentAttr("cx", y)
	r.BarDescription = "from " + r.Base + " to " + r.New
	return r
}

// pointsText prints a difference of shares in percentage points.
func pointsText(d float64) string {
	switch {
	case d == 0:
		return "0"
	// Less than half a hundredth of a point would print as no change.
	case math.Abs(d) < 0.00005:
		return map[bool]string{true: "+<0.01", false: "−<0.01"}[d > 0]
	case d < 0:
		return fmt.Sprintf("−%.2f", -100*d)
	}
	return fmt.Sprintf("+%.2f", 100*d)
}

func (c *comparison) headline(a, b *source) []string {
	if c.Base.Total == 0 || c.New.Total == 0 {
		empty := a.label
		if c.New.Total == 0 {
			empty = b.label
		}
		return []string{fmt.Sprintf("Nothing ran in %s, so there are no shares to compare.", empty)}
	}
	out := []string{fmt.Sprintf("%s and %s have %s of their weight in common: %s.", a.label, b.label, percentText(c.Overlap), likeness(c.Overlap))}
	out = append(out, c.turnover())
	if n := len(c.HashChanged); n > 0 {
		out = append(out, countNoun(n, "function has", "functions have")+" another control flow: what the base says of "+singularOr(n, "it", "them")+" is of no use to a compiler of the new.")
	}
	if len(c.Movers) > 0 {
		m := &c.Movers[0]
		out = append(out, fmt.Sprintf("%s moved most: from %s to %s.", changeName(a, m), percentText(m.BaseShare), percentText(m.NewShare)))
	}
	return out
}

func (c *comparison) turnover() string {
	number := func(n int) string {
		if n == 0 {
			return "none"
		}
		return countText(uint64(n))
	}
	// "hot functions", "hot stacks"; of stacks the word is not the name of their set.
	hot := countNoun(c.Base.Hot, "hot "+strings.TrimSuffix(c.what(), "s"), "hot "+c.what())
	if c.Kind != profile.FunctionSet {
		hot = countNoun(c.Base.Hot, "hot stack", "hot stacks")
	}
	became := number(len(c.BecameHot)) + " became hot."
	if len(c.LeftHot) == 0 {
		return "Of " + hot + " all are still hot; " + became
	}
	return fmt.Sprintf("Of %s %s %s no longer hot (%s); %s", hot, number(len(c.LeftHot)), singularOr(len(c.LeftHot), "is", "are"), percentText(c.HotTurnover), became)
}

// The limits are profuse's own: no compiler has them.
func likeness(overlap float64) string {
	switch {
	case overlap >= 0.99:
		return "they are as good as the same"
	case overlap >= 0.9:
		return "they are alike"
	case overlap >= 0.5:
		return "they differ"
	}
	return "they are of different work"
}

func singularOr(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func countNoun(n int, one, many string) string {
	return countText(uint64(n)) + " " + singularOr(n, one, many)
}

func (c *comparison) facts(a, b *source) []fact {
	pair := func(x, y int) string { return countText(uint64(x)) + " → " + countText(uint64(y)) }
	what := c.what()
	out := []fact{
		{Name: "Base", Value: a.label + ": " + clean(a.id.String())},
		{Name: "New", Value: b.label + ": " + clean(b.id.String())},
		{Name: strings.ToUpper(what[:1]) + what[1:], Value: fmt.Sprintf("%s (%s new, %s gone)", pair(c.Base.Items, c.New.Items),
			countText(uint64(len(c.Appeared))), countText(uint64(len(c.Disappeared))))},
		{Name: "That ran", Value: pair(c.Base.Ran, c.New.Ran)},
		{Name: "Hot", Value: fmt.Sprintf("%s (%s no longer hot, %s)", pair(c.Base.Hot, c.New.Hot),
			countText(uint64(len(c.LeftHot))), percentText(c.HotTurnover))},
		{Name: "In common", Value: percentText(c.Overlap) + " of the weight"},
	}
	total := func(s *compare.Side) string {
		unit := c.Unit
		if unit == "" {
			unit = profile.Count
		}
		// Totals are sums in floating point, which may exceed 64 bits.
		return valueText(uint64(min(s.Total, 1<<63)), unit)
	}
	totals := total(&c.Base) + " → " + total(&c.New)
	// Totals of different families, such as calls and samples, are no multiples of each other.
	if c.Base.Total > 0 && c.Base.Identity.Family == c.New.Identity.Family {
		totals += fmt.Sprintf(" (%.2f times)", c.New.Total/c.Base.Total)
	}
	out = append(out, fact{Name: "Total", Value: totals})
	if n := len(c.HashChanged); n > 0 {
		out = append(out, fact{Name: "Control flow", Value: countNoun(n, "function changed", "functions changed")})
	}
	return out
}

// A scatter shows the shares before and after, both logarithmic. An item that is absent
// from one side lies on the edge.
type scatter struct {
	Size   int
	Ticks  []scatterTick
	Points []scatterPoint
	Text   string
	More   uint64
}

// A scatterTick is a mark at the same distance along both axes: At pixels from the left, Up pixels from the top.
type scatterTick struct {
	At, Up int
	Text   string
}

type scatterPoint struct {
	X, Y         string
	Class, Title string
}

const (
	// Measures of the drawing. It has staticDots points without scripts.
	scatterSize = 408
	scatterLow  = 80  // pixels; of the least share
	scatterHigh = 368 // of the whole
	scatterNone = 68  // of nothing
	staticDots  = 600
)

// scatterScale maps shares to pixels along an axis.
type scatterScale struct{ decades int }

// newScatterScale returns the scale that has room for all shares, of at most eight powers of ten.
func newScatterScale(rows []comparedRow) scatterScale {
	least := 1.0
	for i := range rows {
		for _, s := range []float64{rows[i].BaseShare, rows[i].NewShare} {
			if s > 0 {
				least = min(least, s)
			}
		}
	}
	return scatterScale{decades: min(max(int(math.Ceil(-math.Log10(least))), 1), 8)}
}

// at returns the pixel of a share, counted from the beginning of the axis.
func (s scatterScale) at(share float64) float64 {
	if share <= 0 {
		return scatterNone
	}
	part := 1 + math.Log10(share)/float64(s.decades)
	return scatterLow + min(max(part, 0), 1)*(scatterHigh-scatterLow)
}

// scatter draws the items whose share changed most; nil if there are none.
func (c *comparison) scatter(a, b *source) *scatter {
	if len(c.rows) == 0 {
		return nil
	}
	scale := newScatterScale(c.rows)
	s := &scatter{Size: scatterSize}
	for d := range scale.decades + 1 {
		share := math.Pow(10, float64(-d))
		text := strconv.FormatFloat(100*share, 'g', 3, 64) + " %"
		// Below a millionth there is no room for labels; with many decades every second one has none.
		if d > 6 {
			text = ""
		}
		if d%2 == 1 && scale.decades > 4 {
			text = ""
		}
		at := int(math.Round(scale.at(share)))
		s.Ticks = append(s.Ticks, scatterTick{at, scatterSize - at, text})
	}
	for i := range c.rows[:min(len(c.rows), staticDots)] {
		r := &c.rows[i]
		s.Points = append(s.Points, scatterPoint{
			X: tenthsText(scale.at(r.BaseShare)), Y: tenthsText(scatterSize - scale.at(r.NewShare)), Class: r.class(),
			Title: r.name + ": " + percentText(r.BaseShare) + " → " + percentText(r.NewShare),
		})
	}
	s.More = uint64(len(c.rows) - len(s.Points))
	s.Text = fmt.Sprintf("Shares of %s in %s, rightwards, and in %s, upwards, both logarithmic; what is on the line has not changed", c.what(), a.label, b.label)
	return s
}

func (r *comparedRow) class() string {
	switch {
	case r.After == compare.Hot && r.Before != compare.Hot:
		return "fill-hot"
	case r.Before == compare.Hot && r.After != compare.Hot:
		return "fill-cold"
	case r.Before == compare.Absent || r.After == compare.Absent:
		return "fill-c3"
	}
	return "fill-never"
}
