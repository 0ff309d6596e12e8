//go:build linux

package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Sizes in pixels.
const (
	panelWidth, panelHeight = 400.0, 380.0
	left, top, gap          = 62.0, 44.0, 74.0
	legendWidth             = 378.0
)

// colours of the series, dark enough for thin lines; every second line is dashed.
var colours = []string{
	"#1b6ac9", "#c2410c", "#15803d", "#7c3aed", "#b91c1c", "#0e7490", "#a16207", "#be185d", "#4b5563", "#0f766e", "#4338ca", "#65a30d", "#9d174d", "#57534e",
}

// style follows the page that shows the drawing.
const style = `<style>
rect{fill:#fff}text{fill:#222}.grid{stroke:#ddd}.even{stroke:#000;stroke-opacity:.35;stroke-dasharray:1 4}
@media (prefers-color-scheme:dark){rect{fill:#1b1b1f}text{fill:#ddd}.grid{stroke:#3c3c43}.even{stroke:#fff}.series{filter:brightness(1.6)}}
</style>
`

// A panel is one drawing on logarithmic scales.
type panel struct {
	title    string
	x        float64 // of its left side
	of       func(point) float64
	low, end float64 // decades of the vertical scale
}

// position returns the position of a value at a size. The horizontal scale has four decades, from 10³ to 10⁷ counters.
func (p *panel) position(n int, v float64) (x, y float64) {
	x = p.x + panelWidth*(math.Log10(float64(n))-3)/4
	y = top + panelHeight*(1-(math.Log10(v)-p.low)/(p.end-p.low))
	return x, y
}

// draw draws all series: CPU time on the left, memory on the right, then their names.
func draw(all []series) string {
	panels := []*panel{
		{title: "CPU time, seconds", x: left, of: cpuOf, low: -2, end: 2},
		{title: "Peak memory, MiB", x: left + panelWidth + gap, of: memoryOf, low: 1, end: 4},
	}
	width, height := left+2*panelWidth+gap+legendWidth, top+panelHeight+48
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="12">`+"\n", width, height)
	b.WriteString(style)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f"/>`+"\n", width, height)
	for _, p := range panels {
		p.grid(&b)
		for i := range all {
			p.line(&b, &all[i], i)
		}
	}
	x := panels[1].x + panelWidth + 24
	fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" text-anchor="end" font-weight="bold">power of time</text>`, x+284, top+4)
	fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" text-anchor="end" font-weight="bold">memory</text>`+"\n", x+344, top+4)
	for i := range all {
		y := top + 28 + 22*float64(i)
		fmt.Fprintf(&b, `<path d="M%.0f %.0fh22"%s/><text x="%.0f" y="%.0f">%s</text>`, x, y-4, stroke(i), x+28, y, html.EscapeString(all[i].name))
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" text-anchor="end">%s</text><text x="%.0f" y="%.0f" text-anchor="end">%s</text>`+"\n",
			x+284, y, power(all[i].exponent(cpuOf)), x+344, y, power(all[i].exponent(memoryOf)))
	}
	// The last entry explains the dotted lines of the grid.
	y := top + 28 + 22*float64(len(all))
	fmt.Fprintf(&b, `<path d="M%.0f %.0fh22" class="even"/><text x="%.0f" y="%.0f">in proportion: 1</text>`+"\n", x, y-4, x+28, y)
	b.WriteString("</svg>\n")
	return b.String()
}

// stroke returns the attributes of the line of a series. Every second line is dashed for readers who cannot distinguish the
// colours.
func stroke(i int) string {
	dash := ""
	if i%2 == 1 {
		dash = ` stroke-dasharray="6 3"`
	}
	return fmt.Sprintf(` class="series" fill="none" stroke="%s" stroke-width="1.8"%s`, colours[i%len(colours)], dash)
}

// grid draws the scales, and lines of slope 1.
func (p *panel) grid(b *strings.Builder) {
	fmt.Fprintf(b, `<text x="%.0f" y="%.0f" font-weight="bold">%s</text>`+"\n", p.x, top-16, p.title)
	for d := p.low; d <= p.end; d++ {
		_, y := p.position(1000, math.Pow(10, d))
		fmt.Fprintf(b, `<path d="M%.0f %.1fh%.0f" class="grid"/><text x="%.0f" y="%.1f" text-anchor="end">%s</text>`+"\n", p.x, y, panelWidth, p.x-6, y+4, number(math.Pow(10, d)))
	}
	// The sizes, in powers of ten.
	for d := 3; d <= 7; d++ {
		x, _ := p.position(int(math.Pow10(d)), math.Pow(10, p.low))
		fmt.Fprintf(b, `<path d="M%.1f %.0fv%.0f" class="grid"/><text x="%.1f" y="%.0f" text-anchor="middle">%s</text>`+"\n", x, top, panelHeight, x, top+panelHeight+18, number(math.Pow10(d)))
	}
	fmt.Fprintf(b, `<text x="%.0f" y="%.0f" text-anchor="middle">counters in all inputs</text>`+"\n", p.x+panelWidth/2, top+panelHeight+38)
	for d := p.low - 4; d <= p.end; d++ { // parts of the lines that are in the panel
		from, to := max(0, p.low-d), min(4, p.end-d)
		if from >= to {
			continue
		}
		x1, y1 := p.position(int(math.Pow(10, 3+from)), math.Pow(10, d+from))
		x2, y2 := p.position(int(math.Pow(10, 3+to)), math.Pow(10, d+to))
		fmt.Fprintf(b, `<path d="M%.1f %.1fL%.1f %.1f" class="even"/>`+"\n", x1, y1, x2, y2)
	}
}

// line draws a series. Values below the scale are on its edge.
func (p *panel) line(b *strings.Builder, s *series, i int) {
	var d strings.Builder
	for k, pt := range s.points {
		x, y := p.position(pt.n, max(p.of(pt), math.Pow(10, p.low)))
		fmt.Fprintf(&d, "%c%.1f %.1f", "ML"[min(k, 1)], x, y)
	}
	fmt.Fprintf(b, `<path d="%s"%s><title>%s</title></path>`+"\n", d.String(), stroke(i), html.EscapeString(s.name))
}

// number prints a power of ten.
func number(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.0fM", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.0fk", v/1e3)
	}
	return fmt.Sprintf("%g", v)
}
