package covmap

import (
	"cmp"
	"maps"
	"slices"

	"github.com/profuse-pgo/profuse/coverage"
)

// Files returns the names of all source files, sorted.
func (c *Coverage) Files() []string { return slices.Sorted(maps.Keys(c.files)) }

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
	f := &File{Name: name, Functions: c.files[name]}
	var regions []CountedRegion
	for _, fn := range f.Functions {
		own := fn.virtualFiles(name)
		for _, file := range own {
			regions = append(regions, fn.regionsOf(file)...)
			branches := fn.branchesOf(file)
			for i := range branches {
				f.Branches = append(f.Branches, &branches[i])
			}
		}
		for i := range fn.MCDC {
			if slices.Contains(own, int(fn.MCDC[i].File)) {
				f.MCDC = append(f.MCDC, &fn.MCDC[i])
			}
		}
	}
	f.Segments = segments(regions)
	f.group()
	return f
}

// Expansions yields the expansions in the code of functions that is in the file itself,
// with their functions.
func (f *File) Expansions(yield func(fn *Function, r *CountedRegion) bool) {
	for _, fn := range f.Functions {
		if fn.main < 0 || fn.Files[fn.main] != f.Name {
			continue
		}
		own := fn.regionsOf(fn.main)
		for i := range own {
			if own[i].Kind == Expansion && !yield(fn, &own[i]) {
				return
			}
		}
	}
}

// group sets Groups and Total.
func (f *File) group() {
	var s summarizer
	groups := make(map[Position]int)
	for _, fn := range f.Functions {
		if fn.main < 0 || fn.Files[fn.main] != f.Name {
			continue
		}
		own := fn.regionsOf(fn.main)
		if len(own) == 0 {
			continue
		}
		i, ok := groups[own[0].Start]
		if !ok {
			i = len(f.Groups)
			groups[own[0].Start] = i
			f.Groups = append(f.Groups, Group{Start: own[0].Start})
		}
		g := &f.Groups[i]
		g.Functions = append(g.Functions, fn)
		g.Count += fn.Count
		sum := s.function(fn)
		g.Total.Regions.Max(sum.Regions)
		g.Total.Lines.Max(sum.Lines)
		g.Total.Branches.Max(sum.Branches)
		g.Total.MCDC.Max(sum.MCDC)
		g.Total.Instantiations.Count(fn.Count > 0)
	}
	for i := range f.Groups {
		g := &f.Groups[i]
		g.Total.Functions.Count(g.Count > 0)
		f.Total.Add(g.Total)
	}
	slices.SortFunc(f.Groups, func(a, b Group) int { return comparePositions(a.Start, b.Start) })
}

// Summary returns the numbers of one function: all its code regions, the lines of
// its own file, and the branches there and in what expands there.
func (f *Function) Summary() coverage.Summary {
	var s summarizer
	return s.function(f)
}

// A summarizer computes the summaries of functions.
type summarizer struct {
	regions []CountedRegion // memory
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
	s.regions = append(s.regions[:0], f.regionsOf(f.main)...)
	for l := range Lines(segments(s.regions)) {
		if l.Mapped {
			sum.Lines.Count(l.Count > 0)
		}
	}
	f.walk(f.main, func(file int) {
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

// virtualFiles returns the indexes of the virtual files of a name.
func (f *Function) virtualFiles(name string) []int {
	var own []int
	for i, n := range f.Files {
		if n == name {
			own = append(own, i)
		}
	}
	return own
}

// regionsOf returns the regions in a virtual file. Regions lie in the order of
// their virtual files.
func (f *Function) regionsOf(file int) []CountedRegion {
	return part(f.Regions, file, func(r CountedRegion) int { return int(r.File) })
}

// branchesOf returns the branches in a virtual file.
func (f *Function) branchesOf(file int) []CountedBranch {
	return part(f.Branches, file, func(b CountedBranch) int { return int(b.File) })
}

// part returns the elements of a list sorted by key that have the given key.
func part[T any](list []T, key int, of func(T) int) []T {
	start, _ := slices.BinarySearchFunc(list, key, func(e T, key int) int { return cmp.Compare(of(e), key) })
	end, _ := slices.BinarySearchFunc(list[start:], key+1, func(e T, key int) int { return cmp.Compare(of(e), key) })
	return list[start : start+end]
}

// walk calls visit for a virtual file and then for those that expand in it, at any
// depth, each once.
func (f *Function) walk(file int, visit func(file int)) {
	visited := make([]bool, len(f.Files))
	for todo := []int{file}; len(todo) > 0; {
		file := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if visited[file] {
			continue
		}
		visited[file] = true
		visit(file)
		own := f.regionsOf(file)
		for i := range own {
			if own[i].Kind == Expansion {
				todo = append(todo, int(own[i].Expanded))
			}
		}
	}
}
