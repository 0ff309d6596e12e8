package covmap

import (
	"cmp"
	"iter"
	"slices"
)

// A CountedRegion is a region with its count. Branches and decisions have types of their own.
type CountedRegion struct {
	Start, End     Position
	Count          uint64
	File, Expanded uint32 // virtual files: the file of the region, and the file that an Expansion stands for
	Kind           Kind
}

// A CountedBranch is a condition with the counts of its outcomes.
type CountedBranch struct {
	Start, End  Position
	True, False uint64
	// ConstantTrue: the condition is a constant, and its true outcome never happens. ConstantFalse
	// says the same about the false outcome.
	ConstantTrue, ConstantFalse bool
	File                        uint32
	Kind                        Kind
}

func (b *CountedBranch) folded() bool { return b.ConstantTrue && b.ConstantFalse }

// A functionCode has the regions and branches of one function with their counts.
type functionCode struct {
	fn       *Function
	regions  []CountedRegion
	branches []CountedBranch
	// starts has, for each virtual file, the indexes of its first region and branch; a last element
	// has the lengths of both lists.
	starts []fileStart
}

// fewFiles is the largest number of source files of a function that stays encoded: it takes a fifth
// of the memory, but is decoded again for each source file. A function in more source files, for
// example one with macros of many headers, stays decoded.
const fewFiles = 2

type keptCode struct {
	functionCode
	byName []int32 // virtual files, by the names of their files
}

// keep returns a copy of the code of a function in these files, or nil if the function stays encoded.
func (c *functionCode) keep(f *Function, files []string) *keptCode {
	var names [fewFiles]string
	n := 0
	for _, name := range files {
		if slices.Contains(names[:n], name) {
			continue
		}
		if n < fewFiles {
			names[n] = name
			n++
			continue
		}
		k := &keptCode{functionCode{f, slices.Clone(c.regions), slices.Clone(c.branches), slices.Clone(c.starts)}, make([]int32, len(files))}
		for i := range k.byName {
			k.byName[i] = int32(i)
		}
		slices.SortFunc(k.byName, func(a, b int32) int { return cmp.Or(cmp.Compare(files[a], files[b]), cmp.Compare(a, b)) })
		return k
	}
	return nil
}

// A decoder decodes the code of functions one after the other, in the same memory.
type decoder struct {
	functionCode
	body
	values values
}

type fileStart struct{ region, branch uint32 }

// load decodes the regions and branches of a function. It cannot fail, because [Evaluate] has
// decoded the function before. The result is valid until the next call.
func (c *decoder) load(f *Function) *functionCode {
	if f.kept != nil {
		return &f.kept.functionCode
	}
	if c.fn != f {
		_ = c.decode(f.record)
		c.count(f)
		c.fn = f
	}
	return &c.functionCode
}

// count replaces the counters of the decoded regions and branches by the counts of the function. It
// returns how many counts of code and branches are below zero, and false if the profile lacks a
// counter.
func (c *decoder) count(f *Function) (belowZero int, ok bool) {
	v := &c.values
	v.evaluate(c.expressions, f.counts, f.absent)
	ok = true
	set := func(count *uint64, counts bool) {
		value, known := v.of(counter(*count))
		ok = ok && known
		if *count = value.low; f.wraps {
			return
		}
		if *count = value.count(); value.high < 0 && counts {
			belowZero++
		}
	}
	for i := range c.regions {
		set(&c.regions[i].Count, c.regions[i].Kind == Code)
	}
	for i := range c.branches {
		set(&c.branches[i].True, true)
		set(&c.branches[i].False, true)
	}
	return belowZero, ok
}

func (c *functionCode) begin() {
	c.starts = append(c.starts, fileStart{uint32(len(c.regions)), uint32(len(c.branches))})
}

func (c *functionCode) lines() (n uint64) {
	for i := range c.regions {
		n += uint64(c.regions[i].End.Line-c.regions[i].Start.Line) + 1
	}
	return n
}

func (c *functionCode) regionsOf(file int) []CountedRegion {
	return c.regions[c.starts[file].region:c.starts[file+1].region]
}

// appendOwn appends the regions of a virtual file with the counts of [Coverage.Collect]. clang covers the text of
// a macro once more, with the count of the surroundings, if the macro is an operand, an arm of a conditional or
// the body of a loop. It writes such a region behind the region with the right count, so that the first of several
// regions with one range counts. If the text begins with another macro, the right region is in that macro.
func (c *functionCode) appendOwn(dst []CountedRegion, file int) []CountedRegion {
	in := c.regionsOf(file)
	if len(c.starts) == 2 { // one file
		return append(dst, in...)
	}
	for i := range in {
		r := &in[i]
		code := r.Kind == Code && file != c.fn.main
		if code && slices.ContainsFunc(in[max(i-mostAtStart, 0):i], func(q CountedRegion) bool {
			return q.Kind == Code && q.Start == r.Start && q.End == r.End
		}) {
			continue
		}
		dst = append(dst, *r)
		switch own := &dst[len(dst)-1]; {
		case r.Kind == Expansion:
			own.Count = c.begun(r.Expanded, r.Count)
		case code && r.Start == in[0].Start:
			own.Count = c.begun(r.File, r.Count)
		}
	}
	return dst
}

// Compilers write no more regions at one position, and no more macros that begin one another.
const mostAtStart, mostBegun = 16, 64

// begun returns how often the text of a virtual file was begun: if it begins with a macro, then as often
// as the text of that macro. It returns otherwise for a file without regions.
func (c *functionCode) begun(file uint32, otherwise uint64) uint64 {
	for range mostBegun {
		in := c.regionsOf(int(file))
		if len(in) == 0 || in[0].Kind == Skipped {
			break
		}
		start := in[:min(len(in), mostAtStart)]
		i := slices.IndexFunc(start, func(r CountedRegion) bool { return r.Kind == Expansion || r.Start != in[0].Start })
		if i < 0 || in[i].Start != in[0].Start {
			return in[0].Count
		}
		otherwise, file = in[i].Count, in[i].Expanded
	}
	return otherwise
}

func (c *functionCode) branchesOf(file int) []CountedBranch {
	return c.branches[c.starts[file].branch:c.starts[file+1].branch]
}

func (c *functionCode) ownRegions() []CountedRegion {
	if !c.fn.own {
		return nil
	}
	return c.regionsOf(c.fn.main)
}

// Regions returns all regions of the function except branches and decisions, by virtual file. It
// decodes them at every call.
func (f *Function) Regions() []CountedRegion {
	var d decoder
	return d.load(f).regions
}

func (f *Function) virtualFiles(name string) iter.Seq[int] {
	return func(yield func(int) bool) {
		if f.kept == nil {
			for i, n := range f.Files {
				if n == name && !yield(i) {
					return
				}
			}
			return
		}
		byName := f.kept.byName
		at, _ := slices.BinarySearchFunc(byName, name, func(i int32, name string) int { return cmp.Compare(f.Files[i], name) })
		for ; at < len(byName) && f.Files[byName[at]] == name; at++ {
			if !yield(int(byName[at])) {
				return
			}
		}
	}
}

func (f *Function) ownIn(file string) bool { return f.own && f.Files[f.main] == file }

// maxNesting is the depth to which expansions are followed. No compiler nests them that deep.
const maxNesting = 2000

// An expansionWalk visits the branches in the expansions of one function.
type expansionWalk struct {
	code *functionCode
	done []bool // virtual files that were visited
}

func (w *expansionWalk) begin(code *functionCode) {
	w.code = code
	w.done = slices.Grow(w.done[:0], len(code.fn.Files))[:len(code.fn.Files)]
	clear(w.done)
}

// branches calls visit for the branches in an expansion, after the branches in its nested expansions. path holds
// the starts of the expansions that enclose a branch, outermost first. Each virtual file is visited once.
func (w *expansionWalk) branches(r *CountedRegion, visit func(b *CountedBranch, path []Position)) {
	w.expand(r, nil, visit)
}

func (w *expansionWalk) expand(r *CountedRegion, path []Position, visit func(b *CountedBranch, path []Position)) {
	if w.done[r.Expanded] || len(path) > maxNesting {
		return
	}
	w.done[r.Expanded] = true
	path = append(slices.Clip(path), r.Start)
	inner := w.code.regionsOf(int(r.Expanded))
	for i := range inner {
		if inner[i].Kind == Expansion {
			w.expand(&inner[i], path, visit)
		}
	}
	branches := w.code.branchesOf(int(r.Expanded))
	for i := range branches {
		visit(&branches[i], path)
	}
}
