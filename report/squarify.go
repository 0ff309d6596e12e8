package report

import "math"

// A rect is a part of a drawing, in pixels.
type rect struct{ x, y, w, h float64 }

// squarify divides r into rectangles whose areas are in proportion to weights,
// which stand in descending order, none of them negative. Rectangles are as
// close to squares as rows that are filled from the heaviest on make them; what
// weighs nothing gets an empty one.
//
// The algorithm is that of Bruls, Huizing and van Wijk, "Squarified treemaps".
func squarify(weights []float64, r rect) []rect {
	out := make([]rect, len(weights))
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	if sum <= 0 || r.w <= 0 || r.h <= 0 {
		for i := range out {
			out[i] = rect{x: r.x, y: r.y}
		}
		return out
	}
	scale := r.w / sum * r.h
	for from := 0; from < len(weights); {
		side := min(r.w, r.h)
		if side <= 0 || weights[from] <= 0 {
			for ; from < len(weights); from++ {
				out[from] = rect{x: r.x, y: r.y}
			}
			break
		}
		to, row := from+1, weights[from]*scale
		for worst := ratio(row, row, row, side); to < len(weights); to++ {
			next := weights[to] * scale
			with := ratio(weights[from]*scale, next, row+next, side)
			if with > worst {
				break
			}
			row, worst = row+next, with
		}
		across := r.w <= r.h // the row lies along the top
		thick := row / side
		if to == len(weights) {
			thick = max(r.w, r.h) // what is left, without rounding
		}
		at := 0.0
		for ; from < to; from++ {
			length := min(side*(weights[from]*scale/row), side-at)
			if across {
				out[from] = rect{r.x + at, r.y, length, min(thick, r.h)}
			} else {
				out[from] = rect{r.x, r.y + at, min(thick, r.w), length}
			}
			at += length
		}
		if across {
			r.y, r.h = r.y+thick, max(0, r.h-thick)
		} else {
			r.x, r.w = r.x+thick, max(0, r.w-thick)
		}
	}
	return out
}

// ratio returns the worst ratio of sides, at least 1, of a row along side with
// the given largest, smallest and whole area.
func ratio(largest, smallest, sum, side float64) float64 {
	if smallest <= 0 {
		return math.Inf(1)
	}
	thick := sum / side
	return max(largest/(thick*thick), thick*thick/smallest)
}
