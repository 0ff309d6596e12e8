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
	pseudoShift  = 3 // without expansionBit: the remaining bits are one of the following

	pseudoCode       = 0
	pseudoSkipped    = 2
	pseudoBranch     = 4
	pseudoDecision   = 5
	pseudoMCDCBranch = 6
)

const gapBit = 1 << 31 // of the end column: the region is a gap

// A body is the mapping of a function without its regions and branches.
type body struct {
	files       []string // virtual files: the first is the function's own, then one for every macro expansion and include
	filesEnd    int      // offset of the end of the list of files
	expressions []expression
	// decisions are the regions that MC/DC needs: decisions, and the conditions and expansions
	// after the first decision.
	decisions []region
	uses      []fileUse // of the virtual files
	all       int       // regions, branches and decisions
}

// A fileUse says how often a virtual file is expanded.
type fileUse struct {
	first     counter // of its first region
	nested    int32   // index of the first region plus 1 if that region is an expansion, otherwise 0
	expansion int32   // index of the last region that expands to the file, plus 1; 0 without one
	used      bool    // the file has a region
}

// decode decodes the mapping of a function. Its regions and branches hold counters until
// [decoder.count] replaces them by counts.
func (c *decoder) decode(r *Record) error {
	c.fn = nil
	d := bodyReader{cursor.New("coverage mapping", r.at, r.mapping, binary.LittleEndian), c}
	d.files(r.list)
	d.expressions()
	c.regions, c.branches, c.starts, c.decisions = c.regions[:0], c.branches[:0], c.starts[:0], c.decisions[:0]
	c.uses, c.all = slices.Grow(c.uses[:0], len(c.files))[:len(c.files)], 0
	clear(c.uses)
	for file := range c.files {
		d.regions(uint32(file))
	}
	c.begin()
	if err := d.c.Err(); err != nil {
		return err
	}
	c.countExpansions()
	return nil
}

func (c *decoder) decodeFiles(r *Record) error {
	d := bodyReader{cursor.New("coverage mapping", r.at, r.mapping, binary.LittleEndian), c}
	d.files(r.list)
	return d.c.Err()
}

// bodyReader decodes a mapping:
//
//	uleb F, F × uleb index into the file list
//	uleb E, E × (uleb left, uleb right)
//	F × (uleb R, R × region)
type bodyReader struct {
	c   *cursor.Cursor
	out *decoder
}

var rangeFields = [4]string{"line delta", "start column", "number of lines", "end column"}

func (d *bodyReader) files(list *fileList) {
	n := d.c.Count(d.c.ULEB("number of files"), 1, "number of files")
	files := slices.Grow(d.out.files[:0], n)
	for range n {
		at := d.c.Offset()
		i := d.c.ULEB("file index")
		if d.c.Err() == nil && i >= uint64(len(list.names)) {
			d.c.Fail(d.c.At(at).Field("file index").Got(i).Wantf("less than %d", len(list.names)).Corrupt())
		}
		if d.c.Err() != nil {
			break
		}
		files = append(files, list.names[i])
	}
	d.out.files, d.out.filesEnd = files, d.c.Pos()
}

func (d *bodyReader) expressions() {
	n := d.c.Count(d.c.ULEB("number of expressions"), 2, "number of expressions")
	d.out.expressions = slices.Grow(d.out.expressions[:0], n)[:n]
	clear(d.out.expressions)
	for i := range d.out.expressions {
		e := &d.out.expressions[i]
		e.Left, e.Right = d.counter("left operand"), d.counter("right operand")
	}
}

func (d *bodyReader) limited(field string, limit uint64) uint64 {
	if n, ok := d.c.Short(); ok && n <= limit {
		return n
	}
	pos := d.c.Pos()
	n := d.c.ULEB(field)
	if n > limit {
		d.exceeded(d.c.Offset()-int64(d.c.Pos()-pos), field, n, limit)
		return 0
	}
	return n
}

func (d *bodyReader) exceeded(at int64, field string, n, limit uint64) {
	d.c.Fail(d.c.At(at).Field(field).Got(n).Wantf("at most %d", limit).Corrupt())
}

func (d *bodyReader) counter(field string) counter {
	return d.refer(counter(d.limited(field, math.MaxUint32)))
}

// refer returns a counter that was read. Only references to an expression store the kind of the expression.
func (d *bodyReader) refer(c counter) counter {
	if c&3 >= subtraction {
		d.express(c)
	}
	return c
}

// express records the kind of an expression from a reference to it.
func (d *bodyReader) express(c counter) {
	if uint64(c>>2) >= uint64(len(d.out.expressions)) {
		d.c.Fail(d.c.At(d.c.Offset()).Field("number of an expression").Got(c>>2).
			Wantf("less than %d", len(d.out.expressions)).Corrupt())
		return
	}
	d.out.expressions[c>>2].Add = c&3 == addition
}

func (d *bodyReader) regions(file uint32) {
	n := d.c.Count(d.c.ULEB("number of regions"), 5, "number of regions")
	out := d.out
	out.begin()
	regions, branches := slices.Grow(out.regions, n), out.branches
	line := uint32(0)
	var r region
	for i := range n {
		at := d.c.Offset()
		r.Kind, r.Count, r.Expanded = Code, 0, 0
		head, ok := d.c.Short()
		if !ok {
			head = d.limited("counter or kind of a region", math.MaxUint32)
		}
		if head&3 != zeroCounter {
			r.Count = d.refer(counter(head))
		} else if head != 0 {
			d.kind(&r, head, at)
		}
		start, end, gap := d.extent(line, at)
		if d.c.Err() != nil {
			return
		}
		line = start.Line
		if gap {
			r.Kind = Gap
		}
		if i == 0 {
			out.uses[file].first, out.uses[file].used = r.Count, true
			if r.Kind == Expansion {
				out.uses[file].nested = int32(len(regions) + 1)
			}
		}
		switch r.Kind {
		case Decision:
		case Branch, MCDCBranch:
			branches = append(branches, CountedBranch{})
			b := &branches[len(branches)-1]
			b.Start, b.End = start, end
			b.True, b.False, b.ConstantTrue, b.ConstantFalse = uint64(r.Count), uint64(r.False), r.Count.constant(), r.False.constant()
			b.File, b.Kind = file, r.Kind
		default:
			if r.Kind == Expansion {
				out.uses[r.Expanded].expansion = int32(len(regions) + 1)
			}
			regions = regions[:len(regions)+1]
			q := &regions[len(regions)-1]
			q.Start, q.End = start, end
			q.Count, q.File, q.Expanded, q.Kind = uint64(r.Count), file, r.Expanded, r.Kind
		}
		if r.Kind == Decision || len(out.decisions) > 0 && (r.Kind == Expansion || r.Kind == MCDCBranch) {
			r.File, r.Start, r.End = file, start, end
			out.decisions = append(out.decisions, r)
		}
	}
	out.regions, out.branches = regions, branches
	out.all += n
}

// extent reads the range of a region; line is where the region before it begins.
func (d *bodyReader) extent(line uint32, at int64) (start, end Position, gap bool) {
	delta, column, lines, endColumn := d.c.ULEBs(&rangeFields)
	if (delta|column|lines|endColumn)>>32 != 0 {
		all := []uint64{delta, column, lines, endColumn}
		i := slices.IndexFunc(all, func(n uint64) bool { return n > math.MaxUint32 })
		d.exceeded(at, rangeFields[i], all[i], math.MaxUint32)
	}
	gap = endColumn&gapBit != 0
	endColumn &^= gapBit
	if column == 0 && endColumn == 0 { // whole lines
		column, endColumn = 1, math.MaxUint32
	}
	first := uint64(line) + delta
	last := first + lines
	if last > math.MaxUint32 || lines == 0 && endColumn < column {
		d.c.Fail(d.c.At(at).Field("region").Gotf("%d:%d to %d:%d", first, column, last, endColumn).
			Want("an end after the start").Corrupt())
	}
	return Position{uint32(first), uint32(column)}, Position{uint32(last), uint32(endColumn)}, gap
}

// kind interprets the first number of a region if it is not a counter, and reads the numbers that
// follow it up to the range.
func (d *bodyReader) kind(r *region, n uint64, at int64) {
	const mostConditions = math.MaxInt16
	if n&expansionBit != 0 {
		r.Kind, r.Expanded = Expansion, uint32(n>>pseudoShift)
		if int(r.Expanded) >= len(d.out.files) {
			d.c.Fail(d.c.At(at).Field("expanded file").Got(n>>pseudoShift).Wantf("less than %d", len(d.out.files)).Corrupt())
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
	r.Count = d.counter("counter of the true outcome")
	r.False = d.counter("counter of the false outcome")
}

// countExpansions gives every expansion the counter of the first region of its virtual file, which
// may be an expansion itself. The mapping stores no counter for an expansion.
func (c *decoder) countExpansions() {
	if len(c.files) < 2 {
		return
	}
	// Compilers number nested expansions upwards, so the first pass finds all counters and the second
	// changes nothing. Only a file made on purpose needs more than a few passes.
	for range 16 {
		changed := false
		for file := len(c.uses) - 1; file >= 0; file-- {
			use := &c.uses[file]
			if !use.used || use.expansion == 0 {
				continue
			}
			from := uint64(use.first)
			if use.nested > 0 {
				from = c.regions[use.nested-1].Count
			}
			if to := &c.regions[use.expansion-1]; to.Count != from {
				to.Count, changed = from, true
			}
		}
		if !changed {
			return
		}
	}
}

// neverRuns reports whether the mapping has exactly one region, whose counter is the constant zero.
func (c *decoder) neverRuns() bool {
	return c.all == 1 && (len(c.regions) == 0 || counter(c.regions[0].Count).constant()) && (len(c.branches) == 0 || c.branches[0].ConstantTrue)
}
