package export

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// A Format names a kind of file: "pprof", "folded", "speedscope", "json", "ndjson", "csv", "callgrind",
// or one of [coverage.Formats].
type Format string

type formatEntry struct {
	format      Format
	suffix      string
	description string
	write       func(*exporter) error
}

func (f Format) entry() *formatEntry {
	for i := range formats {
		if formats[i].format == f {
			return &formats[i]
		}
	}
	return &formatEntry{}
}

var formats = []formatEntry{
	{"pprof", ".pb.gz", "for go tool pprof and other readers of profile.proto", (*exporter).pprof},
	{"folded", ".folded", "a stack per line: flamegraph.pl, inferno, speedscope", (*exporter).folded},
	{"speedscope", ".speedscope.json", "for speedscope.app", (*exporter).speedscope},
	{"json", ".json", "everything, in one document", (*exporter).json},
	{"ndjson", ".ndjson", "everything, a record per line", (*exporter).ndjson},
	{"csv", ".csv", "one table, for spreadsheets and databases", (*exporter).csv},
	{"callgrind", ".callgrind", "for KCachegrind and callgrind_annotate", (*exporter).callgrind},
	{"lcov", ".info", "coverage as a tracefile, for genhtml, lcov and editors", (*exporter).coverage},
	{"cobertura", ".cobertura.xml", "coverage as XML, for GitLab, Azure and Jenkins", (*exporter).coverage},
	{"sonar", ".sonar.xml", "coverage as XML of SonarQube's generic test coverage", (*exporter).coverage},
	{"codecov", ".codecov.json", "coverage as JSON of Codecov's custom format", (*exporter).coverage},
	{"coveralls", ".coveralls.json", "coverage as JSON of the job API of Coveralls", (*exporter).coverage},
	{"llvm-json", ".llvm.json", "coverage as JSON of llvm-cov export, for LLVM profiles only", (*exporter).coverage},
}

func (f Format) ofCoverage() bool { return slices.Contains(coverage.Formats(), coverage.Format(f)) }

// Formats returns all formats.
func Formats() []Format {
	var out []Format
	for i := range formats {
		out = append(out, formats[i].format)
	}
	return out
}

// Suffix returns the usual suffix of file names, with the dot; "" for an unknown format.
func (f Format) Suffix() string { return f.entry().suffix }

// Description returns a phrase about the use of the format.
func (f Format) Description() string { return f.entry().description }

// Options adjust [Write]. The zero value is right for most uses.
type Options struct {
	// Table is the part of the profile to write: the name of a stack set,
	// [profile.FunctionSet], "edges" or, in formats without stacks, "traces".
	//
	// Empty means the first stack set, or the functions if the profile has no stacks, for pprof, folded and
	// callgrind; all stack sets, or the functions, for speedscope; all data for JSON and NDJSON; and for CSV the
	// functions if they have counts, otherwise the first stack set. Formats of coverage have the functions only.
	Table string
	// Value is the name of the only value to write (folded), or of the default
	// value (pprof, speedscope). Empty means the first.
	Value string
	// Demangle shows C++ and Rust names readable. JSON, NDJSON and CSV keep the names as they are.
	Demangle bool
	// Signatures appends method descriptors to names in formats without a field for descriptors
	// (folded, speedscope, callgrind). Names in files of coverage always have them.
	Signatures bool
	// Lines appends lines, or bytecode indexes, to the names of frames in formats
	// that distinguish frames by name (folded, speedscope).
	Lines bool
	// RawCells leaves the texts of a CSV file unchanged. Without it, texts that a spreadsheet takes for
	// a formula begin with an apostrophe.
	RawCells bool
	// Function selects the functions of formats of coverage; nil selects all. Other formats are written whole.
	Function  func(*profile.Symbol) bool
	SourceDir string // put before the file names that are relative, in formats of coverage
	// Source returns the text of a source file for formats of coverage, see [coverage.WriteOptions]; nil for none.
	Source func(path string) ([]byte, error)
	// Roots returns the folders to which formats of coverage make names relative, see [coverage.WriteOptions]; nil for none.
	Roots func(*coverage.Coverage) []string
}

// A Loss describes data of the profile that the written file lacks or represents with another meaning.
type Loss struct {
	What  string // "edges"
	Why   string // "a pprof file has stacks only"
	Count uint64 // number of lost items; 0 if that means nothing
}

// String returns "WHAT: WHY", after the count if there is one.
func (l Loss) String() string {
	s := l.What + ": " + l.Why
	if l.Count > 0 {
		s = fmt.Sprintf("%d %s", l.Count, s)
	}
	return s
}

// Write writes v to w and returns the losses. The same view and options give the same
// bytes. Write returns the errors of w, and an error if v or the format does not support an option.
func Write(w io.Writer, f Format, v profile.View, opt Options) ([]Loss, error) {
	write := f.entry().write
	if write == nil {
		return nil, fmt.Errorf("unknown format %q: want one of %s", f, join(Formats()))
	}
	if opt.Function != nil && !f.ofCoverage() {
		return nil, fmt.Errorf("format %s does not select functions; formats of coverage do", f)
	}
	e := &exporter{
		Writer: bufio.NewWriterSize(w, 1<<16),
		format: f, v: v, opt: opt, features: v.Features(),
		symbols: &symbols{opt: opt},
	}
	if opt.Table != "" && !slices.Contains(tables(v), opt.Table) {
		return nil, fmt.Errorf("no table %q in this profile: want one of %s", opt.Table, join(tables(v)))
	}
	if err := write(e); err != nil {
		return nil, err
	}
	if err := e.Flush(); err != nil {
		return nil, err
	}
	return e.losses, nil
}

// tables returns the names that Options.Table may have for v: the stack sets,
// then the others that have something in them.
func tables(v profile.View) []string {
	var names []string
	for _, set := range v.Stacks() {
		names = append(names, set.Name)
	}
	names = append(names, profile.FunctionSet)
	if v.Features().Edges {
		names = append(names, edgeSet)
	}
	if v.Features().Traces {
		names = append(names, traceSet)
	}
	return names
}

func join[S ~string](names []S) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = string(n)
	}
	return strings.Join(list, ", ")
}

type exporter struct {
	*bufio.Writer // keeps the first error
	format        Format
	v             profile.View
	opt           Options
	features      profile.Features
	symbols       *symbols
	losses        []Loss
}

// lose records a loss; the counts of equal losses add up.
func (e *exporter) lose(count uint64, what, why string) {
	for i := range e.losses {
		if e.losses[i].What == what && e.losses[i].Why == why {
			e.losses[i].Count += count
			return
		}
	}
	e.losses = append(e.losses, Loss{What: what, Why: why, Count: count})
}

func (e *exporter) loseCounted(count uint64, what, why string) {
	if count > 0 {
		e.lose(count, what, why)
	}
}

func (e *exporter) loseOmitted() {
	id := e.v.Identity()
	for _, what := range id.Omits {
		e.lose(0, what, "only the profile's own format has a place for them")
	}
}
