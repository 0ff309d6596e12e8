package covmap

import (
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// addDetails adds the uses of macros in the own code of functions, and the parts of
// functions that begin at one place.
func (f *fileCollector) addDetails(functions []*Function) {
	var own []piece
	instances := make(map[Position][]*Function)
	for _, fn := range functions {
		if fn.ownIn(f.Path) {
			own = append(own, piece{fn, fn.main})
		}
	}
	for _, fn := range f.listed {
		instances[fn.start] = append(instances[fn.start], fn)
	}
	d := &detailer{done: make(map[*Function][]bool), summarizer: f.summarizer}
	d.expand(f.File, own, 0)
	seen := make(map[Position]int)
	for i := range f.Functions { // in the order of functions
		fn := &f.Functions[i]
		at := Position{uint32(fn.StartLine), uint32(fn.Column)}
		if same := instances[at]; len(same) > 1 {
			of := same[seen[at]]
			seen[at]++
			fn.Part = f.fragment(f.Path, []piece{{of, of.main}})
		}
	}
}

func (s *summarizer) fragment(path string, pieces []piece) *coverage.File {
	c := fileCollector{File: &coverage.File{Path: path}, summarizer: s}
	s.all = s.all[:0]
	for _, p := range pieces {
		s.load(p.fn)
		s.all = s.code.appendOwn(s.all, p.file)
	}
	c.addLines(s.builder.ownLines(s.all), saturate.Add) // the first lines of the fragment
	c.addParts(pieces, true)
	return c.File
}

// A detailer collects expansions. Compilers give every expansion its own virtual file; a file that
// several expansions share is shown once.
type detailer struct {
	done map[*Function][]bool // by virtual file
	*summarizer
}

func (d *detailer) expand(to *coverage.File, pieces []piece, depth int) {
	if depth > maxNesting {
		return
	}
	inner := make(map[span]map[string][]piece) // by the file of the macro
	for _, p := range pieces {
		done := d.done[p.fn]
		if done == nil {
			done = make([]bool, len(p.fn.Files))
			d.done[p.fn] = done
		}
		d.load(p.fn)
		in := d.code.regionsOf(p.file)
		for i := range in {
			r := &in[i]
			if r.Kind != Expansion || done[r.Expanded] {
				continue
			}
			done[r.Expanded] = true
			at := span{r.Start, r.End}
			if inner[at] == nil {
				inner[at] = make(map[string][]piece)
			}
			name := p.fn.Files[r.Expanded]
			inner[at][name] = append(inner[at][name], piece{p.fn, int(r.Expanded)})
		}
	}
	for at, files := range sortedSpans(inner) {
		names := make([]string, 0, len(files))
		for name := range files {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			x := coverage.Expansion{Line: at.start.Line, Column: at.start.Column, EndLine: at.end.Line, EndColumn: at.end.Column}
			x.Of = d.fragment(name, files[name])
			if len(x.Of.Lines) == 0 {
				continue
			}
			d.expand(x.Of, files[name], depth+1)
			to.Expansions = append(to.Expansions, x)
		}
	}
}

const (
	mostVectors  = 100 // limits the test vectors of a decision that are kept
	mostOperands = 256 // limits the conditions of decisions for which missing vectors are found
)

// addVectors adds the conditions and test vectors of a decision to d, the same decision in other functions.
func addVectors(d *coverage.Decision, m *MCDC) *coverage.Decision {
	if d == nil {
		d = new(coverage.Decision)
	}
	switch {
	case len(d.Operands) > len(m.Conditions):
		return d
	case len(d.Operands) < len(m.Conditions):
		*d = coverage.Decision{Operands: make([]coverage.Condition, len(m.Conditions))}
	}
	for _, v := range m.Vectors {
		if text := v.text(); len(d.Vectors) < mostVectors && !slices.Contains(d.Vectors, text) {
			d.Vectors = append(d.Vectors, text)
		}
	}
	for i, c := range m.Conditions {
		own := &d.Operands[i]
		own.Line, own.Column = c.Start.Line, c.Start.Column
		own.Constant = c.ConstantTrue || c.ConstantFalse
		own.Covered = own.Covered || c.Covered
		if !own.Covered && !own.Constant && own.Wanted == "" {
			own.Have, own.Wanted = m.wanted(i)
		}
	}
	return d
}

// text returns the values of the conditions and the result as "TF-:F".
func (v *TestVector) text() string {
	var b strings.Builder
	for _, c := range v.Conditions {
		b.WriteByte([...]byte{NotEvaluated: '-', False: 'F', True: 'T'}[c])
	}
	if v.Result {
		return b.String() + ":T"
	}
	return b.String() + ":F"
}

// wanted returns an executed vector and one that would form an independence pair with it for a condition: it
// differs in that condition and the result, and in no other condition that both evaluate. Both are "" if no
// executed vector evaluates the condition, or the condition cannot decide on its own.
func (m *MCDC) wanted(condition int) (have, want string) {
	if len(m.Conditions) > mostOperands {
		return "", ""
	}
	for _, v := range m.Vectors[:min(len(m.Vectors), mostVectors)] {
		if v.Conditions[condition] == NotEvaluated {
			continue
		}
		w := TestVector{Conditions: make([]Truth, len(m.Conditions)), Result: !v.Result}
		dead := make([]bool, len(m.Conditions)) // lead to the result of v alone
		if m.search(&v, &w, condition, 0, dead) {
			return v.text(), w.text()
		}
	}
	return "", ""
}

// search evaluates the conditions from index at on until w has its result. Conditions have the
// values of v, except the flipped one; a condition that v does not evaluate may have either value.
func (m *MCDC) search(v, w *TestVector, flipped, at int, dead []bool) bool {
	if dead[at] {
		return false
	}
	for value := range 2 {
		truth := False + Truth(value)
		was, c := v.Conditions[at], &m.Conditions[at]
		switch {
		case at == flipped && truth == was, at != flipped && was != NotEvaluated && truth != was,
			c.ConstantTrue && truth == True, c.ConstantFalse && truth == False:
			continue
		}
		w.Conditions[at] = truth
		next := c.next[value]
		if next < 0 && (value == 1) == w.Result || next >= 0 && m.search(v, w, flipped, next, dead) {
			return true
		}
	}
	w.Conditions[at] = NotEvaluated
	dead[at] = true
	return false
}
