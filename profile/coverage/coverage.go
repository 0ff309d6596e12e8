package coverage

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// A Coverage says which parts of a program ran.
type Coverage struct {
	Files []*File // by path
	// Total sums up all files; Unplaced sums up the functions whose file or line is unknown.
	Total, Unplaced Summary
	// Unknown are the functions of Unplaced, by name.
	Unknown []Function
	// HasLines reports whether the profile knows which lines ran. Without lines
	// the files have functions only.
	HasLines bool
	// Misfits are the functions of programs that the profile does not fit. The files do not have
	// them, since their counts are unknown.
	Misfits []Misfit
	// BelowZero is how many regions and outcomes of branches have a count below zero, because threads
	// lost counts of a counter from which it is computed. They count as 0.
	BelowZero int
	// LLVMJSON writes the document of llvm-cov export, of LLVM 22. It is nil unless the coverage is
	// the whole coverage of an LLVM profile with its programs, with the original paths.
	LLVMJSON func(io.Writer) error
}

// A Misfit is a function of a program whose control flow differs from the function that the profile counted.
type Misfit struct {
	Function string
	Object   string   // program, library or object file
	Hash     uint64   // of the control flow, in the object
	Have     []uint64 // hashes of the functions of this name in the profile
	Cause    string   // the probable one, in words
}

// A File says which parts of a source file ran.
type File struct {
	Path      string
	Functions []Function // by first line, then name
	Lines     []Line     // by number, each once
	Branches  []Branch   // by line, then column and function, each once
	Regions   []Region   // by start, each once
	Decisions []Decision // by start, each once
	Total     Summary
	Behind    int // lines that [File.Exclude] left out because they are behind the end of the source
	// Expansions are the uses of macros, by start, each once. Totals do not count them, because the file
	// that defines a macro has its lines already. Only views with details have expansions.
	Expansions []Expansion
}

// A Function is an instance of a source function. A static function in a header
// and a template have several instances.
type Function struct {
	profile.Symbol
	// Column is the column in StartLine at which the function begins; 0 if unknown. Functions that
	// begin at one line and column are instances of one source function, and count as one in summaries.
	Column int32
	Calls  uint64 // at least 1 if the function ran
	Blocks Ratio
	// Part is the coverage of the file by this instance alone; nil if the source function has one
	// instance, and in views without details.
	Part *File
}

func (f *Function) covered() bool { return f.Calls > 0 }

// A Line is a source line whose execution the profile counts.
type Line struct {
	Number uint32
	Count  uint64 // lower bound of its executions; 0 if it did not run
}

// A Branch is a point at which the program takes one of several ways.
type Branch struct {
	Function profile.Symbol // zero if the branch sums up all instances of a function
	Line     uint32
	Column   uint32   // 0 if unknown
	Ways     []uint64 // how often the program took each way
	Names    []string // of the ways, such as "True"; nil if they have none
}

// A Region is a range of code that runs as a whole, of LLVM's coverage mapping.
type Region struct {
	Line, Column, EndLine, EndColumn uint32
	Count                            uint64
}

// A Decision is a boolean expression of several conditions. Conditions counts those
// that were shown to decide it (MC/DC).
type Decision struct {
	Line, Column uint32
	Conditions   Ratio
	// Operands are the conditions. Vectors are the combinations of values that the program evaluated, operands and
	// result, "TF-:F", with "-" for an operand that was not evaluated. Only views with details have vectors.
	Operands []Condition
	Vectors  []string
	// size is the number of conditions of each decision, if a tracefile puts several decisions of a line together.
	size int
}

// A Condition is an operand of a [Decision].
type Condition struct {
	Line, Column uint32
	Constant     bool // always of one value; not counted
	Covered      bool // it was shown to decide
	// Shown counts how often the condition was shown to decide, with the value false and with true. LLVM says it
	// only of both together.
	Shown      [2]uint64
	Expression string // in a tracefile
	// Wanted is a vector that would show the condition to decide, together with Have, a vector that the
	// program evaluated. Both are "" if the condition is covered, constant or was never evaluated.
	Have, Wanted string
}

// An Expansion is one use of a macro. Of is the coverage of the macro's text in this use.
type Expansion struct {
	Line, Column, EndLine, EndColumn uint32
	Of                               *File
}

func (b *Branch) covered() bool {
	return slices.ContainsFunc(b.Ways, func(n uint64) bool { return n > 0 })
}

// A Ratio counts the parts of one kind: all parts, and the parts that ran.
type Ratio struct{ Total, Covered int }

// Count adds one part.
func (r *Ratio) Count(covered bool) {
	r.Total++
	if covered {
		r.Covered++
	}
}

func (r *Ratio) add(o Ratio) {
	r.Total += o.Total
	r.Covered += o.Covered
}

// Max raises each of the two numbers to the number in o.
func (r *Ratio) Max(o Ratio) {
	r.Total, r.Covered = max(r.Total, o.Total), max(r.Covered, o.Covered)
}

// Share returns Covered/Total, or 0 if Total is 0.
func (r Ratio) Share() float64 {
	if r.Total == 0 {
		return 0
	}
	return float64(r.Covered) / float64(r.Total)
}

// A Summary holds the ratios of a file, a folder or a whole program.
type Summary struct {
	Functions Ratio
	Blocks    Ratio // of all functions
	Lines     Ratio
	Branches  Ratio // counts the ways of each branch

	// Only from LLVM's coverage mapping:
	Regions        Ratio
	MCDC           Ratio // conditions that were shown to decide
	Instantiations Ratio // functions, each instance by itself
}

// Add adds another summary.
func (s *Summary) Add(o Summary) {
	s.Functions.add(o.Functions)
	s.Blocks.add(o.Blocks)
	s.Lines.add(o.Lines)
	s.Branches.add(o.Branches)
	s.Regions.add(o.Regions)
	s.MCDC.add(o.MCDC)
	s.Instantiations.add(o.Instantiations)
}

func (s *Summary) addFunction(f *Function) {
	s.Functions.Count(f.covered())
	s.Blocks.add(f.Blocks)
}

// Collect returns the coverage of the program that a profile recorded. A view with a method Coverage() *Coverage
// knows its own. chosen selects functions, with their lines and branches; nil selects all.
func Collect(v profile.View, chosen func(*profile.Symbol) bool) *Coverage {
	if own, ok := v.(interface{ Coverage() *Coverage }); ok {
		if known := own.Coverage(); known != nil {
			return known.choose(chosen)
		}
	}
	if chosen == nil {
		chosen = func(*profile.Symbol) bool { return true }
	}
	c := &collector{view: v, chosen: chosen, files: make(map[string]*File)}
	c.functions()
	c.lines()
	c.branches()
	return c.finish()
}

type collector struct {
	Coverage
	view   profile.View
	chosen func(*profile.Symbol) bool
	files  map[string]*File
}

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
	for f := range profile.ReusedFunctions(c.view) {
		if !c.chosen(&f.Symbol) {
			continue
		}
		fn := Function{Symbol: f.Symbol, Calls: f.Calls, Blocks: Ratio{len(f.Blocks), f.CoveredBlocks()}}
		if f.Covered {
			fn.Calls = max(fn.Calls, 1)
		}
		if f.File == "" || f.StartLine <= 0 {
			c.Unplaced.addFunction(&fn)
			c.Unknown = append(c.Unknown, fn)
			continue
		}
		file := c.file(f.File)
		file.Functions = append(file.Functions, fn)
	}
}

// lines adds an entry for each piece of code; [File.finish] combines the entries of one line.
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

// A branchPosition identifies a branch. The inlined copies of a function share the positions of its branches.
type branchPosition struct {
	function profile.Symbol
	line     int32
	bci      int32
}

func (c *collector) branches() {
	if !c.view.Features().Lines {
		return
	}
	ways := make(map[branchPosition]map[string]uint64)
	for _, set := range c.view.Stacks() {
		for s := range set.ReusedStacks {
			label := slices.IndexFunc(s.Labels, func(l profile.Label) bool { return l.Key == profile.LabelBranch })
			if label < 0 || len(s.Frames) == 0 {
				continue
			}
			at := &s.Frames[0]
			if at.File == "" || at.Line <= 0 || !c.chosen(&at.Symbol) {
				continue
			}
			position := branchPosition{at.Symbol, at.Line, at.BCI}
			if ways[position] == nil {
				ways[position] = make(map[string]uint64)
			}
			way := s.Labels[label].Value
			ways[position][way] = saturate.Add(ways[position][way], s.Values[0])
		}
	}
	positions := slices.SortedFunc(maps.Keys(ways), func(a, b branchPosition) int {
		return cmp.Or(
			cmp.Compare(a.line, b.line), strings.Compare(a.function.Name, b.function.Name),
			strings.Compare(a.function.Signature, b.function.Signature), cmp.Compare(a.bci, b.bci),
		)
	})
	for _, position := range positions {
		b := Branch{Function: position.function, Line: uint32(position.line)}
		b.Names = sortedKeys(ways[position])
		for _, way := range b.Names {
			b.Ways = append(b.Ways, ways[position][way])
		}
		file := c.file(position.function.File)
		file.Branches = append(file.Branches, b)
	}
}

func (c *collector) finish() *Coverage {
	for _, f := range c.Files {
		slices.SortFunc(f.Lines, func(a, b Line) int {
			return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(b.Count, a.Count))
		})
		// A line keeps its greatest count, as the others count parts of the line.
		f.Lines = slices.CompactFunc(f.Lines, func(a, b Line) bool { return a.Number == b.Number })
	}
	c.Coverage.Finish()
	return &c.Coverage
}

// Finish sorts the files and the functions, and computes all totals but Unplaced. Call
// it after changing the contents of files.
func (c *Coverage) Finish() {
	slices.SortFunc(c.Files, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	slices.SortStableFunc(c.Unknown, func(a, b Function) int { return strings.Compare(a.Name, b.Name) })
	c.Total = Summary{}
	for _, f := range c.Files {
		f.finish()
		c.Total.Add(f.Total)
	}
}

// sameSource reports whether two functions of a file are instances of one source function: they begin at one line and
// column or, if the column is unknown, at one line and have one name.
func (f *Function) sameSource(o *Function) bool {
	return f.StartLine == o.StartLine && f.Column == o.Column && (f.Column > 0 || f.Name == o.Name && f.Signature == o.Signature && f.ID == o.ID)
}

func (f *File) finish() {
	slices.SortStableFunc(f.Functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(a.StartLine, b.StartLine), cmp.Compare(a.Column, b.Column), strings.Compare(a.Name, b.Name), strings.Compare(a.Signature, b.Signature))
	})
	t := Summary{}
	ran := false // an instance of the last function
	for i := range f.Functions {
		fn := &f.Functions[i]
		t.Blocks.add(fn.Blocks)
		if fn.Column > 0 {
			t.Instantiations.Count(fn.covered())
		}
		if i == 0 || !fn.sameSource(&f.Functions[i-1]) {
			ran = false
			t.Functions.Total++
		}
		if fn.covered() && !ran {
			ran = true
			t.Functions.Covered++
		}
	}
	for _, l := range f.Lines {
		t.Lines.Count(l.Count > 0)
	}
	for _, b := range f.Branches {
		for _, n := range b.Ways {
			t.Branches.Count(n > 0)
		}
	}
	for _, r := range f.Regions {
		t.Regions.Count(r.Count > 0)
	}
	for _, d := range f.Decisions {
		t.MCDC.add(d.Conditions)
	}
	f.Total = t
}
