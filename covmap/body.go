package covmap

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
)

// Forms of the first number of a region. If its low two bits are not 0 it is the
// counter of a code region; otherwise:
const (
	expansionBit = 4 // the rest is the number of a virtual file
	pseudoShift  = 3 // if it is not set: what remains is one of

	pseudoCode       = 0
	pseudoSkipped    = 2
	pseudoBranch     = 4
	pseudoDecision   = 5
	pseudoMCDCBranch = 6
)

const gapBit = 1 << 31 // of the end column: the region is a gap

// decode decodes the mapping of the function into b, whose memory it reuses.
func (r *Record) decode(b *body) error {
	d := bodyReader{c: cursor.New("coverage mapping", r.at, r.mapping, binary.LittleEndian), b: b}
	d.files(r.list)
	d.expressions()
	b.Regions = b.Regions[:0]
	for file := range b.Files {
		d.regions(uint32(file))
	}
	if err := d.c.Err(); err != nil {
		return err
	}
	b.countExpansions()
	return nil
}

// decodeFiles decodes the files of the function alone.
func (r *Record) decodeFiles(b *body) error {
	d := bodyReader{c: cursor.New("coverage mapping", r.at, r.mapping, binary.LittleEndian), b: b}
	d.files(r.list)
	return d.c.Err()
}

// bodyReader decodes a mapping:
//
//	uleb F, F × uleb index into the file list
//	uleb E, E × (uleb left, uleb right)
//	F × (uleb R, R × region)
type bodyReader struct {
	c    *cursor.Cursor
	b    *body
	span [4]uint64 // of a region
}

// spanFields are the numbers of bodyReader.span.
var spanFields = [4]string{"line delta", "start column", "number of lines", "end column"}

func (d *bodyReader) files(list *fileList) {
	n := d.c.Count(d.c.ULEB("number of files"), 1, "number of files")
	d.b.Files = slices.Grow(d.b.Files[:0], n)
	for range n {
		at := d.c.Offset()
		i := d.c.ULEB("file index")
		if d.c.Err() == nil && i >= uint64(len(list.names)) {
			d.c.Fail(d.c.At(at).Field("file index").Got(i).Wantf("less than %d", len(list.names)).Corrupt())
		}
		if d.c.Err() != nil {
			return
		}
		d.b.Files = append(d.b.Files, list.names[i])
	}
}

func (d *bodyReader) expressions() {
	n := d.c.Count(d.c.ULEB("number of expressions"), 2, "number of expressions")
	d.b.Expressions = slices.Grow(d.b.Expressions[:0], n)[:n]
	clear(d.b.Expressions)
	for i := range d.b.Expressions {
		e := &d.b.Expressions[i]
		e.Left, e.Right = d.counter(d.limited("left operand", math.MaxUint32)), d.counter(d.limited("right operand", math.MaxUint32))
	}
}

// limited reads a number of at most limit.
func (d *bodyReader) limited(field string, limit uint64) uint64 {
	pos := d.c.Pos()
	n := d.c.ULEB(field)
	if n > limit {
		d.exceeded(d.c.Offset()-int64(d.c.Pos()-pos), field, n, limit)
		return 0
	}
	return n
}

// exceeded fails because of a number.
func (d *bodyReader) exceeded(at int64, field string, n, limit uint64) {
	d.c.Fail(d.c.At(at).Field(field).Got(n).Wantf("at most %d", limit).Corrupt())
}

// counter interprets a number as a counter. The kind of an expression is only in
// the references to it.
func (d *bodyReader) counter(n uint64) counter {
	c := counter(n)
	if kind := c & 3; kind >= subtraction {
		if uint64(c>>2) >= uint64(len(d.b.Expressions)) {
			d.c.Fail(d.c.At(d.c.Offset()).Field("number of an expression").Got(c>>2).
				Wantf("less than %d", len(d.b.Expressions)).Corrupt())
			return 0
		}
		d.b.Expressions[c>>2].Add = kind == addition
	}
	return c
}

func (d *bodyReader) regions(file uint32) {
	n := d.c.Count(d.c.ULEB("number of regions"), 5, "number of regions")
	have := len(d.b.Regions)
	d.b.Regions = slices.Grow(d.b.Regions, n)[:have+n]
	line := uint64(0)
	for i := range n {
		r := &d.b.Regions[have+i]
		*r = region{File: file}
		at := d.c.Offset()
		d.kind(r)
		d.c.ULEBs(&d.span, &spanFields)
		delta, start, lines, end := d.span[0], d.span[1], d.span[2], d.span[3]
		if (delta|start|lines|end)>>32 != 0 {
			i := slices.IndexFunc(d.span[:], func(n uint64) bool { return n > math.MaxUint32 })
			d.exceeded(at, spanFields[i], d.span[i], math.MaxUint32)
			return
		}
		line += delta
		if end&gapBit != 0 {
			r.Kind = Gap
			end &^= gapBit
		}
		if start == 0 && end == 0 { // whole lines
			start, end = 1, math.MaxUint32
		}
		r.Start, r.End = Position{uint32(line), uint32(start)}, Position{uint32(line + lines), uint32(end)}
		if line+lines > math.MaxUint32 || r.End.before(r.Start) {
			d.c.Fail(d.c.At(at).Field("region").Gotf("%d:%d to %d:%d", line, start, line+lines, end).
				Want("an end after the start").Corrupt())
		}
		if d.c.Err() != nil {
			return
		}
	}
}

// kind reads what a region has before its range.
func (d *bodyReader) kind(r *region) {
	const mostConditions = math.MaxInt16
	at := d.c.Offset()
	n := d.c.ULEB("counter or kind of a region")
	if n > math.MaxUint32 {
		d.exceeded(at, "counter or kind of a region", n, math.MaxUint32)
		return
	}
	if n&3 != zeroCounter {
		r.Count = d.counter(n)
		return
	}
	if n&expansionBit != 0 {
		r.Kind, r.Expanded = Expansion, uint32(n>>pseudoShift)
		if int(r.Expanded) >= len(d.b.Files) {
			d.c.Fail(d.c.At(at).Field("expanded file").Got(n>>pseudoShift).Wantf("less than %d", len(d.b.Files)).Corrupt())
		}
		return
	}
	switch n >> pseudoShift {
	case pseudoCode:
	case pseudoSkipped:
		r.Kind = Skipped
	case pseudoBranch:
		r.Kind = Branch
		d.outcomes(r)
	case pseudoDecision:
		r.Kind = Decision
		r.Bits, r.Conditions = int32(d.limited("bitmap index", math.MaxInt32)), int16(d.limited("number of conditions", mostConditions))
	case pseudoMCDCBranch:
		r.Kind = MCDCBranch
		d.outcomes(r)
		r.ID = int16(d.limited("condition", mostConditions)) - 1
		r.NextTrue = int16(d.limited("condition if true", mostConditions)) - 1
		r.NextFalse = int16(d.limited("condition if false", mostConditions)) - 1
	default:
		d.c.Fail(d.c.At(at).Field("kind of a region").Got(n >> pseudoShift).Want("0, 2, 4, 5 or 6").Corrupt())
	}
}

func (d *bodyReader) outcomes(r *region) {
	r.Count = d.counter(d.limited("counter of the true outcome", math.MaxUint32))
	r.False = d.counter(d.limited("counter of the false outcome", math.MaxUint32))
}

// countExpansions gives every expansion the counter of the first region of its
// virtual file, which may be an expansion itself. The file has none for it.
func (b *body) countExpansions() {
	if len(b.Files) < 2 {
		return
	}
	n := len(b.Files)
	b.spare = slices.Grow(b.spare[:0], 2*n)[:2*n]
	clear(b.spare)
	first, last := b.spare[:n], b.spare[n:] // region, plus 1: first of each file; last that expands to it
	for i := len(b.Regions) - 1; i >= 0; i-- {
		r := &b.Regions[i]
		first[r.File] = int32(i + 1)
		if r.Kind == Expansion && last[r.Expanded] == 0 {
			last[r.Expanded] = int32(i + 1)
		}
	}
	// Compilers number nested expansions upwards, so that the first pass finds all
	// counters and the second sees no change. More than a few passes only a file
	// made for it would need.
	for range 16 {
		changed := false
		for file := len(b.Files) - 1; file >= 0; file-- {
			if first[file] == 0 || last[file] == 0 {
				continue
			}
			if from, to := &b.Regions[first[file]-1], &b.Regions[last[file]-1]; to.Count != from.Count {
				to.Count, changed = from.Count, true
			}
		}
		if !changed {
			return
		}
	}
}
