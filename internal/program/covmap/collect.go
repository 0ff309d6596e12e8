package covmap

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// Collect returns the coverage in the form that all formats share. Code at one source position counts once, with the
// sum of its counts, however many functions and programs contain it. A branch in a macro is at the position of its
// condition, in the macro or in an argument. An outcome that cannot happen is not listed among the ways of a branch.
//
// Lines have the counts that llvm-cov gives them, but for four cases in which llvm-cov is wrong. A macro
// counts as often as its text was begun, not with the code around it (see appendOwn). The text behind a
// macro of a system header does not count with the macro (see startEmpty). A statement behind a block
// with an early return counts with the code around the block (see ownLineCount). An object file that does
// not use a static or inline function of a header maps the function as one region, comments included:
// this region does not count if another object file has the function's code.
//
// Differently compiled versions of a function are laid over each other: lines that the preprocessor
// left out of one version do not hide the lines of another. If versions share their counts, the
// counts are added once where the versions overlap.
//
// With details the result also has the uses of macros, each instance of a function with several
// instances, and the test vectors of decisions.
func (c *Coverage) Collect(details bool) *coverage.Coverage {
	all := &coverage.Coverage{HasLines: true}
	all.Unknown = c.unmapped
	for i := range all.Unknown {
		all.Unplaced.Functions.Count(all.Unknown[i].Calls > 0)
	}
	for _, m := range c.Mismatched {
		all.Misfits = append(all.Misfits, coverage.Misfit{Function: m.Name, Object: m.Object, Hash: m.Hash, Have: m.Have, Cause: m.Cause})
	}
	for _, fn := range c.Functions {
		all.BelowZero += fn.belowZero
	}
	unused := c.unusedCopies()
	versions := c.versions(unused)
	names := c.Files()
	// It cannot fail, because the function that takes the files does not.
	_ = inOrder(len(names), func(i int, _ *producer[*coverage.File], done []*coverage.File) []*coverage.File {
		col := fileCollector{c: c, File: &coverage.File{Path: names[i]}, unused: unused, versions: versions, details: details, summarizer: c.summarizer()}
		defer c.spare.put(col.summarizer)
		col.collect()
		return append(done, col.File)
	}, func(done []*coverage.File) error {
		all.Files = append(all.Files, done...)
		return nil
	})
	all.Finish()
	return all
}

type sourcePosition struct {
	file string
	Position
}

// position returns where the own code of a function begins; ok is false if it has none.
func (f *Function) position() (p sourcePosition, ok bool) {
	if !f.own {
		return p, false
	}
	return sourcePosition{f.Files[f.main], f.start}, true
}

// unusedCopies returns the records that stand for functions without code in their object, if another
// record has the code of the function.
func (c *Coverage) unusedCopies() map[*Function]bool {
	copies := make(map[sourcePosition][]*Function)
	for _, fn := range c.Functions {
		if p, ok := fn.position(); ok && fn.record.dummy() {
			copies[p] = append(copies[p], fn)
		}
	}
	if len(copies) == 0 {
		return nil
	}
	unused := make(map[*Function]bool)
	for _, fn := range c.Functions {
		p, ok := fn.position()
		if of := copies[p]; ok && len(of) > 0 && !slices.Contains(of, fn) {
			for _, fn := range of {
				unused[fn] = true
			}
			delete(copies, p)
		}
	}
	return unused
}

// versions numbers the differently compiled versions of functions from 0. Functions that begin at one
// position are versions of one function; functions with equal hash and code are one version. A
// function that the result lacks has only one version.
func (c *Coverage) versions(unused map[*Function]bool) map[*Function]version {
	type code struct{ hash, code uint64 }
	codes := make(map[sourcePosition][]code)
	several := false
	for _, fn := range c.Functions {
		own := code{fn.Hash, fn.code}
		if p, ok := fn.position(); ok && !unused[fn] && !slices.Contains(codes[p], own) {
			codes[p] = append(codes[p], own)
			several = several || len(codes[p]) > 1
		}
	}
	if !several {
		return nil
	}
	versions := make(map[*Function]version)
	for _, fn := range c.Functions {
		if p, ok := fn.position(); ok && !unused[fn] && len(codes[p]) > 1 {
			versions[fn] = version{slices.Index(codes[p], code{fn.Hash, fn.code}), len(codes[p])}
		}
	}
	return versions
}

type version struct{ number, of int }

type fileCollector struct {
	c *Coverage
	*coverage.File
	unused   map[*Function]bool
	versions map[*Function]version
	details  bool
	*summarizer

	listed []*Function // of Functions
}

func (f *fileCollector) collect() {
	functions := f.c.files[f.Path]
	if len(f.unused) > 0 {
		functions = slices.DeleteFunc(slices.Clone(functions), func(fn *Function) bool { return f.unused[fn] })
	}
	layers, shared := 1, false
	for _, fn := range functions {
		layers = max(layers, f.versions[fn].of)
		shared = shared || fn.shared
	}
	f.addLayers(functions, layers, false)
	if shared {
		f.addLayers(functions, layers, true)
	}
	slices.SortFunc(f.Lines, func(a, b coverage.Line) int { return cmp.Compare(a.Number, b.Number) })
	f.addFunctions(functions, shared)
	var pieces []piece
	for _, fn := range functions {
		for file := range fn.virtualFiles(f.Path) {
			pieces = append(pieces, piece{fn, file})
		}
	}
	f.addParts(pieces, f.details)
	if f.details {
		f.addDetails(functions)
	}
}

// addLayers adds the lines of each layer. It adds the counts of functions that share their counts if shared
// is set, else the counts of all others. Functions with one version join last: what they have on a line of a
// function with several versions, such as a lambda, is not added to the sum of the versions.
func (f *fileCollector) addLayers(functions []*Function, layers int, shared bool) {
	for layer := range layers {
		f.addLayer(functions, layer, func(fn *Function) bool {
			return fn.shared == shared && (layers == 1 || f.versions[fn].of > 1)
		}, func(have, n uint64) uint64 { return added(have, n, shared) })
	}
	if layers > 1 {
		f.addLayer(functions, 0, func(fn *Function) bool {
			return fn.shared == shared && f.versions[fn].of <= 1
		}, func(have, n uint64) uint64 { return max(have, n) })
	}
}

// addLayer adds the lines of a layer. counts says which functions count, join makes one count of the
// count that a line has and the count that it has in this layer.
func (f *fileCollector) addLayer(functions []*Function, layer int, counts func(*Function) bool, join func(have, n uint64) uint64) {
	f.all = f.all[:0]
	for _, fn := range functions {
		// A function with fewer versions stays where it is in further layers, without
		// counts: it hides what is around it, such as the function around a lambda.
		v, counted := f.versions[fn], counts(fn)
		switch {
		case layer < max(v.of, 1):
			if v.number != layer {
				continue
			}
		case v.number > 0:
			continue
		default:
			counted = false
		}
		f.load(fn)
		for file := range fn.virtualFiles(f.Path) {
			at := len(f.all)
			f.all = f.code.appendOwn(f.all, file)
			for i := at; !counted && i < len(f.all); i++ {
				f.all[i].Count = 0
			}
		}
	}
	f.addLines(f.builder.ownLines(f.all), join)
}

// added returns the sum of two counts; for counts that functions share it returns the first count that is not 0.
func added(have, n uint64, shared bool) uint64 {
	if shared && have > 0 {
		return have
	}
	return saturate.Add(have, n)
}

func (f *fileCollector) addLines(lines func(func(Line) bool), join func(have, n uint64) uint64) {
	var number map[uint32]int // indexes of the lines of earlier layers
	if len(f.Lines) > 0 {
		number = make(map[uint32]int, len(f.Lines))
		for i := range f.Lines {
			number[f.Lines[i].Number] = i
		}
	}
	for l := range lines {
		if !l.Mapped {
			continue
		}
		if i, ok := number[l.Number]; ok {
			f.Lines[i].Count = join(f.Lines[i].Count, l.Count)
			continue
		}
		f.Lines = append(f.Lines, coverage.Line{Number: l.Number, Count: l.Count})
	}
}

type span struct{ start, end Position }

func compareSpans(a, b span) int {
	return cmp.Or(comparePositions(a.start, b.start), comparePositions(a.end, b.end))
}

type outcomes struct {
	counts   [2]uint64
	possible [2]bool
}

// addFunctions adds the functions whose own code is in the file. It skips a function that shares its
// counts with an added function of the same name and position.
func (f *fileCollector) addFunctions(functions []*Function, shared bool) {
	var known map[profile.Symbol]bool
	if shared {
		known = make(map[profile.Symbol]bool)
	}
	for _, fn := range functions {
		s := profile.Symbol{Name: fn.Name, File: f.Path, StartLine: int32(fn.start.Line)}
		if !fn.ownIn(f.Path) || fn.shared && known[s] {
			continue
		}
		if shared {
			known[s] = true
		}
		f.listed = append(f.listed, fn)
		f.Functions = append(f.Functions, coverage.Function{Symbol: s, Column: int32(fn.start.Column), Calls: fn.Count})
	}
}

type piece struct {
	fn   *Function
	file int
}

var outcomeNames = []string{"True", "False"}

// partSums add up what the functions of a file say about its regions, branches and decisions.
type partSums struct {
	regions   map[span]uint64
	branches  map[span]*outcomes
	decisions map[span][]Condition
	vectors   map[span]*coverage.Decision // nil without details
}

func (f *fileCollector) addParts(pieces []piece, details bool) {
	s := &partSums{regions: make(map[span]uint64), branches: make(map[span]*outcomes), decisions: make(map[span][]Condition)}
	if details {
		s.vectors = make(map[span]*coverage.Decision)
	}
	for _, p := range pieces {
		f.load(p.fn)
		f.all = f.code.appendOwn(f.all[:0], p.file)
		for i := range f.all {
			if r := &f.all[i]; r.Kind == Code {
				at := span{r.Start, r.End}
				s.regions[at] = added(s.regions[at], r.Count, p.fn.shared)
			}
		}
		s.addBranches(f.code.branchesOf(p.file), p.fn.shared)
		for i := range p.fn.MCDC {
			if m := &p.fn.MCDC[i]; int(m.File) == p.file {
				s.addDecision(m)
			}
		}
	}
	f.Regions = slices.Grow(f.Regions, len(s.regions)) // files are many and small
	for at, n := range sortedSpans(s.regions) {
		f.Regions = append(f.Regions, coverage.Region{
			Line: at.start.Line, Column: at.start.Column, EndLine: at.end.Line, EndColumn: at.end.Column, Count: n,
		})
	}
	f.Branches = slices.Grow(f.Branches, len(s.branches))
	for at, o := range sortedSpans(s.branches) {
		b := coverage.Branch{Line: at.start.Line, Column: at.start.Column, Names: outcomeNames}
		switch {
		case !o.possible[0]:
			b.Ways, b.Names = o.counts[1:], outcomeNames[1:]
		case !o.possible[1]:
			b.Ways, b.Names = o.counts[:1], outcomeNames[:1]
		default:
			b.Ways = o.counts[:]
		}
		f.Branches = append(f.Branches, b)
	}
	for at, conditions := range sortedSpans(s.decisions) {
		f.Decisions = append(f.Decisions, s.decision(at, conditions))
	}
}

func (s *partSums) addBranches(branches []CountedBranch, shared bool) {
	for _, b := range branches {
		if b.folded() {
			continue
		}
		at := span{b.Start, b.End}
		o := s.branches[at]
		if o == nil {
			o = new(outcomes)
			s.branches[at] = o
		}
		o.possible = [2]bool{o.possible[0] || !b.ConstantTrue, o.possible[1] || !b.ConstantFalse}
		o.counts = [2]uint64{added(o.counts[0], b.True, shared), added(o.counts[1], b.False, shared)}
	}
}

func (s *partSums) addDecision(m *MCDC) {
	at := span{m.Start, m.End}
	if s.vectors != nil {
		s.vectors[at] = addVectors(s.vectors[at], m)
	}
	have := s.decisions[at]
	if len(have) != len(m.Conditions) {
		if len(have) < len(m.Conditions) {
			s.decisions[at] = slices.Clone(m.Conditions)
		}
		return
	}
	for k, c := range m.Conditions {
		have[k].Covered = have[k].Covered || c.Covered
		have[k].ConstantTrue = have[k].ConstantTrue && c.ConstantTrue
		have[k].ConstantFalse = have[k].ConstantFalse && c.ConstantFalse
	}
}

// decision returns the sum of a decision, with its vectors if details are wanted.
func (s *partSums) decision(at span, conditions []Condition) coverage.Decision {
	d := coverage.Decision{Line: at.start.Line, Column: at.start.Column}
	if v := s.vectors[at]; v != nil {
		d.Operands, d.Vectors = v.Operands, v.Vectors
	} else {
		d.Operands = make([]coverage.Condition, len(conditions))
	}
	for k, c := range conditions {
		own := &d.Operands[k]
		own.Line, own.Column = c.Start.Line, c.Start.Column
		own.Covered, own.Constant = c.Covered, c.ConstantTrue || c.ConstantFalse
		if !own.Constant {
			d.Conditions.Count(c.Covered)
		}
		if c.Covered {
			own.Shown = [2]uint64{1, 1}
		}
		if c.Covered || own.Constant {
			own.Have, own.Wanted = "", ""
		}
	}
	return d
}

func sortedSpans[V any](m map[span]V) func(func(span, V) bool) {
	places := make([]span, 0, len(m))
	for at := range m {
		places = append(places, at)
	}
	slices.SortFunc(places, compareSpans)
	return func(yield func(span, V) bool) {
		for _, at := range places {
			if !yield(at, m[at]) {
				return
			}
		}
	}
}
