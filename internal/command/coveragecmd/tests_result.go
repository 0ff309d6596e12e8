package coveragecmd

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/docs/schema"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// A testsResult is what "profuse coverage tests" prints.
type testsResult struct {
	tests []testShare    // of the selected lines, or else of all lines
	total coverage.Ratio // of all lines

	chosen  bool           // lines were selected
	ran     coverage.Ratio // of the selected lines with code
	files   []selectedFile
	noCode  int      // selected lines without code
	unknown []string // files of selected lines that are not in the coverage
}

// A selectedFile is a file with its selected lines that have code.
type selectedFile struct {
	path  string
	lines []testedLine
}

type testedLine struct {
	number uint32
	tests  []int // in testMatrix.names
}

// newTestsResult returns the result for the selected lines, or for all lines if selected is nil. The tests
// of selected lines begin with the test that runs most of them; all tests stay in the order of the inputs.
func newTestsResult(m *testMatrix, selected []selection) *testsResult {
	r := &testsResult{chosen: selected != nil}
	r.tests, r.total = m.shares()
	if !r.chosen {
		return r
	}
	r.tests = nil
	paths := m.paths()
	lines := make(map[string][]uint32) // by path
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
	for _, path := range slices.Sorted(maps.Keys(lines)) {
		// Ranges of --line may overlap, and a patch may name a file twice.
		slices.Sort(lines[path])
		file := selectedFile{path: path}
		for _, n := range slices.Compact(lines[path]) {
			tests, known := m.files[path].testsOf(n)
			if !known {
				r.noCode++
				continue
			}
			r.ran.Count(len(tests) > 0)
			file.lines = append(file.lines, testedLine{n, tests})
			for _, t := range tests {
				counts[t].Lines++
				if len(tests) == 1 {
					counts[t].Alone++
				}
			}
		}
		r.files = append(r.files, file)
	}
	for t := range counts {
		if counts[t].Lines > 0 {
			counts[t].Name = m.names[t]
			r.tests = append(r.tests, counts[t])
		}
	}
	slices.SortStableFunc(r.tests, func(a, b testShare) int { return cmp.Compare(b.Lines, a.Lines) })
	return r
}

// print prints a table of the tests, and the selected lines that none runs.
func (r *testsResult) print(p *console.Printer) {
	rows := make([][]string, 0, len(r.tests)+1)
	for _, t := range r.tests {
		name := t.Name
		if name == "" {
			name = "(without a name)" // from a tracefile with an empty TN
		}
		rows = append(rows, []string{cli.Count(t.Lines), cli.Count(t.Alone), console.Printable(name)})
	}
	ran, what := r.total, "lines"
	if r.chosen {
		ran, what = r.ran, "selected lines"
	}
	if len(rows) > 0 {
		p.Table([]string{"lines", "alone", "test"}, rows)
	}
	fmt.Fprintf(p.W, "\n%s of %s %s ran (%s)", cli.Count(ran.Covered), cli.Count(ran.Total), what, percent(ran))
	if r.chosen {
		fmt.Fprintf(p.W, "; %s without code", cli.Quantity(r.noCode, "line", "lines"))
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

func (f *selectedFile) notRun() (lines []uint32) {
	for _, l := range f.lines {
		if len(l.tests) == 0 {
			lines = append(lines, l.number)
		}
	}
	return lines
}

// testsJSON is what "profuse coverage tests --json" prints. docs/schema/coverage-tests.schema.json describes it.
type testsJSON struct {
	schema.Head
	// Total counts all lines, selected or not.
	Total    ratioJSON     `json:"total"`
	Tests    []testShare   `json:"tests"`
	Selected *selectedJSON `json:"selected,omitempty"`
}

// selectedJSON is the coverage of the lines that --line and --changed select. Unknown has the files that
// are not in the coverage.
type selectedJSON struct {
	ratioJSON
	WithoutCode int                `json:"without_code"`
	Files       []selectedFileJSON `json:"files"`
	Unknown     []string           `json:"unknown"`
}

type selectedFileJSON struct {
	Path  string           `json:"path"`
	Lines []testedLineJSON `json:"lines"`
}

// testedLineJSON is a line with the names of the tests that ran it, in the order of the inputs.
type testedLineJSON struct {
	Line  uint32   `json:"line"`
	Tests []string `json:"tests"`
}

// writeJSON writes the result. names are the names of the tests, by number.
func (r *testsResult) writeJSON(w io.Writer, names []string) {
	out := testsJSON{Head: schema.For("coverage-tests"), Total: ratioJSON(r.total), Tests: append([]testShare{}, r.tests...)}
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
