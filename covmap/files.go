package covmap

import (
	"iter"
	"maps"
	"slices"

	"github.com/profuse-pgo/profuse/coverage"
)

// Files returns the names of all source files, sorted.
func (c *Coverage) Files() []string { return slices.Sorted(maps.Keys(c.files)) }

// filesOr returns names, or those of all files if it is nil.
func (c *Coverage) filesOr(names []string) []string {
	if names == nil {
		return c.Files()
	}
	return names
}

// A File is the coverage of one source file.
type File struct {
	Name     string
	Segments []Segment
	// Functions are those with a virtual file of this name, in the order of the
	// mappings. Their own code may be in another file.
	Functions []*Function
	// Groups are the functions whose own code is in the file, those that begin at
	// one place in one group: instantiations of a template, a static function in
	// a header.
	Groups []Group
	// Branches and MCDC are those of all functions in this file, macros that are
	// defined in it included.
	Branches []*CountedBranch
	MCDC     []*MCDC
	Total    coverage.Summary
}

// A Group is the instantiations of one source function.
type Group struct {
	Start     Position
	Functions []*Function
	Count     uint64           // sum of their counts
	Total     coverage.Summary // of each number the greatest of the functions
}

// File returns the coverage of a source file. It computes it anew at every call, and may
// be called by several goroutines.
func (c *Coverage) File(name string) *File {
	s := c.summarizer()
	defer c.spare.Put(s)
	f := c.file(name, s)
	f.Segments = slices.Clone(f.Segments)
	for _, fn := range f.Functions {
		for file := range fn.virtualFiles(name) {
			branches := fn.branchesOf(file)
			for i := range branches {
				f.Branches = append(f.Branches, &branches[i])
			}
		}
		for i := range fn.MCDC {
			if fn.Files[fn.MCDC[i].File] == name {
				f.MCDC = append(f.MCDC, &fn.MCDC[i])
			}
		}
	}
	return f
}

func (c *Coverage) summarizer() *summarizer {
	s, _ := c.spare.Get().(*summarizer)
	if s == nil {
		s = new(summarizer)
	}
	return s
}

// file returns the coverage of a source file without branches and MC/DC. Its segments are
// valid until s is used again.
func (c *Coverage) file(name string, s *summarizer) *File {
	f := &File{Name: name, Functions: c.files[name]}
	f.group(s)
	regions := s.regions[:0]
	for _, fn := range f.Functions {
		for file := range fn.virtualFiles(name) {
			regions = append(regions, fn.regionsOf(file)...)
		}
	}
	f.Segments = s.segments(regions)
	return f
}

// Expansions yields the expansions in the code of functions that is in the file itself,
// with their functions.
func (f *File) Expansions(yield func(fn *Function, r *CountedRegion) bool) {
	for _, fn := range f.Functions {
		own := fn.ownRegions(f.Name)
		for i := range own {
			if own[i].Kind == Expansion && !yield(fn, &own[i]) {
				return
			}
		}
	}
}

// group sets Groups and Total.
func (f *File) group(s *summarizer) {
	own := make([]*Function, 0, len(f.Functions))
	for _, fn := range f.Functions {
		if len(fn.ownRegions(f.Name)) > 0 {
			own = append(own, fn)
		}
	}
	start := func(fn *Function) Position { return fn.regionsOf(fn.main)[0].Start }
	byStart := func(a, b *Function) int { return comparePositions(start(a), start(b)) }
	if !slices.IsSortedFunc(own, byStart) {
		slices.SortStableFunc(own, byStart)
	}
	for len(own) > 0 {
		g := Group{Start: start(own[0])}
		n := 0
		for ; n < len(own) && start(own[n]) == g.Start; n++ {
			g.Count += own[n].Count
		}
		g.Functions, own = own[:n:n], own[n:]
		g.Total = g.total(s, nil)
		f.Total.Add(g.Total)
		f.Groups = append(f.Groups, g)
	}
}

// TotalOf returns the numbers of the functions that keep accepts. A group of which it
// accepts some has run if any of its functions has.
func (f *File) TotalOf(keep func(*Function) bool) (sum coverage.Summary) {
	var s summarizer
	for i := range f.Groups {
		sum.Add(f.Groups[i].total(&s, keep))
	}
	return sum
}

// total returns the numbers of the functions of a group that keep accepts; nil accepts
// all.
func (g *Group) total(s *summarizer, keep func(*Function) bool) (total coverage.Summary) {
	for _, fn := range g.Functions {
		if keep != nil && !keep(fn) {
			continue
		}
		sum := s.function(fn)
		total.Regions.Max(sum.Regions)
		total.Lines.Max(sum.Lines)
		total.Branches.Max(sum.Branches)
		total.MCDC.Max(sum.MCDC)
		total.Instantiations.Count(fn.Count > 0)
	}
	if total.Instantiations.Total > 0 {
		total.Functions.Count(g.Count > 0)
	}
	return total
}

// A Part is what a function has in one virtual file.
type Part struct {
	Function   *Function
	Name       string // of the file
	Segments   []Segment
	Branches   []*CountedBranch
	MCDC       []*MCDC
	Expansions []*CountedRegion
}

// Main returns the virtual file of the function's own code, -1 if there is none.
func (f *Function) Main() int { return f.main }

// Part returns what the function has in a virtual file.
func (f *Function) Part(file int) *Part {
	p := &Part{Function: f, Name: f.Files[file]}
	var s summarizer
	regions := f.regionsOf(file)
	p.Segments = s.segments(slices.Clone(regions))
	for i := range regions {
		if regions[i].Kind == Expansion {
			p.Expansions = append(p.Expansions, &regions[i])
		}
	}
	branches := f.branchesOf(file)
	for i := range branches {
		p.Branches = append(p.Branches, &branches[i])
	}
	for i := range f.MCDC {
		if int(f.MCDC[i].File) == file {
			p.MCDC = append(p.MCDC, &f.MCDC[i])
		}
	}
	return p
}

// Summary returns the numbers of one function: all its code regions, the lines of
// its own file, and the branches there and in what expands there.
func (f *Function) Summary() coverage.Summary {
	var s summarizer
	return s.function(f)
}

// A summarizer computes the summaries of functions. It holds memory for the next.
type summarizer struct {
	regions []CountedRegion
	builder segmentBuilder
	placed  placedBranches
	visited []bool
	todo    []int
}

// segments returns the segments of regions until it is called again.
func (s *summarizer) segments(regions []CountedRegion) []Segment {
	s.regions = regions
	return s.builder.build(regions)
}

func (s *summarizer) function(f *Function) (sum coverage.Summary) {
	sum.Functions.Count(f.Count > 0)
	for i := range f.Regions {
		if r := &f.Regions[i]; r.Kind == Code {
			sum.Regions.Count(r.Count != 0)
		}
	}
	if f.main < 0 {
		return sum
	}
	for l := range Lines(s.segments(append(s.regions[:0], f.regionsOf(f.main)...))) {
		if l.Mapped {
			sum.Lines.Count(l.Count > 0)
		}
	}
	s.walk(f, func(file int) {
		branches := f.branchesOf(file)
		for i := range branches {
			b := &branches[i]
			if !b.ConstantTrue {
				sum.Branches.Count(b.True > 0)
			}
			if !b.ConstantFalse {
				sum.Branches.Count(b.False > 0)
			}
		}
	})
	for i := range f.MCDC {
		if m := &f.MCDC[i]; int(m.File) == f.main {
			for _, c := range m.Conditions {
				if !c.ConstantTrue && !c.ConstantFalse {
					sum.MCDC.Total++
				}
				if c.Covered {
					sum.MCDC.Covered++
				}
			}
		}
	}
	return sum
}

// virtualFiles yields the indexes of the virtual files of a name.
func (f *Function) virtualFiles(name string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, n := range f.Files {
			if n == name && !yield(i) {
				return
			}
		}
	}
}

// ownRegions returns the regions of the function's own code if that is in a file.
func (f *Function) ownRegions(file string) []CountedRegion {
	if f.main < 0 || f.Files[f.main] != file {
		return nil
	}
	return f.regionsOf(f.main)
}

// regionsOf returns the regions in a virtual file.
func (f *Function) regionsOf(file int) []CountedRegion {
	return f.Regions[f.starts[file].region:f.starts[file+1].region]
}

// branchesOf returns the branches in a virtual file.
func (f *Function) branchesOf(file int) []CountedBranch {
	return f.Branches[f.starts[file].branch:f.starts[file+1].branch]
}

// walk calls visit for the function's own virtual file and then for those that
// expand in it, at any depth, each once.
func (s *summarizer) walk(f *Function, visit func(file int)) {
	s.visited = slices.Grow(s.visited[:0], len(f.Files))[:len(f.Files)]
	clear(s.visited)
	for s.todo = append(s.todo[:0], f.main); len(s.todo) > 0; {
		file := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		if s.visited[file] {
			continue
		}
		s.visited[file] = true
		visit(file)
		own := f.regionsOf(file)
		for i := range own {
			if own[i].Kind == Expansion {
				s.todo = append(s.todo, int(own[i].Expanded))
			}
		}
	}
}

// maxNesting is how deep expansions are followed: no compiler nests them as deep.
const maxNesting = 2000

// An expansionWalk visits the branches in what expansions stand for.
type expansionWalk struct {
	fn   *Function
	done []bool // virtual files of fn that were visited
}

// branches calls visit for the branches in an expansion of a function, those of nested
// expansions first. path is the starts of the expansions that a branch lies in, the
// outermost first. Expansions of one function must follow each other; each virtual file
// is visited once.
func (w *expansionWalk) branches(fn *Function, r *CountedRegion, visit func(b *CountedBranch, path []Position)) {
	if fn != w.fn {
		w.fn, w.done = fn, make([]bool, len(fn.Files))
	}
	w.expand(r, nil, visit)
}

func (w *expansionWalk) expand(r *CountedRegion, path []Position, visit func(b *CountedBranch, path []Position)) {
	if w.done[r.Expanded] || len(path) > maxNesting {
		return
	}
	w.done[r.Expanded] = true
	path = append(slices.Clip(path), r.Start)
	inner := w.fn.regionsOf(int(r.Expanded))
	for i := range inner {
		if inner[i].Kind == Expansion {
			w.expand(&inner[i], path, visit)
		}
	}
	branches := w.fn.branchesOf(int(r.Expanded))
	for i := range branches {
		visit(&branches[i], path)
	}
}
