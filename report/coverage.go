package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/profile"
)

const (
	// maxCoverageFiles bounds the files of the tree.
	maxCoverageFiles = 20_000
	// maxCoverageFunctions bounds the functions that are listed by file.
	maxCoverageFunctions = 100_000
	// maxCoverageLines bounds the lines that are listed by file.
	maxCoverageLines = 400_000
	// maxPathDepth bounds the folders of a path; what is below is one name.
	maxPathDepth = 40
)

// coverageData is what the page's script works on.
type coverageData struct {
	Blocks bool `json:"blocks"` // are known
	Lines  bool `json:"lines"`
	Counts bool `json:"counts"` // of calls; otherwise it is known whether functions ran
	// Rows of the tree: folders, and files below them.
	Label []int       `json:"label"` // numbers of names
	Depth []int       `json:"depth"`
	File  []int       `json:"file"` // number of the file; -1 of a folder
	Of    coverageSum `json:"of"`   // columns, by row of the tree
	// Files by number.
	Path      []int            `json:"path"` // numbers of names
	Functions coverageFuncs    `json:"functions"`
	LineOf    coverageLines    `json:"lineOf"`
	Sources   []coverageSource `json:"sources"`
}

// coverageSum has the totals of several things, in columns.
type coverageSum struct {
	Functions    []int `json:"functions"`
	FunctionsRan []int `json:"functionsRan"`
	Blocks       []int `json:"blocks"`
	BlocksRan    []int `json:"blocksRan"`
	Lines        []int `json:"lines"`
	LinesRan     []int `json:"linesRan"`
}

func (s *coverageSum) add(c covered) {
	s.Functions, s.FunctionsRan = append(s.Functions, c.functions), append(s.FunctionsRan, c.functionsRan)
	s.Blocks, s.BlocksRan = append(s.Blocks, c.blocks), append(s.BlocksRan, c.blocksRan)
	s.Lines, s.LinesRan = append(s.Lines, c.lines), append(s.LinesRan, c.linesRan)
}

// coverageFuncs are the functions by file and line, in columns.
type coverageFuncs struct {
	Start     []int    `json:"start"` // of each file's functions, and the end of the last
	Name      []int    `json:"name"`  // numbers of names
	Line      []int32  `json:"line"`
	Calls     []uint64 `json:"calls"` // at least 1 of those that ran
	Blocks    []int    `json:"blocks"`
	BlocksRan []int    `json:"blocksRan"`
}

// coverageLines are the lines of which something is known, by file.
type coverageLines struct {
	Start  []int    `json:"start"`
	Number []uint32 `json:"number"` // the difference from the one before in the file
	Count  []uint64 `json:"count"`
}

// covered says how much of something ran.
type covered struct {
	functions, functionsRan int
	blocks, blocksRan       int
	lines, linesRan         int
}

func (c *covered) add(o covered) {
	c.functions += o.functions
	c.functionsRan += o.functionsRan
	c.blocks += o.blocks
	c.blocksRan += o.blocksRan
	c.lines += o.lines
	c.linesRan += o.linesRan
}

// A coveredFile is a source file.
type coveredFile struct {
	path string
	covered
	functions []coveredFunction
	lines     []coveredLine
	source    *coverageSource // nil if it is not shown
}

type coveredFunction struct {
	symbol profile.Symbol
	calls  uint64
	covered
}

type coveredLine struct {
	number uint32
	count  uint64
}

// coverage is what ran, by source file.
type coverage struct {
	files    []*coveredFile // by path
	all      covered
	unplaced covered // of functions whose file is not known
	blocks   bool    // are known
	lines    bool
	// What there is too much of to show.
	filesOmitted     int
	functionsOmitted int
	linesOmitted     int
	embedding        embedding
}

// coveragePage shows what ran in the source files; nil if it is not known where
// functions are.
func coveragePage(src *source) (*page, error) {
	c := collectCoverage(src)
	if len(c.files) == 0 {
		return nil, nil
	}
	if err := c.embed(src.opt.SourceDirs); err != nil {
		return nil, err
	}
	tree := c.tree()
	body, err := execute("coverage", c.static(tree))
	if err != nil {
		return nil, err
	}
	return &page{id: "coverage", title: "Coverage", body: body, data: c.data(src, tree)}, nil
}

// collectCoverage finds the files of the functions that have a line.
func collectCoverage(src *source) *coverage {
	c := &coverage{blocks: src.features.Has(profile.HasBlocks)}
	byPath := make(map[string]*coveredFile)
	file := func(path string) *coveredFile {
		f := byPath[path]
		if f == nil {
			f = &coveredFile{path: path}
			byPath[path] = f
			c.files = append(c.files, f)
		}
		return f
	}
	for f := range src.view.Functions() {
		fn := coveredFunction{symbol: f.Symbol, calls: f.Calls}
		fn.functions = 1
		if c.blocks {
			fn.blocks, fn.blocksRan = len(f.Blocks), f.CoveredBlocks()
		}
		if f.Covered {
			fn.functionsRan, fn.calls = 1, max(fn.calls, 1)
		}
		if f.File == "" || f.StartLine <= 0 {
			c.unplaced.add(fn.covered)
			continue
		}
		to := file(f.File)
		to.functions = append(to.functions, fn)
		to.covered.add(fn.covered)
	}
	if v, ok := src.view.(profile.LineView); ok {
		c.lines = true
		for l := range v.Lines() {
			to := file(l.File)
			to.lines = append(to.lines, coveredLine{l.Number, l.Count})
			to.covered.lines++
			if l.Count > 0 {
				to.covered.linesRan++
			}
		}
	}
	for _, f := range c.files {
		c.all.add(f.covered)
		slices.SortStableFunc(f.functions, func(a, b coveredFunction) int {
			return cmp.Or(cmp.Compare(a.symbol.StartLine, b.symbol.StartLine), strings.Compare(a.symbol.Name, b.symbol.Name))
		})
	}
	if !c.lines {
		c.functionLines()
	}
	c.limit()
	slices.SortFunc(c.files, func(a, b *coveredFile) int { return strings.Compare(a.path, b.path) })
	return c
}

// functionLines marks the lines where functions begin, for want of others. They
// are not counted as lines.
func (c *coverage) functionLines() {
	for _, f := range c.files {
		for i := range f.functions {
			fn := &f.functions[i]
			number := uint32(fn.symbol.StartLine)
			if n := len(f.lines); n > 0 && f.lines[n-1].number == number {
				f.lines[n-1].count = max(f.lines[n-1].count, fn.calls)
				continue
			}
			f.lines = append(f.lines, coveredLine{number, fn.calls})
		}
	}
}

// limit leaves out what is too much, from the files in which least ran.
func (c *coverage) limit() {
	slices.SortStableFunc(c.files, mostRanFirst)
	if n := len(c.files) - maxCoverageFiles; n > 0 {
		c.filesOmitted, c.files = n, c.files[:maxCoverageFiles]
	}
	functions, lines := 0, 0
	for _, f := range c.files {
		if functions += len(f.functions); functions > maxCoverageFunctions {
			c.functionsOmitted += len(f.functions)
			functions -= len(f.functions)
			f.functions = nil
		}
		if lines += len(f.lines); lines > maxCoverageLines {
			c.linesOmitted += len(f.lines)
			lines -= len(f.lines)
			f.lines = nil
		}
	}
}

// mostRanFirst orders files by what ran in them.
func mostRanFirst(a, b *coveredFile) int {
	return cmp.Or(
		cmp.Compare(b.functionsRan, a.functionsRan), cmp.Compare(b.linesRan, a.linesRan),
		cmp.Compare(b.covered.functions, a.covered.functions), strings.Compare(a.path, b.path),
	)
}

// data lays everything out in columns.
func (c *coverage) data(src *source, tree []treeRow) *coverageData {
	has := src.features.Has
	d := &coverageData{
		Blocks: c.blocks, Lines: c.lines, Counts: has(profile.HasCalls) && !has(profile.CallsAreCoverage),
		Sources: []coverageSource{},
	}
	for _, r := range tree {
		d.Label = append(d.Label, src.names.add(r.label))
		d.Depth = append(d.Depth, r.depth)
		d.File = append(d.File, r.file)
		d.Of.add(r.covered)
	}
	for i, f := range c.files {
		d.Path = append(d.Path, src.names.add(f.path))
		d.Functions.Start = append(d.Functions.Start, len(d.Functions.Name))
		for j := range f.functions {
			fn := &f.functions[j]
			d.Functions.Name = append(d.Functions.Name, src.names.add(src.symbolName(&fn.symbol)))
			d.Functions.Line = append(d.Functions.Line, fn.symbol.StartLine)
			d.Functions.Calls = append(d.Functions.Calls, fn.calls)
			d.Functions.Blocks = append(d.Functions.Blocks, fn.blocks)
			d.Functions.BlocksRan = append(d.Functions.BlocksRan, fn.blocksRan)
		}
		d.LineOf.Start = append(d.LineOf.Start, len(d.LineOf.Number))
		last := uint32(0)
		for _, l := range f.lines {
			d.LineOf.Number = append(d.LineOf.Number, l.number-last)
			d.LineOf.Count = append(d.LineOf.Count, l.count)
			last = l.number
		}
		if f.source != nil {
			f.source.File = i
			d.Sources = append(d.Sources, *f.source)
		}
	}
	d.Functions.Start = append(d.Functions.Start, len(d.Functions.Name))
	d.LineOf.Start = append(d.LineOf.Start, len(d.LineOf.Number))
	return d
}
