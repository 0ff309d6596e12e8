package report

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/profile/coverage"
)

// partSize is about how many bytes of JSON the files of one part have. A browser reads a part when the
// user opens one of its files.
const partSize = 128 << 10

func (f *coveredFile) size() int {
	n := 6*len(f.Lines) + 12*len(f.Regions) + 16*len(f.Branches) + 100*len(f.Decisions) + 100*len(f.Expansions) + 40
	if f.source != nil {
		n += len(f.source.Text)
	}
	for i := range f.Functions {
		if p := f.Functions[i].Part; p != nil {
			n += 6*len(p.Lines) + 12*len(p.Regions) + 16*len(p.Branches)
		}
	}
	return n
}

// fileData is the coverage inside a file.
type fileData struct {
	partData
	Source    *coverageSource `json:"source,omitempty"`
	Changed   []uint32        `json:"changed"`
	Instances []instanceData  `json:"instances"`
}

// partData is the coverage of the lines of a file, or of some of its lines. Line numbers are differences
// from the entry before.
type partData struct {
	Line  []uint32 `json:"line"`
	Count []uint64 `json:"count"`
	// Spans: the count of the text from a line and column on; -1 outside of regions.
	SpanLine   []uint32        `json:"spanLine"`
	SpanColumn []uint32        `json:"spanColumn"`
	SpanCount  []int64         `json:"spanCount"`
	Branches   []branchData    `json:"branches"`
	Decisions  []decisionData  `json:"decisions"`
	Expansions []expansionData `json:"expansions"`
}

type branchData struct {
	At    [2]uint32 `json:"at"` // line and column, 0 if that is unknown
	Ways  []uint64  `json:"ways"`
	Names []string  `json:"names,omitempty"`
	Bool  bool      `json:"bool,omitempty"` // the names are True and False
}

// A decisionData is the MC/DC of a boolean expression, with the vectors of values that the program evaluated.
type decisionData struct {
	At       [2]uint32       `json:"at"`
	All      int             `json:"all"`
	Ran      int             `json:"ran"`
	Operands []conditionData `json:"operands"`
	Vectors  []string        `json:"vectors"`
}

// A conditionData is an operand of a decision. Have and Wanted are the vector that the program evaluated
// and the vector that is missing to show that the operand decides.
type conditionData struct {
	At       [2]uint32 `json:"at"`
	Constant bool      `json:"constant,omitempty"`
	Covered  bool      `json:"covered,omitempty"`
	Have     string    `json:"have,omitempty"`
	Wanted   string    `json:"wanted,omitempty"`
}

// An expansionData is the use of a macro in the file, with the coverage of the macro's text.
type expansionData struct {
	At   [4]uint32 `json:"at"`   // line and column of the start and the end
	File int       `json:"file"` // number of the macro's file; -1 if it is not on the page
	Path string    `json:"path,omitempty"`
	Of   *partData `json:"of"`
}

type instanceData struct {
	Function int       `json:"function"` // number among those of the file
	Of       *partData `json:"of"`
}

// parts returns a function for each part, which makes its data. starts has the number of each part's first file.
func (c *pageCoverage) parts(starts []int) (parts []func() any) {
	number := make(map[string]int, len(c.files))
	for i, f := range c.files {
		number[f.Path] = i
	}
	for i, start := range starts {
		end := len(c.files)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		parts = append(parts, func() any {
			files := make([]*fileData, 0, end-start)
			for _, f := range c.files[start:end] {
				files = append(files, f.data(number))
			}
			return files
		})
	}
	return parts
}

// data lays out the coverage inside the file. number has the numbers of files by path.
func (f *coveredFile) data(number map[string]int) *fileData {
	d := &fileData{partData: *newPartData(&f.File, number), Source: f.source, Changed: []uint32{}, Instances: []instanceData{}}
	for i, n := range f.changed {
		if i > 0 {
			n -= f.changed[i-1]
		}
		d.Changed = append(d.Changed, n)
	}
	for i := range f.Functions {
		if p := f.Functions[i].Part; p != nil && len(f.Lines) > 0 {
			d.Instances = append(d.Instances, instanceData{i, newPartData(p, number)})
		}
	}
	return d
}

// newPartData lays out a file or a part of one. Columns are empty, not null, in JSON.
func newPartData(f *coverage.File, number map[string]int) *partData {
	d := &partData{
		Line: []uint32{}, Count: []uint64{}, SpanLine: []uint32{}, SpanColumn: []uint32{}, SpanCount: []int64{},
		Branches: []branchData{}, Decisions: []decisionData{}, Expansions: []expansionData{},
	}
	last := uint32(0)
	for _, l := range f.Lines {
		d.Line, d.Count = append(d.Line, l.Number-last), append(d.Count, l.Count)
		last = l.Number
	}
	last = 0
	for _, s := range spansOf(f.Regions) {
		d.SpanLine, d.SpanColumn, d.SpanCount = append(d.SpanLine, s.line-last), append(d.SpanColumn, s.column), append(d.SpanCount, s.count)
		last = s.line
	}
	for i := range f.Branches {
		b := &f.Branches[i]
		d.Branches = append(d.Branches, newBranchData(b))
	}
	for i := range f.Decisions {
		m := &f.Decisions[i]
		own := decisionData{
			At: [2]uint32{m.Line, m.Column}, All: m.Conditions.Total, Ran: m.Conditions.Covered,
			Operands: []conditionData{}, Vectors: append([]string{}, m.Vectors...),
		}
		for _, c := range m.Operands {
			own.Operands = append(own.Operands, conditionData{[2]uint32{c.Line, c.Column}, c.Constant, c.Covered, c.Have, c.Wanted})
		}
		d.Decisions = append(d.Decisions, own)
	}
	for i := range f.Expansions {
		x := &f.Expansions[i]
		own := expansionData{At: [4]uint32{x.Line, x.Column, x.EndLine, x.EndColumn}, File: -1, Of: newPartData(x.Of, number)}
		if n, ok := number[x.Of.Path]; ok {
			own.File = n
		} else {
			own.Path = clean(x.Of.Path)
		}
		d.Expansions = append(d.Expansions, own)
	}
	return d
}

// newBranchData lays out a branch. The common names True and False are left to the script.
func newBranchData(b *coverage.Branch) branchData {
	d := branchData{At: [2]uint32{b.Line, b.Column}, Ways: b.Ways}
	d.Bool = slices.Equal(b.Names, []string{"True", "False"})
	if d.Bool {
		return d
	}
	for _, name := range b.Names {
		d.Names = append(d.Names, clean(name))
	}
	return d
}

// A countSpan begins at a line and column; the count is -1 outside of regions.
type countSpan struct {
	line, column uint32
	count        int64
}

// spansOf divides a file into spans, each with the count of the innermost region around it. Counts stop at 2^63-1.
func spansOf(regions []coverage.Region) (spans []countSpan) {
	regions = slices.Clone(regions)
	// Outer regions come before inner regions with the same start.
	slices.SortStableFunc(regions, func(a, b coverage.Region) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(b.EndLine, a.EndLine), cmp.Compare(b.EndColumn, a.EndColumn))
	})
	var open []*coverage.Region
	begin := func(line, column uint32, count int64) {
		if n := len(spans); n > 0 {
			switch before := &spans[n-1]; cmp.Or(cmp.Compare(line, before.line), cmp.Compare(column, before.column)) {
			case -1:
				return // an outer region ended before an inner one
			case 0:
				spans = spans[:n-1]
			}
		}
		if n := len(spans); n == 0 || spans[n-1].count != count {
			spans = append(spans, countSpan{line, column, count})
		}
	}
	current := func() int64 {
		if len(open) == 0 {
			return -1
		}
		return int64(min(open[len(open)-1].Count, 1<<63-1))
	}
	end := func(line, column uint32) {
		for len(open) > 0 {
			r := open[len(open)-1]
			if cmp.Or(cmp.Compare(r.EndLine, line), cmp.Compare(r.EndColumn, column)) > 0 {
				break
			}
			open = open[:len(open)-1]
			begin(r.EndLine, r.EndColumn, current())
		}
	}
	for i := range regions {
		r := &regions[i]
		end(r.Line, r.Column)
		open = append(open, r)
		begin(r.Line, r.Column, current())
	}
	end(^uint32(0), ^uint32(0))
	return spans
}
