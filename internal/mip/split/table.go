package split

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// callSite is one entry of an exception table: the statements between two
// labels, and whether exceptions in them reach a landing pad in the function.
type callSite struct {
	// Statements of the labels: [from, to).
	from, to int32
	lands    bool
}

// siteKind says how call sites cover an instruction.
type siteKind byte

const (
	// siteNone: no entry. An exception terminates the program.
	siteNone siteKind = iota
	// siteThrough: an entry without a landing pad. Exceptions pass through.
	siteThrough
	// siteLands: an entry with a landing pad.
	siteLands
)

// callSites reads the exception table that a .cfi_lsda directive names. ok is false if the table does not
// have the form that compilers for x86_64 print. Sites are sorted by place.
func callSites(f *asm.File, lsda []byte) (sites []callSite, ok bool) {
	_, rest := asm.SplitWord(lsda)
	args := asm.SplitArgs(rest)
	if len(args) != 2 {
		return nil, false
	}
	id := f.Labels.Find(asm.Unquote(args[1]))
	if id < 0 {
		return nil, false
	}
	r := tableReader{File: f, next: f.Labels.All[id].Stmt + 1, section: f.Stmts[f.Labels.All[id].Stmt].Section}
	const omitted, uleb128 = 0xff, 1
	if r.number(".byte") != omitted { // landing pads relative to the function
		return nil, false
	}
	if r.number(".byte") != omitted { // types
		r.operand(".uleb128")
	}
	if r.number(".byte") != uleb128 {
		return nil, false
	}
	end := r.difference()
	if r.failed {
		return nil, false
	}
	last := f.Labels.All[end[0]].Stmt
	for !r.failed && r.nextDirective() < last {
		start, length := r.difference(), r.difference()
		pad := r.operand(".uleb128", ".byte")
		r.operand(".uleb128", ".byte") // action
		if r.failed || length[1] != start[0] {
			return nil, false
		}
		sites = append(sites, callSite{f.Labels.All[start[0]].Stmt, f.Labels.All[length[0]].Stmt, string(pad) != "0"})
	}
	ok = slices.IsSortedFunc(sites, func(a, b callSite) int { return cmp.Compare(a.from, b.from) })
	return sites, ok && !r.failed
}

// tableReader reads the directives of one section in order.
type tableReader struct {
	*asm.File
	// The next statement to look at.
	next    int32
	section int32
	// Set by the first directive that is not the one expected; what is read afterwards means nothing.
	failed bool
}

// nextDirective returns the index of the next directive, or of a statement outside the section if none is left.
func (r *tableReader) nextDirective() int32 {
	for int(r.next) < len(r.Stmts) {
		s := &r.Stmts[r.next]
		if s.Section != r.section || s.Opaque != asm.Transparent {
			break
		}
		if s.Kind == asm.StmtDirective && !asm.IsAlignment(r.Text(s)) {
			break
		}
		r.next++
	}
	return r.next
}

// operand returns the operand of the next directive, which has to be one of directives.
func (r *tableReader) operand(directives ...string) []byte {
	i := r.nextDirective()
	if r.failed || int(i) >= len(r.Stmts) || r.Stmts[i].Section != r.section {
		r.failed = true
		return nil
	}
	r.next++
	word, rest := asm.SplitWord(r.Text(&r.Stmts[i]))
	if !slices.Contains(directives, string(word)) {
		r.failed = true
		return nil
	}
	return rest
}

func (r *tableReader) number(directive string) int64 {
	n, err := strconv.ParseInt(string(r.operand(directive)), 0, 32)
	if err != nil {
		r.failed = true
	}
	return n
}

// difference reads the distance between two labels. It returns their indexes, first the one
// that the other is subtracted from.
func (r *tableReader) difference() (ids [2]int32) {
	text := r.operand(".uleb128")
	a, b, ok := bytes.Cut(text, []byte("-"))
	if !ok || r.failed {
		r.failed = true
		return ids
	}
	ids = [2]int32{r.Labels.Find(asm.Unquote(bytes.TrimSpace(a))), r.Labels.Find(asm.Unquote(bytes.TrimSpace(b)))}
	if ids[0] < 0 || ids[1] < 0 {
		r.failed = true
		ids = [2]int32{}
	}
	return ids
}

// siteOf returns how the call sites, which are in order, cover a statement.
func siteOf(sites []callSite, i int32) siteKind {
	n, _ := slices.BinarySearchFunc(sites, i, func(s callSite, i int32) int { return cmp.Compare(s.from, i) })
	switch {
	case n == 0 || i >= sites[n-1].to:
		return siteNone
	case sites[n-1].lands:
		return siteLands
	}
	return siteThrough
}
