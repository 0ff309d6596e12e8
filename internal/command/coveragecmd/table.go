package coveragecmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// mcdc is the name of the kind of conditions for MC/DC.
const mcdc = "mcdc"

// A partKind is a kind of parts of the sources: lines, functions, ….
type partKind struct {
	name string // "lines", as in options and JSON
	// ratio returns the sum of this kind in a summary.
	ratio func(*coverage.Summary) *coverage.Ratio
}

// partKinds has all kinds, in the order of columns, options and JSON. An input without a kind, such as a
// profile without MC/DC, has a total of 0 of it.
var partKinds = []partKind{
	{"lines", func(s *coverage.Summary) *coverage.Ratio { return &s.Lines }},
	{"regions", func(s *coverage.Summary) *coverage.Ratio { return &s.Regions }},
	{"functions", func(s *coverage.Summary) *coverage.Ratio { return &s.Functions }},
	{"branches", func(s *coverage.Summary) *coverage.Ratio { return &s.Branches }},
	{mcdc, func(s *coverage.Summary) *coverage.Ratio { return &s.MCDC }},
}

// knownKinds returns the kinds that all summaries have.
func knownKinds(summaries ...*coverage.Summary) []partKind {
	return slices.DeleteFunc(slices.Clone(partKinds), func(k partKind) bool {
		return slices.ContainsFunc(summaries, func(s *coverage.Summary) bool { return k.ratio(s).Total == 0 })
	})
}

func (k *partKind) title() string {
	if k.name == mcdc {
		return "MC/DC"
	}
	return k.name
}

// percent prints a share in percent. Only a part that ran completely has 100 %: 99.999 % becomes 99.99 %.
func percent(r coverage.Ratio) string {
	switch share := 100 * r.Share(); {
	case r.Total == 0:
		return "–"
	case r.Covered < r.Total:
		return fmt.Sprintf("%.2f %%", min(share, 99.99))
	default:
		return "100.00 %"
	}
}

// print prints the table, a row for each folder and file, and what the options ask for.
func (r *result) print(p *console.Printer) {
	kinds := knownKinds(&r.Total)
	var header []string
	for _, k := range kinds {
		header = append(header, k.title(), "") // "covered/total" and the share
	}
	header = append(header, "file")
	var rows [][]string
	row := func(name string, s coverage.Summary) {
		var cells []string
		for _, k := range kinds {
			ratio := *k.ratio(&s)
			count := ""
			if ratio.Total > 0 {
				count = cli.Count(ratio.Covered) + "/" + cli.Count(ratio.Total)
			}
			cells = append(cells, count, percent(ratio))
		}
		rows = append(rows, append(cells, name))
	}
	for _, t := range coverage.Tree(r.Files) {
		row(strings.Repeat("  ", t.Depth)+console.Printable(t.Label), t.Total)
	}
	row("total", r.Total)
	p.Table(header, rows)
	if r.command.notRun {
		r.printNotRun(p)
	}
	if r.command.mismatched {
		r.printMisfits(p)
		r.printUnknown(p)
	}
	if r.changed != nil {
		r.changed.print(p)
	}
	if r.baseline != nil {
		r.baseline.print(p)
	}
}

// printNotRun lists the lines of each file that did not run.
func (r *result) printNotRun(p *console.Printer) {
	if lines := r.Total.Lines; lines.Covered < lines.Total {
		fmt.Fprintf(p.W, "\n%s\n", p.Term.Paint(cli.Bold, "Lines that did not run"))
	}
	for _, f := range r.Files {
		if f.Total.Lines.Covered < f.Total.Lines.Total {
			p.Item(fmt.Sprintf("%s: %s", console.Printable(f.Path), notRunRanges(f.Lines)))
		}
	}
}

// notRunRanges prints the lines that did not run as "3, 7-9". A range may have lines without code.
func notRunRanges(lines []coverage.Line) string {
	var ranges []string
	for len(lines) > 0 {
		n := slices.IndexFunc(lines, func(l coverage.Line) bool { return l.Count > 0 })
		if n < 0 {
			n = len(lines)
		}
		if n > 0 {
			ranges = append(ranges, lineRange(lines[0].Number, lines[n-1].Number))
		}
		lines = lines[min(n+1, len(lines)):]
	}
	return strings.Join(ranges, ", ")
}

// printUnknown lists the functions of the profile whose source is not known.
func (r *result) printUnknown(p *console.Printer) {
	if len(r.Unknown) > 0 {
		fmt.Fprintf(p.W, "\n%s\n", p.Term.Paint(cli.Bold, "Functions whose source is not known"))
	}
	for i := range r.Unknown {
		f := &r.Unknown[i]
		ran := "did not run"
		if f.Calls > 0 {
			ran = "ran"
		}
		name := f.Name
		if !p.Mangled {
			name = symbols.Demangle(name)
		}
		p.Item(fmt.Sprintf("%s: %s", console.Printable(name+f.Signature), ran))
	}
}

// printMisfits lists the functions whose CFG hash in the program is not the hash in the profile.
func (r *result) printMisfits(p *console.Printer) {
	if len(r.Misfits) > 0 {
		fmt.Fprintf(p.W, "\n%s\n", p.Term.Paint(cli.Bold, "Functions that the profile does not fit"))
	}
	for i := range r.Misfits {
		m := &r.Misfits[i]
		name := m.Function
		if !p.Mangled {
			name = symbols.Demangle(name)
		}
		fmt.Fprintf(p.W, "%s in %s\n", console.Printable(name), console.Printable(m.Object))
		have := hashTexts(m.Have)
		if len(have) > console.MaxListed {
			have = append(have[:console.MaxListed], "…")
		}
		p.Item(fmt.Sprintf("hash %s in the object, %s in the profile: %s", hashText(m.Hash), strings.Join(have, ", "), console.Printable(m.Cause)))
	}
}

func hashText(hash uint64) string { return fmt.Sprintf("%#x", hash) }

func hashTexts(hashes []uint64) []string {
	texts := make([]string, len(hashes))
	for i, h := range hashes {
		texts[i] = hashText(h)
	}
	return texts
}
