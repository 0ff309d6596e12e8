package coverage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// A Coverage is what ran of a program.
type Coverage struct {
	Files []*File // by path
	// Total is the sum of all files, Unplaced that of the functions whose file
	// or line is not known.
	Total, Unplaced Summary
	// HasLines: the profile tells which lines ran. Without it all files have
	// functions alone.
	HasLines bool
}

// A File is what ran of a source file.
type File struct {
	Path      string
	Functions []Function // by first line, then name
	Lines     []Line     // by number, each once
	Branches  []Branch   // by line, then function, each once
	Total     Summary
}

// A Function is what ran of a function. A source function may have several
// instances: a static function in a header, a template.
type Function struct {
	profile.Symbol
	Calls  uint64 // at least 1 if the function ran
	Blocks Ratio
}

// Covered reports whether the function ran.
func (f *Function) Covered() bool { return f.Calls > 0 }

// A Line is a line of which the profile knows whether it ran.
type Line struct {
	Number uint32
	Count  uint64 // how often at least; 0 if it did not run
}

// A Branch is a place where the program goes one of several ways.
type Branch struct {
	Function profile.Symbol
	Line     uint32
	Ways     []uint64 // how often the program went each way
}

// Covered reports whether the program came to the branch.
func (b *Branch) Covered() bool {
	return slices.ContainsFunc(b.Ways, func(n uint64) bool { return n > 0 })
}

// A Ratio says how many things there are, and how many of them ran.
type Ratio struct{ Total, Covered int }

// count adds a thing.
func (r *Ratio) count(covered bool) {
	r.Total++
	if covered {
		r.Covered++
	}
}

func (r *Ratio) add(o Ratio) {
	r.Total += o.Total
	r.Covered += o.Covered
}

// Share is Covered/Total, and 0 if there is nothing.
func (r Ratio) Share() float64 {
	if r.Total == 0 {
		return 0
	}
	return float64(r.Covered) / float64(r.Total)
}

// A Summary sums up a part of a program.
type Summary struct {
	Functions Ratio
	Blocks    Ratio // of all functions
	Lines     Ratio
	Branches  Ratio // counts the ways of each branch
}

// Add adds the sums of another part.
func (s *Summary) Add(o Summary) {
	s.Functions.add(o.Functions)
	s.Blocks.add(o.Blocks)
	s.Lines.add(o.Lines)
	s.Branches.add(o.Branches)
}

// add adds a function.
func (s *Summary) add(f *Function) {
	s.Functions.count(f.Covered())
	s.Blocks.add(f.Blocks)
}

// Options adjust [Collect]. The zero value takes all functions, and no branches.
type Options struct {
	// Function chooses functions; nil chooses all. The lines and branches of
	// other functions are left out.
	Function func(*profile.Symbol) bool
	// Branches says to collect branches, for which all stacks of the view are
	// read.
	Branches bool
}

// Collect returns what ran according to a profile.
func Collect(v profile.View, opt Options) *Coverage {
	c := &collector{view: v, opt: opt, files: make(map[string]*File)}
	c.functions()
	c.lines()
	if opt.Branches {
		c.branches()
	}
	return c.finish()
}

// A collector makes a [Coverage].
type collector struct {
	Coverage
	view  profile.View
	opt   Options
	files map[string]*File
}

func (c *collector) chosen(s *profile.Symbol) bool { return c.opt.Function == nil || c.opt.Function(s) }

func (c *collector) file(path string) *File {
	f := c.files[path]
	if f == nil {
		f = &File{Path: path}
		c.files[path] = f
		c.Files = append(c.Files, f)
	}
	return f
}

func (c *collector) functions() {
	for f := range c.view.Functions() {
		if !c.chosen(&f.Symbol) {
			continue
		}
		fn := Function{Symbol: f.Symbol, Calls: f.Calls, Blocks: Ratio{len(f.Blocks), f.CoveredBlocks()}}
		if f.Covered {
			fn.Calls = max(fn.Calls, 1)
		}
		if f.File == "" || f.StartLine <= 0 {
			c.Unplaced.add(&fn)
			continue
		}
		file := c.file(f.File)
		file.Functions = append(file.Functions, fn)
		file.Total.add(&fn)
	}
}

// lines adds the lines of all pieces of code; [File.finish] puts those of one
// line together.
func (c *collector) lines() {
	v, ok := c.view.(profile.LineView)
	if !ok {
		return
	}
	c.HasLines = true
	for l := range v.Lines() {
		if c.chosen(&l.Function) {
			file := c.file(l.File)
			file.Lines = append(file.Lines, Line{l.Number, l.Count})
		}
	}
}

// A branchPlace is where a branch is. Inlined copies of a function have its
// branches at the same place.
type branchPlace struct {
	function profile.Symbol
	line     int32
	bci      int32
}

// branches adds the counts of each branch up over all stacks.
func (c *collector) branches() {
	if !c.view.Features().Has(profile.HasLines) {
		return
	}
	ways := make(map[branchPlace]map[string]uint64)
	for _, set := range c.view.Stacks() {
		for s := range set.Stacks {
			label := slices.IndexFunc(s.Labels, func(l profile.Label) bool { return l.Key == profile.LabelBranch })
			if label < 0 || len(s.Frames) == 0 {
				continue
			}
			at := &s.Frames[0]
			if at.File == "" || at.Line <= 0 || !c.chosen(&at.Symbol) {
				continue
			}
			place := branchPlace{at.Symbol, at.Line, at.BCI}
			if ways[place] == nil {
				ways[place] = make(map[string]uint64)
			}
			way := s.Labels[label].Value
			ways[place][way] = saturate.Add(ways[place][way], s.Values[0])
		}
	}
	places := make([]branchPlace, 0, len(ways))
	for place := range ways {
		places = append(places, place)
	}
	slices.SortFunc(places, func(a, b branchPlace) int {
		return cmp.Or(
			cmp.Compare(a.line, b.line), strings.Compare(a.function.Name, b.function.Name),
			strings.Compare(a.function.Signature, b.function.Signature), cmp.Compare(a.bci, b.bci),
		)
	})
	for _, place := range places {
		b := Branch{Function: place.function, Line: uint32(place.line)}
		for _, way := range sortedKeys(ways[place]) {
			b.Ways = append(b.Ways, ways[place][way])
		}
		file := c.file(place.function.File)
		file.Branches = append(file.Branches, b)
	}
}

// finish sorts and sums up.
func (c *collector) finish() *Coverage {
	slices.SortFunc(c.Files, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range c.Files {
		f.finish()
		c.Total.Add(f.Total)
	}
	return &c.Coverage
}

// finish sorts what the file has. The greatest count of a line stands: the
// others are of parts of it.
func (f *File) finish() {
	slices.SortStableFunc(f.Functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(a.StartLine, b.StartLine), strings.Compare(a.Name, b.Name))
	})
	slices.SortFunc(f.Lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(b.Count, a.Count))
	})
	f.Lines = slices.CompactFunc(f.Lines, func(a, b Line) bool { return a.Number == b.Number })
	for _, l := range f.Lines {
		f.Total.Lines.count(l.Count > 0)
	}
	for _, b := range f.Branches {
		for _, n := range b.Ways {
			f.Total.Branches.count(n > 0)
		}
	}
}
