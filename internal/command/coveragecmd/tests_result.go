package coveragecmd

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/docs/schema"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// A testsResult is what "profuse coverage tests" prints.
type testsResult struct {
	tests []testShare    // without selected lines: all tests, in the order of the inputs
	total coverage.Ratio // of all lines

	chosen  bool           // lines were selected
	ran     coverage.Ratio // of the selected lines with code
	files   []selectedFile
	noCode  int      // selected lines
	unknown []string // files of selected lines
}

// A selectedFile is the selected lines of a file that have code, with their tests.
type selectedFile struct {
	path  string
	lines []testedLine
}

// testedLine is a line with the tests that ran it.
type testedLine struct {
	number uint32
	tests  []int // in testMatrix.names
}

// newTestsResult computes what is to be printed about the selected lines, or about all if
// selected is nil. Tests that run selected lines come in the order of their number.
func newTestsResult(m *testMatrix, selected []selectedLines) *testsResult {
	r := &testsResult{chosen: selected != nil}
	all, total := m.shares()
	r.tests, r.total = all, total
	if !r.chosen {
		return r
	}
	r.tests = nil
	paths := m.paths()
	lines := make(map[string][]uint32) // of each path
	for _, s := range selected {
		at := findSource(paths, s.path)
		if at < 0 {
			if name := strings.TrimPrefix(s.path, "b/"); !slices.Contains(r.unknown, name) {
				r.unknown = append(r.unknown, name)
			}
			continue
		}
		lines[paths[at]] = append(lines[paths[at]], s.lines...)
	}
	counts := make([]testShare, len(m.names))
	// In the order of the paths, so that the output does not depend on that of the options.
	for _, path := range paths {
		of := lines[path]
		if len(of) == 0 {
			continue
		}
		// Ranges of --line may overlap, and a patch may name a file twice.
		slices.Sort(of)
		file := selectedFile{path: path}
		for _, n := range slices.Compact(of) {
			tests, known := m.files[path].testsOf(n)
			if !known {
				r.noCode++
				continue
			}
			r.ran.Count(len(tests) > 0)
			file.lines = append(file.lines, testedLine{n, tests})
			for _, t := range tests {
				counts[t].lines++
				// "alone" is about the selected lines then, not about all.
				if len(tests) == 1 {
					counts[t].alone++
				}
			}
		}
		r.files = append(r.files, file)
	}
	for t := range counts {
		if counts[t].lines > 0 {
			counts[t].name = m.names[t]
			r.tests = append(r.tests, counts[t])
		}
	}
	slices.SortStableFunc(r.tests, func(a, b testShare) int { return cmp.Compare(b.lines, a.lines) })
	return r
}

// print prints a table of the tests, and the selected lines that none runs.
func (r *testsResult) print(p *console.Printer) {
	rows := make([][]string, 0, len(r.tests)+1)
	for _, t := range r.tests {
		name := t.name
		if name == "" {
			// A section of a tracefile whose TN is empty.
			name = "(without a name)"
		}
		rows = append(rows, []string{cli.Count(uint64(t.lines)), cli.Count(uint64(t.alone)), console.Printable(name)})
	}
	ran, what := r.total, "lines"
	if r.chosen {
		ran, what = r.ran, "selected lines"
	}
	if len(rows) > 0 {
		p.Table([]string{"lines", "alone", "test"}, rows)
	}
	fmt.Fprintf(p.W, "\n%s of %s %s ran (%s)", cli.Count(uint64(ran.Covered)), cli.Count(uint64(ran.Total)), what, percent(ran))
	if r.chosen {
		fmt.Fprintf(p.W, "; %s without code", cli.Quantity(uint64(r.noCode), "line", "lines"))
	}
	fmt.Fprintln(p.W)
	for i := range r.files {
		if lines := r.files[i].notRun(); len(lines) > 0 {
			p.Item(fmt.Sprintf("%s: no test runs %s", console.Printable(r.files[i].path), lineRanges(lines)))
		}
	}
	for _, path := range r.unknown {
		p.Item(console.Printable(path) + ": not in the coverage, or several files there have this name")
	}
}

// notRun returns the lines that no test runs.
func (f *selectedFile) notRun() (lines []uint32) {
	for _, l := range f.lines {
		if len(l.tests) == 0 {
			lines = append(lines, l.number)
		}
	}
	return lines
}

// testsJSON is what "profuse coverage tests --json" prints.
// docs/schema/coverage-tests.schema.json describes it.
type testsJSON struct {
	schema.Head
	// Total is of all lines, also if some are selected.
	Total    ratioJSON       `json:"total"`
	Tests    []testShareJSON `json:"tests"`
	Selected *selectedJSON   `json:"selected,omitempty"`
}

// testShareJSON is a test, with the lines that it runs and those that it alone runs; of the
// selected lines if there are any.
type testShareJSON struct {
	Test  string `json:"test"`
	Lines int    `json:"lines"`
	Alone int    `json:"alone"`
}

// selectedJSON is what ran of the lines that --line and --changed select. Unknown are files that
// the coverage does not have.
type selectedJSON struct {
	ratioJSON
	WithoutCode int                `json:"without_code"`
	Files       []selectedFileJSON `json:"files"`
	Unknown     []string           `json:"unknown"`
}

// selectedFileJSON is the selected lines of one file that have code.
type selectedFileJSON struct {
	Path  string           `json:"path"`
	Lines []testedLineJSON `json:"lines"`
}

// testedLineJSON is a line with the names of the tests that ran it, in the order of the inputs.
type testedLineJSON struct {
	Line  uint32   `json:"line"`
	Tests []string `json:"tests"`
}

// writeJSON writes the result; names are those of all tests, by number.
func (r *testsResult) writeJSON(w io.Writer, names []string) {
	out := testsJSON{Head: schema.For("coverage-tests"), Total: ratioJSON(r.total), Tests: []testShareJSON{}}
	for _, t := range r.tests {
		out.Tests = append(out.Tests, testShareJSON{t.name, t.lines, t.alone})
	}
	if r.chosen {
		s := &selectedJSON{ratioJSON(r.ran), r.noCode, []selectedFileJSON{}, append([]string{}, r.unknown...)}
		for _, f := range r.files {
			file := selectedFileJSON{f.path, []testedLineJSON{}}
			for _, l := range f.lines {
				line := testedLineJSON{l.number, []string{}}
				for _, t := range l.tests {
					line.Tests = append(line.Tests, names[t])
				}
				file.Lines = append(file.Lines, line)
			}
			s.Files = append(s.Files, file)
		}
		out.Selected = s
	}
	console.WriteJSON(w, out, "")
}
