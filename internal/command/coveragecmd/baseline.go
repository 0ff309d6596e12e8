package coveragecmd

import (
	"fmt"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// baselineComparison lists what ran less than in a baseline.
type baselineComparison struct {
	base *coverage.Coverage
	// before and after are the totals of all files, in the baseline and now.
	before, after coverage.Summary
	files         []worseFile
	functions     []worseFunction // that ran and no longer run
}

// A worseFile is a file with a smaller share of at least one kind of parts than in the baseline.
type worseFile struct {
	path          string
	before, after coverage.Summary
}

// worseFunction is a function that no longer runs. name is the mangled name with the signature.
type worseFunction struct {
	Name string `json:"function"`
	Path string `json:"path"`
}

// less reports whether a is a smaller share than b. It multiplies crosswise, because rounding could
// make the quotients equal.
func less(a, b coverage.Ratio) bool {
	return uint64(a.Covered)*uint64(b.Total) < uint64(b.Covered)*uint64(a.Total)
}

// compareBaseline returns what got worse from base to now. It compares the kinds of parts that both have.
func compareBaseline(base, now *coverage.Coverage) *baselineComparison {
	w := &baselineComparison{base: base, before: base.Total, after: now.Total}
	files := make(map[string]*coverage.File)
	for _, f := range now.Files {
		files[f.Path] = f
	}
	for _, old := range base.Files {
		f := files[old.Path]
		if f == nil {
			continue // a file that is gone is not worse
		}
		for _, k := range partKinds {
			if less(*k.ratio(&f.Total), *k.ratio(&old.Total)) {
				w.files = append(w.files, worseFile{old.Path, old.Total, f.Total})
				break
			}
		}
		// A function may have several instances in a file; it runs if any instance runs.
		calls := make(map[string]uint64)
		known := make(map[string]bool)
		for i := range f.Functions {
			name := f.Functions[i].String() + f.Functions[i].Signature
			calls[name] = max(calls[name], f.Functions[i].Calls)
			known[name] = true
		}
		seen := make(map[string]bool)
		for i := range old.Functions {
			name := old.Functions[i].String() + old.Functions[i].Signature
			if old.Functions[i].Calls > 0 && known[name] && calls[name] == 0 && !seen[name] {
				seen[name] = true
				w.functions = append(w.functions, worseFunction{name, old.Path})
			}
		}
	}
	return w
}

// print lists the files and functions, with the kinds of parts that both sides have.
func (w *baselineComparison) print(p *console.Printer) {
	fmt.Fprintf(p.W, "\n%s: %s, %s\n", p.Term.Paint(cli.Bold, "Worse than the baseline"),
		cli.Quantity(len(w.files), "file", "files"), cli.Quantity(len(w.functions), "function no longer runs", "functions no longer run"))
	kinds := knownKinds(&w.before, &w.after)
	var header []string
	for _, k := range kinds {
		header = append(header, k.title(), "now")
	}
	var rows [][]string
	row := func(name string, before, after coverage.Summary) {
		var cells []string
		for _, k := range kinds {
			cells = append(cells, percent(*k.ratio(&before)), percent(*k.ratio(&after)))
		}
		rows = append(rows, append(cells, name))
	}
	for _, f := range w.files {
		row(console.Printable(f.path), f.before, f.after)
	}
	row("total", w.before, w.after)
	p.Table(append(header, "file"), rows)
	for _, f := range w.functions {
		name := f.Name
		if !p.Mangled {
			name = symbols.Demangle(name)
		}
		p.Item(fmt.Sprintf("no longer runs: %s [%s]", console.Printable(name), console.Printable(f.Path)))
	}
}
