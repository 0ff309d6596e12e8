package iprofcmd

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/family"
	"github.com/profuse-pgo/profuse/iprof"
)

// Print prints the facts, unless the file could not be read at all.
func (f *iprofFacts) Print(p *family.Printer) {
	if f.Error != nil && f.Version == "" {
		return
	}
	p.Title(f.File)
	printIprofOverview(p, f)
	printIprofSets(p, f.Sets)
	printIprofMethods(p, f.Hottest, "Hottest methods")
	printIprofContexts(p, f.Contexts)
	printIprofSites(p, f.Sites)
	printIprofBranches(p, f.Branches)
	printIprofLocks(p, f.Locks)
	switch {
	case !f.selecting:
	case len(f.Selected) == 0:
		fmt.Fprintln(p.W, "\n  No method matches.")
	default:
		printIprofMethods(p, f.Selected, "Methods chosen")
	}
}

func printIprofOverview(p *family.Printer, f *iprofFacts) {
	rows := [][2]string{{"Format", fmt.Sprintf("%s, version %s, %s", f.Format, f.Version, cli.Quantity(uint64(f.Size), "byte", "bytes"))}}
	add := func(label, value string) { rows = append(rows, [2]string{label, value}) }
	used := func(all, used int) string {
		return fmt.Sprintf("%s, %s used by counts (%s)", cli.Count(uint64(all)), cli.Count(uint64(used)), cli.Percent(uint64(used), uint64(all)))
	}
	if f.Resolved {
		add("Types", used(f.Types, f.TypesUsed))
		add("Methods", used(f.Methods, f.MethodsUsed))
	}
	if f.UnknownFields > 0 {
		add("Unknown", cli.Quantity(uint64(f.UnknownFields), "section or member", "sections and members"))
	}
	rows = append(rows, console.WarningRows(f.Warnings)...)
	if f.Error != nil {
		add(p.Term.Paint(cli.Red, "Error"), console.Printable(f.Error.Message)+"; shown is what stands before")
	}
	p.List(rows)
}

// signed prints a count; broken recordings have negative ones.
func signed(n int64) string {
	if n < 0 {
		return "-" + cli.Count(uint64(-n))
	}
	return cli.Count(uint64(n))
}

func printIprofSets(p *family.Printer, sets []iprofSetFacts) {
	if len(sets) == 0 {
		fmt.Fprintln(p.W, "\n  There are no counts.")
		return
	}
	var rows [][]string
	for _, s := range sets {
		methods := ""
		if s.Methods > 0 {
			methods = cli.Count(uint64(s.Methods))
		}
		rows = append(rows, []string{
			signed(s.Total), signed(s.Largest), cli.Count(uint64(s.Entries)), methods, cli.Count(uint64(s.MaxFrames)), s.Set,
		})
	}
	p.Table([]string{"Total", "Largest", "Entries", "Methods", "Frames", "Counts of"}, rows)
}

// packagePart is a part of a package's name, in the spelling of the language or
// of descriptors.
var packagePart = regexp.MustCompile(`\b(L?[a-z])\w*([./])`)

// printJavaTable is printer.table for names of Java in the last column: where the
// terminal is too narrow for them, packages are shortened to their first
// letters before anything is cut.
func printJavaTable(p *console.Printer, header []string, rows [][]string) {
	width := console.TableIndent
	for i := range header {
		most := text.StringWidthWithoutEscSequences(header[i])
		for _, r := range rows {
			most = max(most, text.StringWidthWithoutEscSequences(r[i]))
		}
		width += most + console.ColumnGap
	}
	if last := len(header) - 1; p.Term.Width > 0 && width > p.Term.Width {
		for _, r := range rows {
			r[last] = packagePart.ReplaceAllString(r[last], "$1$2")
		}
	}
	p.Table(header, rows)
}

func printIprofMethods(p *family.Printer, methods []iprofMethodFacts, title string) {
	if len(methods) == 0 {
		return
	}
	samples := false
	for i := range methods {
		samples = samples || methods[i].SamplesBelow != 0
	}
	header := []string{"Share", "Calls", "Inlined", "Branches"}
	if samples {
		header = []string{"Share", "Samples", "and below", "Calls", "Branches"}
	}
	var rows [][]string
	for i := range methods {
		m := &methods[i]
		row := []string{console.Percent(m.Share), signed(m.Calls), signed(m.CallsInlined), signed(m.Branches)}
		if samples {
			row = []string{console.Percent(m.Share), signed(m.Samples), signed(m.SamplesBelow), signed(m.Calls), signed(m.Branches)}
		}
		rows = append(rows, append(row, console.Printable(m.Name+m.Descriptor)))
	}
	printJavaTable(&p.Printer, append(header, title), rows)
}

func printIprofContexts(p *family.Printer, contexts []iprofContextFacts) {
	if len(contexts) == 0 {
		return
	}
	var rows [][]string
	for i := range contexts {
		c := &contexts[i]
		rows = append(rows, []string{console.Percent(c.Share), signed(c.Count), console.Printable(c.context)})
	}
	printJavaTable(&p.Printer, []string{"Share", "Count", "Hottest contexts of " + contexts[0].Set}, rows)
}

func printIprofSites(p *family.Printer, sites []iprofSiteFacts) {
	if len(sites) == 0 {
		return
	}
	var rows [][]string
	for i := range sites {
		s := &sites[i]
		var types []string
		for _, t := range s.Types {
			types = append(types, fmt.Sprintf("%s %s", t.Type, cli.Percent(uint64(max(t.Count, 0)), uint64(max(s.Count, 0)))))
		}
		rows = append(rows, []string{
			signed(s.Count), cli.Count(uint64(len(s.Types))), cli.Percent(uint64(max(s.Types[0].Count, 0)), uint64(max(s.Count, 0))),
			console.Printable(fmt.Sprintf("%s:%d (%s): %s", s.Method, s.Bytecode, s.Set, strings.Join(types, ", "))),
		})
	}
	printJavaTable(&p.Printer, []string{"Count", "Types", "One type", "Polymorphic calls and checks"}, rows)
}

func printIprofBranches(p *family.Printer, branches []iprofBranchFacts) {
	if len(branches) == 0 {
		return
	}
	var rows [][]string
	for i := range branches {
		b := &branches[i]
		var ways []string
		most := int64(0)
		for _, w := range b.Ways {
			most = max(most, w.Count)
			targets := make([]string, len(w.Targets))
			for j, t := range w.Targets {
				targets[j] = iprof.BCI(t).String()
			}
			ways = append(ways, fmt.Sprintf("→ %s %s", strings.Join(targets, "/"), cli.Percent(uint64(max(w.Count, 0)), uint64(max(b.Count, 0)))))
		}
		rows = append(rows, []string{
			signed(b.Count), cli.Percent(uint64(most), uint64(b.Count)), console.Printable(fmt.Sprintf("%s:%d %s", b.Method, b.Bytecode, strings.Join(ways, ", "))),
		})
	}
	printJavaTable(&p.Printer, []string{"Count", "One way", "Hottest branches"}, rows)
}

func printIprofLocks(p *family.Printer, locks []iprofTypeFacts) {
	if len(locks) == 0 {
		return
	}
	var rows [][]string
	for _, l := range locks {
		rows = append(rows, []string{signed(l.Count), console.Printable(l.Type)})
	}
	printJavaTable(&p.Printer, []string{"Locks", "Types locked"}, rows)
}
