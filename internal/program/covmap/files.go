package covmap

import (
	"maps"
	"slices"

	"github.com/profuse-pgo/profuse/profile/coverage"
)

// Files returns the names of all source files, sorted.
func (c *Coverage) Files() []string { return slices.Sorted(maps.Keys(c.files)) }

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
	// Functions are the functions with a virtual file of this name, in the order of the
	// mappings. Their own code may be in another file.
	Functions []*Function
	// Groups are the functions whose own code is in the file. Functions that begin at one position
	// are one group: instantiations of a template, or a static function in a header.
	Groups []Group
	// Branches and MCDC belong to all functions in this file, including macros that the file defines.
	Branches []*CountedBranch
	MCDC     []*MCDC
	Total    coverage.Summary
}

// A Group is the instantiations of one source function.
type Group struct {
	Start     Position
	Functions []*Function
	Count     uint64           // sum of their counts
	Total     coverage.Summary // each number is the maximum over the functions

	own []ownFunction // the functions with their summaries
}

// File returns the coverage of a source file. It computes it anew at every call, and may
// be called by several goroutines.
func (c *Coverage) File(name string) *File {
	s := c.summarizer()
	defer c.spare.put(s)
	var branches []*CountedBranch
	var mcdc []*MCDC
	f := c.file(name, s, func(fn *Function) {
		for file := range fn.virtualFiles(name) {
			branches = appendPointers(branches, slices.Clone(s.code.branchesOf(file)))
		}
		for i := range fn.MCDC {
			if fn.Files[fn.MCDC[i].File] == name {
				mcdc = append(mcdc, &fn.MCDC[i])
			}
		}
	})
	f.Branches, f.MCDC = branches, mcdc
	s.release()
	return f
}

func appendPointers[T any](to []*T, list []T) []*T {
	for i := range list {
		to = append(to, &list[i])
	}
	return to
}

func (c *Coverage) summarizer() *summarizer {
	s := c.spare.get()
	if s == nil {
		s = new(summarizer)
	}
	return s
}

// file returns the coverage of a source file without branches and MC/DC. It calls visit with each function of the
// file while s.code holds the code of the function. The segments and groups are valid until s is used again.
func (c *Coverage) file(name string, s *summarizer, visit func(fn *Function)) *File {
	f := &File{Name: name, Functions: c.files[name]}
	s.all, s.own = s.all[:0], s.own[:0]
	for _, fn := range f.Functions {
		s.load(fn)
		for file := range fn.virtualFiles(name) {
			s.all = append(s.all, s.code.regionsOf(file)...)
		}
		if fn.ownIn(name) {
			s.own = append(s.own, ownFunction{fn, s.function()})
		}
		visit(fn)
	}
	f.group(s)
	f.Segments = s.builder.build(s.all)
	return f
}

// Expansions yields the functions whose own code is in the file, each with an expansion in that code.
func (f *File) Expansions(yield func(fn *Function, r *CountedRegion) bool) {
	for _, fn := range f.Functions {
		if !fn.ownIn(f.Name) {
			continue
		}
		var d decoder
		own := d.load(fn).ownRegions()
		for i := range own {
			if own[i].Kind == Expansion && !yield(fn, &own[i]) {
				return
			}
		}
	}
}

type ownFunction struct {
	*Function
	sum coverage.Summary
}

func (f *File) group(s *summarizer) {
	byStart := func(a, b ownFunction) int { return comparePositions(a.start, b.start) }
	if !slices.IsSortedFunc(s.own, byStart) {
		slices.SortStableFunc(s.own, byStart)
	}
	f.Groups, s.functions = s.groups[:0], s.functions[:0]
	for _, fn := range s.own {
		s.functions = append(s.functions, fn.Function)
	}
	for own, functions := s.own, s.functions; len(own) > 0; {
		g := Group{Start: own[0].start}
		n := 0
		for ; n < len(own) && own[n].start == g.Start; n++ {
			g.Count += own[n].Count
		}
		g.own, own = own[:n:n], own[n:]
		g.Functions, functions = functions[:n:n], functions[n:]
		g.Total = g.total(nil)
		f.Total.Add(g.Total)
		f.Groups = append(f.Groups, g)
	}
	s.groups = f.Groups
}

// TotalOf returns the totals of the functions that keep accepts. If keep accepts some functions of
// a group, the group has run if any function of the group has.
func (f *File) TotalOf(keep func(*Function) bool) (sum coverage.Summary) {
	for i := range f.Groups {
		sum.Add(f.Groups[i].total(keep))
	}
	return sum
}

// total returns the numbers of the functions of a group that keep accepts; nil accepts all.
func (g *Group) total(keep func(*Function) bool) (total coverage.Summary) {
	for i := range g.own {
		fn := &g.own[i]
		if keep != nil && !keep(fn.Function) {
			continue
		}
		total.Regions.Max(fn.sum.Regions)
		total.Lines.Max(fn.sum.Lines)
		total.Branches.Max(fn.sum.Branches)
		total.MCDC.Max(fn.sum.MCDC)
		total.Instantiations.Count(fn.Count > 0)
	}
	if total.Instantiations.Total > 0 {
		total.Functions.Count(g.Count > 0)
	}
	return total
}

// A Part is the part of a function in one virtual file.
type Part struct {
	Name       string // of the file
	Segments   []Segment
	Branches   []*CountedBranch
	MCDC       []*MCDC
	Expansions []*CountedRegion
}

// Main returns the virtual file of the function's own code, -1 if there is none.
func (f *Function) Main() int { return f.main }

// Parts decodes the function and returns a function that returns the part in a virtual file.
func (f *Function) Parts() func(file int) *Part {
	var s summarizer
	s.load(f)
	return func(file int) *Part {
		p := &Part{Name: f.Files[file]}
		regions := s.code.regionsOf(file)
		p.Segments = s.builder.build(slices.Clone(regions))
		s.builder.out = nil // the part keeps the segments
		for i := range regions {
			if regions[i].Kind == Expansion {
				p.Expansions = append(p.Expansions, &regions[i])
			}
		}
		p.Branches = appendPointers(p.Branches, s.code.branchesOf(file))
		for i := range f.MCDC {
			if int(f.MCDC[i].File) == file {
				p.MCDC = append(p.MCDC, &f.MCDC[i])
			}
		}
		return p
	}
}

// Summary returns the numbers of one function: all its code regions, the lines of
// its own file, and the branches there and in what expands there.
func (f *Function) Summary() coverage.Summary {
	var s summarizer
	s.load(f)
	return s.function()
}

// A summarizer computes the summaries of functions and files, in memory that it reuses.
type summarizer struct {
	decoder decoder
	code    *functionCode   // that was loaded
	regions []CountedRegion // of a function
	builder segmentBuilder
	visited []bool // virtual files
	todo    []int

	all       []CountedRegion // of a file
	own       []ownFunction
	functions []*Function
	groups    []Group
	placed    placedBranches
}

// release gives up the segments and groups of a file, which the caller keeps.
func (s *summarizer) release() { s.builder.out, s.own, s.functions, s.groups = nil, nil, nil, nil }

func (s *summarizer) load(f *Function) { s.code = s.decoder.load(f) }

func (s *summarizer) function() (sum coverage.Summary) {
	f := s.code.fn
	sum.Functions.Count(f.Count > 0)
	for i := range s.code.regions {
		if r := &s.code.regions[i]; r.Kind == Code {
			sum.Regions.Count(r.Count != 0)
		}
	}
	if f.main < 0 {
		return sum
	}
	s.regions = append(s.regions[:0], s.code.ownRegions()...)
	for l := range Lines(s.builder.build(s.regions)) {
		if l.Mapped {
			sum.Lines.Count(l.Count > 0)
		}
	}
	s.walk(func(file int) {
		branches := s.code.branchesOf(file)
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

// walk calls visit once for the function's own virtual file and for each virtual file that expands
// in it, at any depth.
func (s *summarizer) walk(visit func(file int)) {
	f := s.code.fn
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
		in := s.code.regionsOf(file)
		for i := range in {
			if in[i].Kind == Expansion {
				s.todo = append(s.todo, int(in[i].Expanded))
			}
		}
	}
}
