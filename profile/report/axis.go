package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// plotSize is the width and height of a chart in the coordinates of its SVG, which the browser stretches
// to fit the page. Texts must not stretch, so their positions are in percent; dots are lines of length
// 0, as thick as their pen.
const plotSize = 1000

// An axis maps values to a side of a chart, 0 to plotSize.
type axis struct {
	lo, hi float64
	log    bool
	zero   float64 // the length below a logarithmic axis for values of 0
	binary bool    // puts the ticks at multiples of powers of two
}

// linearAxis covers the values from lo to hi. An empty range becomes one of length 1.
func linearAxis(lo, hi float64) axis {
	if !(hi > lo) {
		hi = lo + 1
	}
	return axis{lo: lo, hi: hi}
}

// logAxis covers the values from lo to hi, rounded to powers of ten; with zeros it has a position for 0 below lo.
// If lo is not a positive number it becomes 1; if hi is not a number of at least lo it becomes lo.
func logAxis(lo, hi float64, zeros bool) axis {
	if !(lo > 0) || math.IsInf(lo, 0) {
		lo = 1
	}
	if !(hi >= lo) || math.IsInf(hi, 0) {
		hi = lo
	}
	a := axis{lo: math.Pow(10, math.Floor(math.Log10(lo))), hi: math.Pow(10, math.Ceil(math.Log10(hi))), log: true}
	if a.hi <= a.lo {
		a.hi = a.lo * 10
	}
	if zeros {
		a.zero = plotSize / 8
	}
	return a
}

// at returns the position of a value, from 0 to plotSize. Values beyond the ends lie at the ends.
func (a axis) at(v float64) float64 {
	share := (v - a.lo) / (a.hi - a.lo)
	if a.log {
		if !(v > 0) {
			return a.zero / 4 // far enough from the next mark for both texts
		}
		share = math.Log(v/a.lo) / math.Log(a.hi/a.lo)
	}
	if !(share > 0) {
		share = 0
	}
	return a.zero + (plotSize-a.zero)*min(share, 1)
}

// A tick is a mark on an axis, with its text.
type tick struct {
	At   float64 // percent of the way
	Text string
}

// ticks returns about n ticks; label returns the text for a value.
func (a axis) ticks(n int, label func(float64) string) (list []tick) {
	add := func(v float64) { list = append(list, tick{tenths(a.at(v) / plotSize * 100), label(v)}) }
	if a.log {
		if a.zero > 0 {
			add(0)
		}
		decades := int(math.Round(math.Log10(a.hi / a.lo)))
		step := max(1, (decades+n-1)/n)
		for d := 0; d <= decades; d += step {
			add(a.lo * math.Pow(10, float64(d)))
		}
		return list
	}
	step := niceStep((a.hi - a.lo) / float64(n))
	if a.binary {
		step = math.Pow(2, math.Ceil(math.Log2(step)))
	}
	for v := math.Ceil(a.lo/step) * step; v <= a.hi+step*1e-6; v += step {
		add(v)
	}
	return list
}

// niceStep returns the least of 1, 2, 5, 10, 20 … that is at least v. Axes show numbers
// of things, so no step is below 1.
func niceStep(v float64) float64 {
	if !(v > 1) {
		return 1
	}
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*base >= v {
			return m * base
		}
	}
	return 10 * base
}

// tenths rounds to one digit after the point, a tenth of what a screen can show of a chart.
func tenths(v float64) float64 { return math.Round(v*10) / 10 }

func tenthsText(v float64) string { return strconv.FormatFloat(tenths(v), 'f', -1, 64) }

// hundredthsText is for boxes side by side: an error of a tenth is visible in the gap between them.
func hundredthsText(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }

// A point is a point of a chart in its coordinates; y grows downward.
type point struct{ x, y float64 }

// dotPath returns path data that shows each point with a round pen.
func dotPath(points []point) string {
	var b strings.Builder
	for _, p := range points {
		b.WriteByte('M')
		writePoint(&b, p)
		b.WriteString("h0")
	}
	return b.String()
}

// stepPath returns path data of a line that keeps the height of each point until the next one.
func stepPath(points []point) string {
	var b strings.Builder
	for i, p := range points {
		if i == 0 {
			b.WriteByte('M')
			writePoint(&b, p)
			continue
		}
		fmt.Fprintf(&b, "H%sV%s", tenthsText(p.x), tenthsText(p.y))
	}
	return b.String()
}

// bandPath returns path data of the area between two lines.
func bandPath(upper, lower []point) string {
	var b strings.Builder
	for i, p := range upper {
		if i == 0 {
			b.WriteByte('M')
		} else {
			b.WriteByte('L')
		}
		writePoint(&b, p)
	}
	for i := len(lower) - 1; i >= 0; i-- {
		b.WriteByte('L')
		writePoint(&b, lower[i])
	}
	b.WriteByte('Z')
	return b.String()
}

func writePoint(b *strings.Builder, p point) {
	b.WriteString(tenthsText(p.x))
	b.WriteByte(' ')
	b.WriteString(tenthsText(p.y))
}

// thin chooses about limit of n things and returns their indexes in ascending order. It
// divides the things into equal stretches and keeps the lowest and the highest of each,
// with some between them at equal distances, so that outliers and density stay visible.
func thin(n, limit int, height func(i int) float64) []int {
	const each = 32 // of a stretch
	if n <= limit {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all
	}
	stretches := max(1, limit/each)
	kept := make([]int, 0, stretches*each)
	for s := range stretches {
		from, to := s*n/stretches, (s+1)*n/stretches
		if from == to {
			continue
		}
		least, most := from, from
		for i := from; i < to; i++ {
			if height(i) < height(least) {
				least = i
			}
			if height(i) > height(most) {
				most = i
			}
		}
		wanted := map[int]bool{least: true, most: true}
		for k := range each - 2 {
			wanted[from+k*(to-from)/(each-2)] = true
		}
		for i := from; i < to; i++ {
			if wanted[i] {
				kept = append(kept, i)
			}
		}
	}
	return kept
}
