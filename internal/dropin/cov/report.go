package cov

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
	"github.com/profuse-pgo/profuse/internal/program/covmap"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// report prints a table of files, or of functions. Filters of functions do not apply here.
// --show-functions needs sources on the command line.
func (t *tool) report() error {
	switch t.opt.format {
	case htmlFormat:
		return message("HTML output for summary reports is not yet supported.")
	case lcovFormat:
		return message("lcov format should be used with 'llvm-cov export'.")
	}
	if err := t.load(); err != nil {
		return err
	}
	if !t.opt.showFunctions {
		return t.write(func(w io.Writer) { t.fileReport(w, t.selected(), false) })
	}
	if len(t.sources) == 0 {
		return errors.New("source files must be specified when -show-functions=true is specified")
	}
	return t.write(t.functionReport)
}

// The widths of columns in characters: FileReportColumns and FunctionReportColumns of LLVM's CoverageReport.cpp.
var (
	fileColumns     = []int{25, 12, 18, 10, 12, 18, 10, 16, 16, 10, 12, 18, 10, 12, 18, 10, 20, 21, 10}
	functionColumns = []int{25, 10, 8, 8, 10, 8, 8, 10, 8, 8, 20, 8, 8}
)

// A column group is the three columns of one kind of number.
type columnGroup struct {
	names  [3]string
	at     int // of the first column
	shown  func(o *options) bool
	ratio  func(s *coverage.Summary) coverage.Ratio
	shade  func(s *coverage.Summary) coverage.Ratio // gives the colour
	missed bool                                     // colours the second column as well
}

func regionsOf(s *coverage.Summary) coverage.Ratio        { return s.Regions }
func functionsOf(s *coverage.Summary) coverage.Ratio      { return s.Functions }
func instantiationsOf(s *coverage.Summary) coverage.Ratio { return s.Instantiations }
func linesOf(s *coverage.Summary) coverage.Ratio          { return s.Lines }
func branchesOf(s *coverage.Summary) coverage.Ratio       { return s.Branches }
func mcdcOf(s *coverage.Summary) coverage.Ratio           { return s.MCDC }

// always is for the columns that no option hides.
func always(*options) bool { return true }

// The columns of file reports. As in llvm-cov, the branch and MC/DC columns have the colour of the line coverage.
var fileGroups = []columnGroup{
	{[3]string{"Regions", "Missed Regions", "Cover"}, 1, func(o *options) bool { return o.regions }, regionsOf, regionsOf, true},
	{[3]string{"Functions", "Missed Functions", "Executed"}, 4, always, functionsOf, functionsOf, false},
	{[3]string{"Instantiations", "Missed Insts.", "Executed"}, 7, func(o *options) bool { return o.instantiations }, instantiationsOf, instantiationsOf, false},
	{[3]string{"Lines", "Missed Lines", "Cover"}, 10, always, linesOf, linesOf, true},
	{[3]string{"Branches", "Missed Branches", "Cover"}, 13, func(o *options) bool { return o.branches }, branchesOf, linesOf, true},
	{[3]string{"MC/DC Conditions", "Missed Conditions", "Cover"}, 16, func(o *options) bool { return o.mcdc }, mcdcOf, linesOf, true},
}

// The columns of function reports, which always have regions.
var functionGroups = []columnGroup{
	{[3]string{"Regions", "Miss", "Cover"}, 1, always, regionsOf, regionsOf, true},
	{[3]string{"Lines", "Miss", "Cover"}, 4, always, linesOf, linesOf, true},
	{[3]string{"Branches", "Miss", "Cover"}, 7, func(o *options) bool { return o.branches }, branchesOf, linesOf, true},
	{[3]string{"MC/DC Conditions", "Miss", "Cover"}, 10, func(o *options) bool { return o.mcdc }, mcdcOf, linesOf, true},
}

// percent returns the covered percentage, 0 if there is nothing to cover.
func percent(r coverage.Ratio) float64 {
	if r.Total == 0 {
		return 0
	}
	return float64(r.Covered) / float64(r.Total) * 100
}

// shade (determineCoveragePercentageColor) returns the colour of a coverage ratio: green for
// 100 percent or nothing to cover, yellow from 80 percent.
func shade(r coverage.Ratio) withcolor.Color {
	switch {
	case r.Covered == r.Total:
		return withcolor.Green
	case percent(r) >= 80:
		return withcolor.Yellow
	}
	return withcolor.Red
}

// paint returns s in a colour if output is coloured.
func (t *tool) paint(w io.Writer, c withcolor.Color, s string) string {
	if !t.colors {
		return s
	}
	return c.Paint(behind(w), s)
}

// A row is a line of a report.
type row struct {
	name   string
	sum    coverage.Summary
	target string // the source, or the index of a folder, whose page it leads to
}

// totalName is the name of the last row.
const totalName = "TOTAL"

// fileReport (CoverageReport::renderFileReports) prints the table of files. With filtered, only functions that the
// filters accept count, and if there are filters, files without functions are left out.
func (t *tool) fileReport(w io.Writer, files []string, filtered bool) {
	rows, total := t.fileRows(files, filtered)
	t.fileTable(w, rows, total, !filtered || len(t.filters) == 0)
}

// fileRows returns the rows of the table of files, and their sum. Names lack the folders that all files share.
func (t *tool) fileRows(files []string, filtered bool) (rows []row, total row) {
	rows = make([]row, len(files))
	prefix := redundantPrefix(files)
	if t.opt.dump {
		t.dumpGroups(files)
	}
	for i, name := range files {
		rows[i] = row{name[prefix:], t.fileSum(name, filtered), name}
	}
	total.name = totalName
	for _, r := range rows {
		total.sum.Add(r.sum)
	}
	return rows, total
}

// fileSum returns the numbers of a file. With filtered it counts only functions that the filters accept.
func (t *tool) fileSum(name string, filtered bool) coverage.Summary {
	f := t.cov.File(name)
	if filtered && len(t.filters) > 0 {
		return f.TotalOf(t.accepts)
	}
	return f.Total
}

// fileTable prints rows and their sum. If empty is set, files without functions follow in a second list. The first
// column never gets narrower during a run, because LLVM widens a global table (adjustColumnWidths).
func (t *tool) fileTable(w io.Writer, rows []row, total row, empty bool) {
	for _, r := range rows {
		t.fileTab.first = max(t.fileTab.first, len(r.name))
	}
	printRow := func(r row) { t.tableRow(w, &t.fileTab, displayName(r.name), &r.sum) }
	t.heading(w, &t.fileTab, "Filename")
	some, without := splitRows(rows)
	for _, r := range some {
		printRow(r)
	}
	if len(without) > 0 && empty {
		fmt.Fprint(w, "\nFiles which contain no functions:\n")
		for _, r := range without {
			printRow(r)
		}
	}
	t.divider(w, &t.fileTab)
	printRow(total)
}

// splitRows returns the rows of files with functions, and of files without any.
func splitRows(rows []row) (some, without []row) {
	for _, r := range rows {
		if r.sum.Functions.Total == 0 {
			without = append(without, r)
		} else {
			some = append(some, r)
		}
	}
	return some, without
}

// A table is one of the two kinds of tables.
type table struct {
	groups []columnGroup
	widths []int
	first  int    // width of the first column
	none   string // in place of 0.00% if there is nothing to cover; may be empty
}

func (t *tool) heading(w io.Writer, tab *table, name string) {
	fmt.Fprintf(w, "%-*s", tab.first, name)
	for _, g := range tab.groups {
		if g.shown(&t.opt) {
			for i, name := range g.names {
				fmt.Fprintf(w, "%*.*s", tab.widths[g.at+i], tab.widths[g.at+i], name)
			}
		}
	}
	fmt.Fprintln(w)
	t.divider(w, tab)
}

func (t *tool) divider(w io.Writer, tab *table) {
	n := tab.first
	for _, g := range tab.groups {
		if g.shown(&t.opt) {
			n += tab.widths[g.at] + tab.widths[g.at+1] + tab.widths[g.at+2]
		}
	}
	fmt.Fprintln(w, strings.Repeat("-", n))
}

// displayName returns a path without "." and ".."; a separator at its end stays.
func displayName(name string) string {
	isDir := strings.HasSuffix(name, string(filepath.Separator))
	if name = cleanName(name); isDir {
		name += string(filepath.Separator)
	}
	return name
}

// tableRow prints a row of a table. Numbers are cut to 32 bits, as in LLVM.
func (t *tool) tableRow(w io.Writer, tab *table, name string, sum *coverage.Summary) {
	fmt.Fprint(w, name+strings.Repeat(" ", max(0, tab.first-len(name))))
	for _, g := range tab.groups {
		if !g.shown(&t.opt) {
			continue
		}
		n, c := g.ratio(sum), shade(g.shade(sum))
		missed := fmt.Sprintf("%*d", tab.widths[g.at+1], uint32(n.Total-n.Covered))
		if g.missed {
			missed = t.paint(w, c, missed)
		}
		cover := fmt.Sprintf("%*s", tab.widths[g.at+2], tab.none)
		if n.Total > 0 || tab.none == "" {
			cover = t.paint(w, c, fmt.Sprintf("%*.2f%%", tab.widths[g.at+2]-1, percent(n)))
		}
		fmt.Fprintf(w, "%*d%s%s", tab.widths[g.at], uint32(n.Total), missed, cover)
	}
	fmt.Fprintln(w)
}

// functionReport (CoverageReport::renderFunctionReports) prints a table of the functions of each file.
func (t *tool) functionReport(w io.Writer) {
	for i, name := range t.sources {
		if i > 0 {
			fmt.Fprintln(w)
		}
		functions := t.functionsOf(name)
		for _, f := range functions {
			t.functionTab.first = max(t.functionTab.first, len(t.display(f.Name)))
		}
		fmt.Fprintf(w, "File '%s':\n", name)
		t.heading(w, &t.functionTab, "Name")
		var total coverage.Summary
		for _, f := range functions {
			sum := f.Summary()
			total.Add(sum)
			t.tableRow(w, &t.functionTab, t.display(f.Name), &sum)
		}
		if len(functions) > 0 {
			t.divider(w, &t.functionTab)
			t.tableRow(w, &t.functionTab, totalName, &total)
		}
	}
}

// dumpGroups prints the functions of files for --dump.
func (t *tool) dumpGroups(files []string) {
	for _, name := range files {
		for _, g := range t.cov.File(name).Groups {
			label := g.Functions[0].Name
			if slices.ContainsFunc(g.Functions, func(f *covmap.Function) bool { return f.Name != label }) {
				label = fmt.Sprintf("Definition at line %d, column %d", g.Start.Line, g.Start.Column)
			}
			fmt.Fprintf(t.Stdout, "InstantiationGroup: %s with size = %d\n", label, len(g.Functions))
		}
	}
}

// redundantPrefix (getRedundantPrefixLen) returns the length of the leading path components
// that all paths share, 0 for a single path.
func redundantPrefix(paths []string) int {
	if len(paths) < 2 {
		return 0
	}
	first := components(paths[0])
	n := len(first)
	for _, path := range paths[1:] {
		for i, c := range components(path) {
			if i >= n {
				break
			}
			if paths[0][first[i].start:first[i].end] != path[c.start:c.end] {
				n = i
				break
			}
		}
	}
	switch {
	case n == 0:
		return 0
	case n == len(first):
		return len(paths[0])
	}
	return first[n].start
}

// A component is a part of a path.
type component struct{ start, end int }

// components divides a path as LLVM does: a leading separator is a component of its own.
func components(path string) (list []component) {
	isSeparator := func(c byte) bool { return c == '/' || c == filepath.Separator }
	for i := 0; i < len(path); {
		if isSeparator(path[i]) {
			if i == 0 {
				list = append(list, component{0, 1})
			}
			i++
			continue
		}
		start := i
		for i < len(path) && !isSeparator(path[i]) {
			i++
		}
		list = append(list, component{start, i})
	}
	return list
}
