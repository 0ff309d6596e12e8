package sampleprof

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// doubts are errors about what readers accept but no known tool writes, in the order of the file.
type doubts struct {
	kinds [numDoubts]int // how often each was found
	list  []doubt
}

type doubtKind int

const (
	functionOrder doubtKind = iota
	locationOrder
	targetOrder
	nameOrder
	symbolOrder
	otherDoubt
	numDoubts
)

type doubt struct {
	kind doubtKind
	err  error
}

// maxDisorder bounds violations of an order, beyond which the writer, as LLVM before 5, does not sort.
const maxDisorder = 2

// add adds a doubt. It keeps at most maxDisorder of a kind.
func (d *doubts) add(kind doubtKind, err error) {
	if d.kinds[kind]++; d.kinds[kind] <= maxDisorder {
		d.list = append(d.list, doubt{kind, err})
	}
}

// errors returns the doubts, without orders that the writer evidently does not keep.
func (d *doubts) errors() (errs []error) {
	for _, x := range d.list {
		if x.kind == otherDoubt || d.kinds[x.kind] <= maxDisorder {
			errs = append(errs, x.err)
		}
	}
	return errs
}

// addDoubt adds a doubt about a value that c has read.
func (r *binaryReader) addDoubt(kind doubtKind, c *cursor.Cursor, problem flaw.Problem) {
	if c.Err() == nil && !r.opt.Lenient {
		r.doubts.add(kind, problem.Corrupt())
	}
}

// A functionOffset is the offset of a function in its section.
type functionOffset struct{ subject, offset uint64 }

func (r *binaryReader) readOffsets(c *cursor.Cursor) {
	n := c.Count(c.ULEB("number of functions"), 2, "number of functions")
	r.offsets = make([]functionOffset, 0, n)
	for range n {
		r.offsets = append(r.offsets, functionOffset{c.ULEB("function"), c.ULEB("offset")})
	}
}

// compareOffsets compares the actual offsets of functions with the recorded ones, which compilers use.
func (r *binaryReader) compareOffsets(c *cursor.Cursor) {
	if r.offsets == nil {
		return
	}
	slices.SortFunc(r.offsets, func(a, b functionOffset) int { return cmp.Compare(a.offset, b.offset) })
	if !slices.Equal(r.offsets, r.starts) {
		r.addDoubt(otherDoubt, c, c.At(-1).Field("function offsets").Got("other functions or offsets").Want("the functions and offsets in the section"))
	}
	r.offsets, r.starts = nil, nil
}

// compareSections checks that each byte belongs to exactly one section, and that types and flags are known.
func (r *binaryReader) compareSections(c *cursor.Cursor, sections []section) {
	sections = slices.Clone(sections)
	slices.SortStableFunc(sections, func(a, b section) int { return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.size, b.size)) })
	end := uint64(c.Offset())
	for _, s := range sections {
		if s.offset != end {
			r.addDoubt(otherDoubt, c, c.At(-1).Field(s.kind.String()).Got(s.offset).Want("the end of the section before"))
		}
		known := s.kind.isKnown(r.version)
		if _, unknown := s.flagWords(); !known || unknown != 0 || s.ignored != 0 {
			r.addDoubt(otherDoubt, c, c.At(-1).Field("section").Gotf("%s of type %#x with flags %#x", s.kind, uint64(s.kind)|s.ignored, s.flags).
				Want("a known type, and known flags"))
		}
		r.skipped = r.skipped || !known && s.size > 0
		end = s.offset + s.size
	}
	if end != uint64(len(r.data)) {
		r.addDoubt(otherDoubt, c, c.At(-1).Field("size of the file").Got(len(r.data)).Want("the end of the last section"))
	}
}

// compareFunctions reports functions that the summary counts and no section has that is read: nothing, or
// only some of the functions, would pass for the whole. Contexts of a function count several times, so
// fewer than in the summary is always too few.
func (r *binaryReader) compareFunctions(c *cursor.Cursor) {
	if r.opt.Lenient || r.p.Summary == nil || c.Err() != nil {
		return
	}
	n := uint64(len(r.p.Functions))
	if r.packer != nil {
		n = r.packer.totals.functions
	}
	if want := r.p.Summary.NumFunctions; n == 0 && want > 0 || n < want && r.skipped {
		c.Fail(flaw.In(profileSection.String()).Field("number of functions").Got(n).Wantf("%d, as the summary says", want).Corrupt())
	}
}

// totals are the numbers of a summary that can be summed while functions are read.
type totals struct{ samples, maxCount, maxHead, counts, functions uint64 }

// compare returns an error if the summary contradicts the totals.
func (t *totals) compare(s *Summary) error {
	if s == nil || *t == (totals{s.Total, s.MaxCount, s.MaxHead, s.NumCounts, s.NumFunctions}) {
		return nil
	}
	return summaryDoubt(s, t.functions, t.samples, t.counts, t.maxCount)
}

func summaryDoubt(s *Summary, functions, samples, counts, most uint64) error {
	return flaw.In(summarySection.String()).Field("summary").
		Gotf("%d functions, %d samples at %d locations, the greatest count %d", s.NumFunctions, s.Total, s.NumCounts, s.MaxCount).
		Wantf("%d, %d, %d and %d, as the functions have", functions, samples, counts, most).Corrupt()
}

// totals sums up the functions of a profile without contexts.
func (p *Profile) totals() (t totals) {
	t.functions = uint64(len(p.Functions))
	for _, f := range p.Functions {
		t.maxHead = max(t.maxHead, f.Head)
		f.walk(func(g *Function) bool {
			if g != f && g.Attributes&duplicated != 0 {
				return false
			}
			for i := range g.Body {
				t.count(g.Body[i].Count)
			}
			return true
		})
	}
	return t
}

func (t *totals) count(n uint64) {
	t.samples += n
	t.maxCount = max(t.maxCount, n)
	t.counts++
}
