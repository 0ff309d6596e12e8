package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/coverage"
	"github.com/profuse-pgo/profuse/profile"
)

const (
	// maxCoverageFiles bounds the files of the tree.
	maxCoverageFiles = 20_000
	// maxCoverageFunctions bounds the functions that are listed by file.
	maxCoverageFunctions = 100_000
	// maxCoverageLines bounds the lines that are listed by file.
	maxCoverageLines = 400_000
)

// coverageData is the data of the page's script.
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

func (s *coverageSum) add(sum coverage.Summary) {
	for _, column := range []struct {
		all, ran *[]int
		coverage.Ratio
	}{
		{&s.Functions, &s.FunctionsRan, sum.Functions},
		{&s.Blocks, &s.BlocksRan, sum.Blocks},
		{&s.Lines, &s.LinesRan, sum.Lines},
	} {
		*column.all, *column.ran = append(*column.all, column.Total), append(*column.ran, column.Covered)
	}
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

// coverageLines are the lines with a count, by file.
type coverageLines struct {
	Start  []int    `json:"start"`
	Number []uint32 `json:"number"` // the difference from the one before in the file
	Count  []uint64 `json:"count"`
}

// A coveredFile is a source file.
type coveredFile struct {
	*coverage.File
	source *coverageSource // nil if it is not shown
}

// pageCoverage is the coverage that the page shows.
type pageCoverage struct {
	*coverage.Coverage
	files     []*coveredFile // by path
	HasBlocks bool
	// What is left out because there is too much of it.
	FilesOmitted, FunctionsOmitted, LinesOmitted int
	Embedding                                    embedding
}

// coveragePage shows what ran of the source files; nil if the places of functions are
// unknown.
func coveragePage(src *source) (*page, error) {
	c := collectCoverage(src)
	if len(c.files) == 0 {
		return nil, nil
	}
	if err := c.embed(src.opt.SourceDirs); err != nil {
		return nil, err
	}
	shown := make([]*coverage.File, len(c.files))
	for i, f := range c.files {
		shown[i] = f.File
	}
	tree := coverage.Tree(shown)
	return newPage("coverage", "Coverage", c.static(tree), c.data(src, tree))
}

// collectCoverage collects the files of the functions with a line, within the limits of
// the page.
func collectCoverage(src *source) *pageCoverage {
	c := &pageCoverage{Coverage: coverage.Collect(src.view, coverage.Options{}), HasBlocks: src.features.Has(profile.HasBlocks)}
	for _, f := range c.Files {
		if !c.HasLines {
			f.Lines = functionLines(f.Functions)
		}
		c.files = append(c.files, &coveredFile{File: f})
	}
	c.limit()
	slices.SortFunc(c.files, func(a, b *coveredFile) int { return strings.Compare(a.Path, b.Path) })
	return c
}

// functionLines returns the lines where functions begin, for a profile that knows no
// others. The totals do not count them as lines.
func functionLines(functions []coverage.Function) (lines []coverage.Line) {
	for i := range functions {
		f := &functions[i]
		number := uint32(f.StartLine)
		if n := len(lines); n > 0 && lines[n-1].Number == number {
			lines[n-1].Count = max(lines[n-1].Count, f.Calls)
			continue
		}
		lines = append(lines, coverage.Line{Number: number, Count: f.Calls})
	}
	return lines
}

// limit enforces the limits of the page. It omits the files in which least ran.
func (c *pageCoverage) limit() {
	slices.SortStableFunc(c.files, mostRanFirst)
	if n := len(c.files) - maxCoverageFiles; n > 0 {
		c.FilesOmitted, c.files = n, c.files[:maxCoverageFiles]
	}
	functions, lines := 0, 0
	for _, f := range c.files {
		if functions += len(f.Functions); functions > maxCoverageFunctions {
			c.FunctionsOmitted += len(f.Functions)
			functions -= len(f.Functions)
			f.Functions = nil
		}
		if lines += len(f.Lines); lines > maxCoverageLines {
			c.LinesOmitted += len(f.Lines)
			lines -= len(f.Lines)
			f.Lines = nil
		}
	}
}

// mostRanFirst orders files by how much ran in them.
func mostRanFirst(a, b *coveredFile) int {
	return cmp.Or(
		cmp.Compare(b.Total.Functions.Covered, a.Total.Functions.Covered), cmp.Compare(b.Total.Lines.Covered, a.Total.Lines.Covered),
		cmp.Compare(b.Total.Functions.Total, a.Total.Functions.Total), strings.Compare(a.Path, b.Path),
	)
}

// data lays everything out in columns.
func (c *pageCoverage) data(src *source, tree []coverage.Row) *coverageData {
	has := src.features.Has
	d := &coverageData{
		Blocks: c.HasBlocks, Lines: c.HasLines, Counts: has(profile.HasCalls) && !has(profile.CallsAreCoverage),
		Sources: []coverageSource{},
	}
	for _, r := range tree {
		d.Label = append(d.Label, src.names.add(r.Label))
		d.Depth = append(d.Depth, r.Depth)
		d.File = append(d.File, r.File)
		d.Of.add(r.Total)
	}
	for i, f := range c.files {
		d.Path = append(d.Path, src.names.add(f.Path))
		d.Functions.Start = append(d.Functions.Start, len(d.Functions.Name))
		for j := range f.Functions {
			fn := &f.Functions[j]
			d.Functions.Name = append(d.Functions.Name, src.names.add(src.symbolName(&fn.Symbol)))
			d.Functions.Line = append(d.Functions.Line, fn.StartLine)
			d.Functions.Calls = append(d.Functions.Calls, fn.Calls)
			d.Functions.Blocks = append(d.Functions.Blocks, fn.Blocks.Total)
			d.Functions.BlocksRan = append(d.Functions.BlocksRan, fn.Blocks.Covered)
		}
		d.LineOf.Start = append(d.LineOf.Start, len(d.LineOf.Number))
		last := uint32(0)
		for _, l := range f.Lines {
			d.LineOf.Number = append(d.LineOf.Number, l.Number-last)
			d.LineOf.Count = append(d.LineOf.Count, l.Count)
			last = l.Number
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
