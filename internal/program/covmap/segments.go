package covmap

import (
	"iter"
	"math"
	"slices"
)

// A Segment holds the count from a position up to the next segment.
type Segment struct {
	Position
	Count    uint64
	HasCount bool // false: the text was skipped, or no region covers it
	Entry    bool // a region begins here
	Gap      bool
}

// A segmentBuilder divides a file into segments by its regions, as LLVM's SegmentBuilder does.
type segmentBuilder struct {
	ownRules bool // Coverage.Collect says how its lines differ from llvm-cov's
	out      []Segment
	active   []*CountedRegion // regions that enclose the current position, outermost first
	ended    []*CountedRegion
	sorter   runSorter[CountedRegion]
}

// build sorts and combines regions and returns their segments, which are valid until the next call.
func (b *segmentBuilder) build(regions []CountedRegion) []Segment {
	b.out, b.active = b.out[:0], b.active[:0]
	b.divide(b.sorter.sort(regions, compareRegions, (*CountedRegion).combine))
	return b.out
}

// ownLines sorts and combines regions and returns their lines by the rules of [Coverage.Collect].
func (b *segmentBuilder) ownLines(regions []CountedRegion) iter.Seq[Line] {
	b.ownRules = true
	defer func() { b.ownRules = false }()
	return countLines(b.build(regions), ownLineCount)
}

// compareRegions compares regions by start. If two regions have one start, the enclosing region
// comes first.
func compareRegions(a, b *CountedRegion) int {
	if c := comparePositions(a.Start, b.Start); c != 0 {
		return c
	}
	return comparePositions(b.End, a.End)
}

// combine makes one region of two with the same range. The result has the lesser kind and the sum of
// the counts of that kind.
func (r *CountedRegion) combine(other *CountedRegion) {
	switch {
	case r.Kind == other.Kind:
		r.Count += other.Count
	case r.Kind > other.Kind:
		*r = *other
	}
}

func (b *segmentBuilder) divide(regions []CountedRegion) {
	nearest := Position{math.MaxUint32, math.MaxUint32} // end of an active region
	for i := range regions {
		r := &regions[i]
		if !r.Start.before(nearest) {
			nearest = b.end(r.Start)
			if len(b.ended) > 0 {
				b.close(&r.Start)
			}
		}
		last, gap := i+1 == len(regions), r.Kind == Gap
		if r.Start == r.End && b.ownRules && r.Kind == Code {
			b.startEmpty(r)
			continue
		}
		if r.Start == r.End { // an empty region
			skipped := last || r.Kind == Skipped
			counts := r
			if n := len(b.active); n > 0 {
				counts = b.active[n-1]
			}
			b.start(counts, r.Start, !gap, skipped)
			if skipped && len(b.active) > 0 {
				b.start(counts, r.Start, false, false)
			}
			continue
		}
		if last || r.Start != regions[i+1].Start {
			b.start(r, r.Start, !gap, false)
		}
		if n := len(b.active); n > 0 && b.ownRules && !gap && r.Kind != Skipped && b.active[n-1].Kind == Gap {
			b.active[n-1].Kind = Code // the body of a switch, not the space between two statements
		}
		b.active = append(b.active, r)
		if r.End.before(nearest) {
			nearest = r.End
		}
	}
	if len(b.active) > 0 {
		b.ended, b.active = append(b.ended[:0], b.active...), b.active[:0]
		b.close(nil)
	}
}

// startEmpty emits the segments of an empty region, where a macro of a system header begins a statement
// or a function. Its count holds for no text behind the macro. A macro may have several regions, whose
// counts are added up: they are at most the count of the code around them.
func (b *segmentBuilder) startEmpty(r *CountedRegion) {
	n := len(b.active)
	if n == 0 {
		return // a function without text of its own
	}
	statement := *r
	statement.Count = min(r.Count, b.active[n-1].Count)
	b.start(&statement, r.Start, true, false)
	b.start(b.active[n-1], r.Start, false, false)
}

// end moves the active regions that end at a position or before to b.ended, and returns the
// nearest end of the others.
func (b *segmentBuilder) end(at Position) (nearest Position) {
	nearest = Position{math.MaxUint32, math.MaxUint32}
	b.ended = b.ended[:0]
	active := b.active[:0]
	for _, a := range b.active {
		if !at.before(a.End) {
			b.ended = append(b.ended, a)
			continue
		}
		active = append(active, a)
		if a.End.before(nearest) {
			nearest = a.End
		}
	}
	b.active = active
	return nearest
}

// start emits a segment with the count of r, or without a count if skipped is set.
func (b *segmentBuilder) start(r *CountedRegion, at Position, entry, skipped bool) {
	has, gap := !skipped && r.Kind != Skipped, r.Kind == Gap
	if n := len(b.out); n > 0 && !entry && !skipped {
		last := &b.out[n-1]
		if last.HasCount == has && last.Count == r.Count && !last.Entry && (last.Gap == gap || !b.ownRules) {
			return
		}
	}
	b.out = append(b.out, Segment{})
	s := &b.out[len(b.out)-1]
	s.Position, s.HasCount, s.Entry = at, has, entry
	if has {
		s.Count, s.Gap = r.Count, gap
	}
}

// close emits the segments at the ends of the regions in b.ended. next is the start of the next
// region, nil after the last.
func (b *segmentBuilder) close(next *Position) {
	ended := b.ended
	if len(ended) > 1 {
		slices.SortStableFunc(ended, func(x, y *CountedRegion) int { return comparePositions(x.End, y.End) })
	}
	for i := 1; i < len(ended); i++ {
		end := ended[i-1].End
		if next != nil && end == *next {
			break
		}
		if end == ended[i].End {
			continue
		}
		// If several regions end at one position, the last one counts.
		r := ended[i]
		for j := i + 1; j < len(ended) && ended[j].End == r.End; j++ {
			r = ended[j]
		}
		b.start(r, end, false, false)
	}
	last := ended[len(ended)-1]
	if next != nil && last.End == *next {
		return
	}
	if n := len(b.active); n > 0 {
		b.start(b.active[n-1], last.End, false, false)
	} else {
		b.start(last, last.End, false, true)
	}
}

// A Line is a source line.
type Line struct {
	Number uint32
	Count  uint64 // largest count of the code on the line
	Mapped bool   // the line has code; a line without code has no count
	// Segments are the segments that begin on the line; Before is the last segment before the line, or nil.
	Segments []Segment
	Before   *Segment
}

// Lines yields the lines from the first segment to the last segment, with llvm-cov's counts. It skips
// lines without code between two segments.
func Lines(segments []Segment) iter.Seq[Line] { return countLines(segments, lineCount) }

// countLines yields the lines of [Lines]. lineCount returns the count of a line from the segments on
// the line and the last segment before it.
func countLines(segments []Segment, lineCount func(on []Segment, before *Segment) (count uint64, mapped bool)) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		if len(segments) == 0 {
			return
		}
		var before *Segment // the last one before the line
		for line := segments[0].Line; len(segments) > 0; line++ {
			if line < segments[0].Line && (before == nil || !before.HasCount) {
				line = segments[0].Line // no code in between
			}
			n := 0
			for n < len(segments) && segments[n].Line == line {
				n++
			}
			count, mapped := lineCount(segments[:n], before)
			if !yield(Line{Number: line, Count: count, Mapped: mapped, Segments: segments[:n], Before: before}) {
				return
			}
			if n > 0 {
				before = &segments[n-1]
			}
			segments = segments[n:]
		}
	}
}

// lineCount returns the count of a line from the segments on the line and the last segment before it.
func lineCount(on []Segment, before *Segment) (count uint64, mapped bool) {
	for i := range on {
		if s := &on[i]; s.HasCount && s.Entry {
			mapped = true
			if !s.Gap {
				count = max(count, s.Count)
			}
		}
	}
	skipped := len(on) > 0 && !on[0].HasCount && on[0].Entry
	if before != nil && (mapped || !skipped && before.HasCount) {
		return max(count, before.Count), true
	}
	return count, mapped
}

// ownLineCount returns the count of a line by the rules of [Coverage.Collect]. Clang fills the space
// between a block with an early return and the next statement with a gap of count 0, though the code
// around the block goes on; llvm-cov then says that the line of the statement did not run.
func ownLineCount(on []Segment, before *Segment) (count uint64, mapped bool) {
	count, mapped = lineCount(on, before)
	if before != nil && before.Gap && len(on) > 0 && on[0].HasCount && !on[0].Entry {
		count = max(count, on[0].Count)
	}
	return count, mapped
}
