package gcov

import (
	"path"
	"slices"

	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/internal/sourcepath"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// A Program adds up what the object files of a program did. The zero value has no objects.
//
// A line of a header counts what all objects did on it. Functions of one name, source and place are one function. Each object
// has its own copy of such a function: of an inline function, one copy has the counts; a static function of a header counts
// in every copy. Each instance of a template has its own name.
type Program struct {
	// BelowZero is the number of arcs with counts below zero, because threads lost counts.
	BelowZero int
	// Complex are functions on one of whose lines not all cycles were counted, because there are too many.
	Complex []string
	// Misfits are the functions whose counts are for another flow graph.
	Misfits []coverage.Misfit

	versions  []Version
	functions []*programFunction
	index     map[programKey]*programFunction
	files     map[string]*programFile
	own       map[ownLine]ownCount // lines of the unit that is being added
}

type programKey struct {
	symbol profile.Symbol
	column uint32
	flow   uint32
	size   int // in blocks
}

type programFunction struct {
	programKey
	calls  int64
	blocks []int64
}

type programFile struct {
	lines    map[uint32]int64
	branches map[branchKey][]int64
	order    []branchKey
}

// A branchKey identifies a branch: the nth on a line in the functions that begin at one place, with so many ways.
type branchKey struct {
	startLine, startColumn, line uint32
	nth, ways                    int
}

// An ownLine is a line of a source in one object. Functions that begin on one line have lines of their own.
type ownLine struct {
	file     string
	line     uint32
	function int // index; -1 for lines that functions share
}

type ownCount struct {
	count     int64
	hasBlocks bool
}

// Add adds an object.
func (p *Program) Add(u *Unit) {
	if p.files == nil {
		p.index, p.files = make(map[programKey]*programFunction), make(map[string]*programFile)
	}
	n := u.Notes
	if !slices.Contains(p.versions, n.Version) {
		p.versions = append(p.versions, n.Version)
	}
	paths := make([]string, len(n.Sources))
	for i, name := range n.Sources {
		paths[i] = n.path(name)
	}
	misfits := make(map[int]bool)
	for _, i := range u.Misfits {
		f := &n.Functions[i]
		misfits[i] = true
		p.Misfits = append(p.Misfits, coverage.Misfit{
			Function: f.Name, Object: paths[f.Source], Hash: uint64(f.FlowChecksum),
			Cause: "the notes and the counts are of different builds",
		})
	}
	p.own = make(map[ownLine]ownCount)
	for r := range u.Results() {
		if !misfits[r.Index] {
			p.addFunction(r, paths)
		}
	}
	for at, l := range p.own {
		lines := p.file(at.file).lines
		lines[at.line], _ = saturate.AddSigned(lines[at.line], l.count)
	}
}

// path returns the path of a source: names are relative to the folder of the compiler.
func (n *Notes) path(name string) string {
	if !sourcepath.IsAbsolute(name) && sourcepath.IsAbsolute(n.Folder) {
		name = n.Folder + "/" + name
	}
	return path.Clean(name)
}

func (p *Program) file(name string) *programFile {
	f := p.files[name]
	if f == nil {
		f = &programFile{lines: make(map[uint32]int64), branches: make(map[branchKey][]int64)}
		p.files[name] = f
	}
	return f
}

func (p *Program) addFunction(r *Result, paths []string) {
	key := programKey{
		profile.Symbol{Name: r.Name, File: paths[r.Source], StartLine: int32(r.StartLine)}, r.StartColumn, r.FlowChecksum, r.Blocks,
	}
	f := p.index[key]
	if f == nil {
		f = &programFunction{programKey: key, blocks: make([]int64, r.Blocks)}
		p.index[key] = f
		p.functions = append(p.functions, f)
	}
	f.calls += r.Calls
	for b, n := range r.Counts {
		f.blocks[b] += n
	}
	p.BelowZero += r.BelowZero
	if r.Complex {
		p.Complex = append(p.Complex, r.Name)
	}
	for i := range r.Lines {
		l := &r.Lines[i]
		at := ownLine{paths[l.Source], l.Number, -1}
		if r.Shared && l.Source == r.Source && r.StartLine <= l.Number && l.Number <= r.EndLine {
			at.function = r.Index
		}
		switch old, ok := p.own[at]; {
		case !ok || l.HasBlocks && !old.hasBlocks:
			p.own[at] = ownCount{l.Count, l.HasBlocks}
		case old.hasBlocks == l.HasBlocks:
			old.count, _ = saturate.AddSigned(old.count, l.Count)
			p.own[at] = old
		}
		p.addBranches(r, l, at.file)
	}
}

// addBranches adds the branches of a line: the ways out of a block, if there are several beside calls that do not return.
func (p *Program) addBranches(r *Result, l *Line, file string) {
	nth := 0
	for ways := range l.branches() {
		key := branchKey{r.StartLine, r.StartColumn, l.Number, nth, len(ways)}
		nth++
		f := p.file(file)
		sum := f.branches[key]
		if sum == nil {
			sum = make([]int64, len(ways))
			f.branches[key] = sum
			f.order = append(f.order, key)
		}
		for i, b := range ways {
			sum[i], _ = saturate.AddSigned(sum[i], b.Count)
		}
	}
}

// branches yields the branches of the line, each as its ways. The next step overwrites the ways.
func (l *Line) branches() func(yield func(ways []Branch) bool) {
	return func(yield func([]Branch) bool) {
		var ways []Branch
		for i := range l.Branches {
			b := &l.Branches[i]
			if !b.Call && !b.Unconditional {
				ways = append(ways, *b)
			}
			if b.Last {
				if len(ways) > 0 && !yield(ways) {
					return
				}
				ways = ways[:0]
			}
		}
	}
}

// counted returns a count that is not below zero.
func counted(n int64) uint64 { return uint64(max(n, 0)) }

// Coverage returns the coverage of the sources.
func (p *Program) Coverage() *coverage.Coverage {
	c := &coverage.Coverage{HasLines: true, BelowZero: p.BelowZero, Misfits: p.Misfits}
	files := make(map[string]*coverage.File)
	file := func(path string) *coverage.File {
		f := files[path]
		if f == nil {
			f = &coverage.File{Path: path}
			files[path] = f
			c.Files = append(c.Files, f)
		}
		return f
	}
	for _, f := range p.functions {
		fn := coverage.Function{Symbol: f.symbol, Column: int32(f.column), Calls: counted(f.calls)}
		for _, n := range f.inner() {
			fn.Blocks.Count(n > 0)
		}
		of := file(f.symbol.File)
		of.Functions = append(of.Functions, fn)
	}
	for path, lines := range p.files {
		f := file(path)
		for number, n := range lines.lines {
			f.Lines = append(f.Lines, coverage.Line{Number: number, Count: counted(n)})
		}
		slices.SortFunc(f.Lines, func(a, b coverage.Line) int { return int(a.Number) - int(b.Number) })
		order := slices.Clone(lines.order)
		slices.SortStableFunc(order, func(a, b branchKey) int { return int(a.line) - int(b.line) })
		for _, key := range order {
			b := coverage.Branch{Line: key.line}
			for _, n := range lines.branches[key] {
				b.Ways = append(b.Ways, counted(n))
			}
			f.Branches = append(f.Branches, b)
		}
	}
	c.Finish()
	return c
}

// inner returns the counts of the blocks without the entry and the exit.
func (f *programFunction) inner() []int64 {
	if len(f.blocks) < 2 {
		return nil
	}
	return f.blocks[2:] // from GCC 4.8 on; before, the exit is the last block, and the same number of blocks is left
}
