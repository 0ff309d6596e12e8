package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/profile/coverage"
)

type coverageLimits struct{ files, functions, lines int }

// maxCoverage has the limits of Write; tests have smaller ones.
var maxCoverage = coverageLimits{files: 20_000, functions: 250_000, lines: 4_000_000}

// A CoverageChange says what to compare the coverage with. The keys of its maps are paths of files.
type CoverageChange struct {
	// Before has the numbers of the files in a baseline, nil without a baseline. Total is their sum.
	Before  map[string]coverage.Summary
	Total   coverage.Summary
	Stopped map[string][]string // names functions that ran in the baseline and no longer run
	Lines   map[string][]uint32 // the lines that a patch adds, ascending; nil without a patch
}

// coverageData is the data of the page's script. The contents of files are in parts.
type coverageData struct {
	Kinds  []coverageKind `json:"kinds"`  // in the order of the columns
	Lines  bool           `json:"lines"`  // are known
	Blocks bool           `json:"blocks"` // of functions
	Counts bool           `json:"counts"` // of calls; otherwise it is known whether functions ran
	// Rows of the tree: folders, and files below them.
	Label []int `json:"label"` // numbers of names
	Depth []int `json:"depth"`
	File  []int `json:"file"` // number of the file; -1 of a folder
	// Files by number.
	Path      []int         `json:"path"`  // numbers of names
	Parts     []int         `json:"parts"` // number of the first file of each part
	Functions coverageFuncs `json:"functions"`
}

// A coverageKind is a kind of parts of the sources, with its numbers by row of the tree
// and, at the end, of the whole.
type coverageKind struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	All   []int  `json:"all"`
	Ran   []int  `json:"ran"`
	// The same of the baseline; empty without one.
	WasAll []int `json:"wasAll"`
	WasRan []int `json:"wasRan"`

	of func(*coverage.Summary) coverage.Ratio
}

const changedKind = "changed"

// kinds returns the kinds that the coverage has, in the order of the columns.
func (c *pageCoverage) kinds() (some []coverageKind) {
	all := []coverageKind{
		{ID: "lines", Title: "Lines", of: func(s *coverage.Summary) coverage.Ratio { return s.Lines }},
		{ID: "functions", Title: "Functions", of: func(s *coverage.Summary) coverage.Ratio { return s.Functions }},
		{ID: "blocks", Title: "Blocks", of: func(s *coverage.Summary) coverage.Ratio { return s.Blocks }},
		{ID: "regions", Title: "Regions", of: func(s *coverage.Summary) coverage.Ratio { return s.Regions }},
		{ID: "branches", Title: "Branches", of: func(s *coverage.Summary) coverage.Ratio { return s.Branches }},
		{ID: "mcdc", Title: "MC/DC", of: func(s *coverage.Summary) coverage.Ratio { return s.MCDC }},
	}
	for _, k := range all {
		if k.of(&c.Total).Total > 0 || k.ID == "functions" {
			k.WasAll, k.WasRan = []int{}, []int{}
			some = append(some, k)
		}
	}
	return some
}

func (k *coverageKind) addRow(now, was *coverage.Summary) {
	r := k.of(now)
	k.All, k.Ran = append(k.All, r.Total), append(k.Ran, r.Covered)
	if was != nil {
		r := k.of(was)
		k.WasAll, k.WasRan = append(k.WasAll, r.Total), append(k.WasRan, r.Covered)
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
	Stopped   []int    `json:"stopped"` // numbers of functions that ran in the baseline and no longer run
}

type coveredFile struct {
	coverage.File
	source  *coverageSource // nil if it is not shown
	changed []uint32        // lines that a patch adds
}

type pageCoverage struct {
	*coverage.Coverage
	change    *CoverageChange // never nil
	files     []*coveredFile  // by path
	textLimit int             // bytes of all source files
	// The numbers of what is left out by coverageLimits.
	FilesOmitted, FunctionsOmitted, LinesOmitted int
	Embedding                                    embedding
}

// coveragePage shows what ran in the source files; nil if the source lines of all functions are unknown.
func coveragePage(src *source) (*page, error) {
	c := collectCoverage(src, maxCoverage)
	if len(c.files) == 0 {
		return nil, nil
	}
	if err := c.embed(&src.opt); err != nil {
		return nil, err
	}
	shown := make([]*coverage.File, len(c.files))
	for i, f := range c.files {
		shown[i] = &f.File
	}
	tree := coverage.Tree(shown)
	data := c.data(src, tree)
	p, err := newPage("coverage", "Coverage", c.static(src, tree, data.Kinds), data)
	if err == nil {
		p.parts = c.parts(data.Parts)
	}
	return p, err
}

// collectCoverage collects the files of the functions with a line, within limits.
func collectCoverage(src *source, most coverageLimits) *pageCoverage {
	c := &pageCoverage{Coverage: src.coverage, change: src.change, textLimit: maxSourceBytes}
	if c.Coverage == nil {
		c.Coverage = coverage.Collect(src.view, nil)
	}
	if c.change == nil {
		c.change = new(CoverageChange)
	}
	for _, f := range c.Files {
		own := &coveredFile{File: *f, changed: c.change.Lines[f.Path]}
		if !c.HasLines {
			own.Lines = functionLines(f.Functions)
		}
		c.files = append(c.files, own)
	}
	c.limit(most)
	slices.SortFunc(c.files, func(a, b *coveredFile) int { return strings.Compare(a.Path, b.Path) })
	return c
}

// functionLines returns the lines on which functions begin, for a profile that knows no other lines. The
// totals do not count them.
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

// limit enforces limits. It omits the files in which least ran.
func (c *pageCoverage) limit(most coverageLimits) {
	slices.SortStableFunc(c.files, mostRanFirst)
	if n := len(c.files) - most.files; n > 0 {
		c.FilesOmitted, c.files = n, c.files[:most.files]
	}
	functions, lines := 0, 0
	for _, f := range c.files {
		functions += len(f.Functions)
		if functions > most.functions {
			c.FunctionsOmitted += len(f.Functions)
			functions -= len(f.Functions)
			f.Functions = nil
		}
		lines += len(f.Lines)
		if lines > most.lines {
			c.LinesOmitted += len(f.Lines)
			lines -= len(f.Lines)
			f.Lines, f.Regions, f.Branches, f.Decisions, f.Expansions = nil, nil, nil, nil, nil
		}
	}
}

func mostRanFirst(a, b *coveredFile) int {
	return cmp.Or(
		cmp.Compare(b.Total.Functions.Covered, a.Total.Functions.Covered), cmp.Compare(b.Total.Lines.Covered, a.Total.Lines.Covered),
		cmp.Compare(b.Total.Functions.Total, a.Total.Functions.Total), strings.Compare(a.Path, b.Path),
	)
}

func (c *pageCoverage) data(src *source, tree []coverage.Row) *coverageData {
	counts := true
	if src.view != nil {
		counts = src.features.Calls && !src.features.CallsAreCoverage
	}
	d := &coverageData{Kinds: c.kinds(), Lines: c.HasLines, Blocks: c.Total.Blocks.Total > 0, Counts: counts, Parts: []int{}}
	for _, r := range tree {
		d.Label = append(d.Label, src.names.add(r.Label))
		d.Depth = append(d.Depth, r.Depth)
		d.File = append(d.File, r.File)
	}
	c.addKinds(d, tree)
	d.Functions.Blocks, d.Functions.BlocksRan, d.Functions.Stopped = []int{}, []int{}, []int{}
	for _, f := range c.files {
		d.Path = append(d.Path, src.names.add(f.Path))
		d.Functions.Start = append(d.Functions.Start, len(d.Functions.Name))
		stopped := c.change.Stopped[f.Path]
		for j := range f.Functions {
			fn := &f.Functions[j]
			if fn.Calls == 0 && slices.Contains(stopped, fn.String()+fn.Signature) {
				d.Functions.Stopped = append(d.Functions.Stopped, len(d.Functions.Name))
			}
			d.Functions.Name = append(d.Functions.Name, src.names.add(src.symbolName(&fn.Symbol)))
			d.Functions.Line = append(d.Functions.Line, fn.StartLine)
			d.Functions.Calls = append(d.Functions.Calls, fn.Calls)
			if d.Blocks {
				d.Functions.Blocks = append(d.Functions.Blocks, fn.Blocks.Total)
				d.Functions.BlocksRan = append(d.Functions.BlocksRan, fn.Blocks.Covered)
			}
		}
	}
	d.Functions.Start = append(d.Functions.Start, len(d.Functions.Name))
	// The first file begins a part.
	size := partSize
	for i, f := range c.files {
		if size >= partSize {
			d.Parts, size = append(d.Parts, i), 0
		}
		size += f.size()
	}
	return d
}

// addKinds adds the numbers of all kinds, and of the lines that a patch adds.
func (c *pageCoverage) addKinds(d *coverageData, tree []coverage.Row) {
	changed := coverageKind{ID: changedKind, Title: "Changed lines", WasAll: []int{}, WasRan: []int{}}
	ratios := make([]coverage.Ratio, len(c.files))
	for i, f := range c.files {
		ratios[i] = f.changedLines()
	}
	baseline := c.change.Before != nil
	add := func(now coverage.Summary, files []coverage.Row, total *coverage.Summary) {
		var was *coverage.Summary
		if baseline {
			was = new(coverage.Summary)
		}
		var lines coverage.Ratio
		for _, r := range files {
			if r.File < 0 {
				continue
			}
			if was != nil {
				was.Add(c.change.Before[c.files[r.File].Path])
			}
			lines.Total += ratios[r.File].Total
			lines.Covered += ratios[r.File].Covered
		}
		if total != nil && was != nil {
			was = total
		}
		for k := range d.Kinds {
			d.Kinds[k].addRow(&now, was)
		}
		changed.All, changed.Ran = append(changed.All, lines.Total), append(changed.Ran, lines.Covered)
	}
	for i, r := range tree {
		// The rows up to end are below this one: a folder has the numbers of all its files.
		end := i + 1
		for end < len(tree) && tree[end].Depth > r.Depth {
			end++
		}
		add(r.Total, tree[i:end], nil)
	}
	add(c.Total, tree, &c.change.Total)
	if c.change.Lines != nil {
		d.Kinds = append([]coverageKind{changed}, d.Kinds...)
	}
}

func (f *coveredFile) changedLines() (r coverage.Ratio) {
	for _, n := range f.changed {
		if i, ok := slices.BinarySearchFunc(f.Lines, n, func(l coverage.Line, n uint32) int { return cmp.Compare(l.Number, n) }); ok {
			r.Count(f.Lines[i].Count > 0)
		}
	}
	return r
}
