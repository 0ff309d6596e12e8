package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
)

// A cutoffChart shows for each share of the total the least of the counts that make it up.
type cutoffChart struct {
	Of     string // "blocks" or "functions"
	Points []cutoffPoint
	Lines  []cutoffLine
	Ticks  []cutoffTick
	Height int
	Bottom int // where the axis is
	Text   string
}

// A cutoffPoint is a cutoff of the summary: how many values make up a share of the total, and the least of them.
type cutoffPoint struct {
	Share      string // of the total, "99.9 %"
	None       bool   // the share is less than 1, so it needs no values and has no point in the drawing
	Values     uint64
	OfValues   float64
	Min        uint64
	CX         template.HTMLAttr
	X          template.HTMLAttr
	CY         int
	Class      string // of a compiler's threshold; empty for other points
	Name       string // of the threshold
	LabelClass string
	Anchor     string
}

type cutoffLine struct {
	X1, X2 template.HTMLAttr
	Y1, Y2 int
}

type cutoffTick struct {
	Y    int
	Text string
}

// Measures of the drawing in pixels; widths are shares of its width.
const (
	curveTop    = 16
	curveBottom = 176
	curveHeight = 200
	curveLeft   = 0.09
	curveRight  = 0.97
)

// newCutoffChart draws the cutoffs of the summary at equal distances, and counts on a
// logarithmic axis; nil if the profile has no counts.
func newCutoffChart(src *source) *cutoffChart {
	d := &src.summary.Counts
	if !src.heat.counts || d.Total == 0 || len(d.Cutoffs) < 2 {
		return nil
	}
	c := &cutoffChart{Of: "blocks", Height: curveHeight, Bottom: curveBottom}
	if src.summary.OfCalls {
		c.Of = "functions"
	}
	// The description tells of a cutoff in the middle that has values.
	half := len(d.Cutoffs) / 2
	for half < len(d.Cutoffs) && d.Cutoffs[half].Values == 0 {
		half++
	}
	if half == len(d.Cutoffs) {
		return nil
	}
	decades := max(1, math.Ceil(math.Log10(float64(max(d.Max, 2)))))
	y := func(count uint64) int {
		level := math.Log10(float64(max(count, 1))) / decades
		return curveBottom - int(math.Round(level*(curveBottom-curveTop)))
	}
	units := []string{"", " K", " M", " G", " T", " P", " E"}
	for step := 0; step <= int(decades); step += 1 + int(decades)/5 {
		power := [...]string{"1", "10", "100"}[step%3] + units[min(step/3, len(units)-1)]
		c.Ticks = append(c.Ticks, cutoffTick{curveBottom - int(math.Round(float64(step)/decades*(curveBottom-curveTop))), power})
	}
	for i, k := range d.Cutoffs {
		at := curveLeft + (curveRight-curveLeft)*float64(i)/float64(len(d.Cutoffs)-1)
		p := cutoffPoint{
			Share: strconv.FormatFloat(float64(k.Share)/10_000, 'f', -1, 64) + " %", Values: k.Values, OfValues: float64(k.Values) / float64(max(d.Values, 1)),
			Min: k.Min, None: k.Values == 0, CX: percentAttr("cx", at), X: percentAttr("x", at), CY: y(k.Min), LabelClass: "often",
		}
		p.Anchor = "middle"
		last := len(d.Cutoffs) - 1
		// A narrow page has room for every third label.
		if i%3 != 0 || last-i < 4 && i < last {
			p.LabelClass = "seldom"
		}
		if i == last {
			p.LabelClass, p.Anchor, p.X = "often", "end", percentAttr("x", 1)
		}
		switch k.Share {
		case hotCutoff:
			p.Class, p.Name = "fill-hot", "hot from here on"
		case coldCutoff:
			p.Class, p.Name = "fill-cold", "cold down from here"
		}
		if i > 0 && !c.Points[i-1].None {
			before := c.Points[i-1]
			c.Lines = append(c.Lines, cutoffLine{
				percentAttr("x1", curveLeft+(curveRight-curveLeft)*float64(i-1)/float64(len(d.Cutoffs)-1)), percentAttr("x2", at), before.CY, p.CY,
			})
		}
		c.Points = append(c.Points, p)
	}
	typical := c.Points[half]
	c.Text = fmt.Sprintf("Counts over shares of the total: %s %s with counts of %s or more make up %s", countText(typical.Values), c.Of, countText(typical.Min), typical.Share)
	return c
}

func percentAttr(name string, share float64) template.HTMLAttr {
	return template.HTMLAttr(name + `="` + strconv.FormatFloat(math.Round(share*1e5)/1e3, 'f', -1, 64) + `%"`)
}
