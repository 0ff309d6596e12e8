package coveragecmd

import (
	"fmt"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// worseCoverage is what ran less than in a baseline; after are the sums now.
type worseCoverage struct {
	base *coverage.Coverage
	// before and after are the totals of the baseline and of now, also of files that are not worse.
	before, after coverage.Summary
	files         []worseFile
	functions     []worseFunction // that ran and no longer run
}

// A worseFile is a file of which a smaller share of a kind of parts ran.
type worseFile struct {
	path          string
	before, after coverage.Summary
}

// worseFunction is a function that no longer runs, by its name and signature as the profile has
// them.
type worseFunction struct{ path, name string }

// less reports whether a is a smaller share than b. It multiplies crosswise, because quotients may
// be rounded to the same number.
func less(a, b coverage.Ratio) bool {
	return uint64(a.Covered)*uint64(b.Total) < uint64(b.Covered)*uint64(a.Total)
}

// compareCoverage returns what got worse from base to now. Kinds of parts that one of them
// does not know are not compared.
func compareCoverage(base, now *coverage.Coverage) *worseCoverage {
	w := &worseCoverage{base: base, before: base.Total, after: now.Total}
	files := make(map[string]*coverage.File)
	for _, f := range now.Files {
		files[f.Path] = f
	}
	for _, old := range base.Files {
		f := files[old.Path]
		if f == nil {
			continue // a file that is gone is not worse
		}
		for _, k := range coverageKinds {
			if less(*k.ratio(&f.Total), *k.ratio(&old.Total)) {
				w.files = append(w.files, worseFile{old.Path, old.Total, f.Total})
				break
			}
		}
		// A function may have several instances in a file; it runs if one of them does.
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
				w.functions = append(w.functions, worseFunction{old.Path, name})
			}
		}
	}
	return w
}

// print lists the files and functions, with the kinds of parts that both sides know.
func (w *worseCoverage) print(p *console.Printer) {
	fmt.Fprintf(p.W, "\n%s: %s, %s\n", p.Term.Paint(cli.Bold, "Worse than the baseline"),
		cli.Quantity(uint64(len(w.files)), "file", "files"), cli.Quantity(uint64(len(w.functions)), "function no longer runs", "functions no longer run"))
	var kinds []coverageKind
	for _, k := range coverageKinds {
		if k.ratio(&w.before).Total > 0 && k.ratio(&w.after).Total > 0 {
			kinds = append(kinds, k)
		}
	}
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
		name := f.name
		if !p.Mangled {
			name = symbols.Demangle(name)
		}
		p.Item(fmt.Sprintf("no longer runs: %s [%s]", console.Printable(name), console.Printable(f.path)))
	}
}
