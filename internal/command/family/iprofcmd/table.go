package iprofcmd

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
)

// Print prints the facts, or nothing for an unreadable file.
func (f *fileFacts) Print(p *family.Printer) {
	if f.Error != nil && f.FormatVersion == "" {
		return
	}
	p.Title(f.File)
	printOverview(p, f)
	printSets(p, f.Sets)
	printMethods(p, f.Hottest, "Hottest methods")
	printContexts(p, f.Contexts)
	printSites(p, f.Sites)
	printBranches(p, f.Branches)
	printLocks(p, f.Locks)
	switch {
	case !f.selecting:
	case len(f.Selected) == 0:
		fmt.Fprintln(p.W, "\n  No method matches.")
	default:
		printMethods(p, f.Selected, "Methods chosen")
	}
}

// printOverview prints the facts that take one line each. The numbers of types and methods mean
// nothing in unresolved recordings, which have placeholders.
func printOverview(p *family.Printer, f *fileFacts) {
	rows := [][2]string{{"Format", fmt.Sprintf("%s, version %s, %s", f.What, f.FormatVersion, cli.Quantity(f.Size, "byte", "bytes"))}}
	add := func(label, value string) { rows = append(rows, [2]string{label, value}) }
	used := func(all, used int) string {
		return fmt.Sprintf("%s, %s used by counts (%s)", cli.Count(all), cli.Count(used), cli.Percent(used, all))
	}
	if f.Resolved {
		add("Types", used(f.Types, f.TypesUsed))
		add("Methods", used(f.Methods, f.MethodsUsed))
	}
	if f.UnknownFields > 0 {
		add("Unknown", cli.Quantity(f.UnknownFields, "section or member", "sections and members"))
	}
	p.List(append(rows, f.Rows(p.Term, "; shown up to there")...))
}

func printSets(p *family.Printer, sets []setFacts) {
	if len(sets) == 0 {
		fmt.Fprintln(p.W, "\n  There are no counts.")
		return
	}
	var rows [][]string
	for _, s := range sets {
		row := []string{cli.Count(s.Total), cli.Count(s.Largest), cli.Count(s.Entries), "", cli.Count(s.MaxFrames), s.Set}
		if s.Methods > 0 {
			row[3] = cli.Count(s.Methods)
		}
		rows = append(rows, row)
	}
	p.Table([]string{"Total", "Largest", "Entries", "Methods", "Frames", "Counts of"}, rows)
}

// packagePart matches a part of a package's name, in sources or descriptors.
var packagePart = regexp.MustCompile(`\b(L?[a-z])\w*([./])`)

// printTable prints a table with a row for each item, or nothing without items. The last column holds
// Java names: on a narrow terminal, packages are shortened to their first letters.
func printTable[T any](p *console.Printer, header []string, items []T, row func(*T) []string) {
	if len(items) == 0 {
		return
	}
	width, last := console.TableIndent, len(header)-1
	rows := make([][]string, len(items))
	for i := range items {
		rows[i] = row(&items[i])
		rows[i][last] = console.Printable(rows[i][last])
	}
	for i := range header {
		most := text.StringWidthWithoutEscSequences(header[i])
		for _, r := range rows {
			most = max(most, text.StringWidthWithoutEscSequences(r[i]))
		}
		width += most + console.ColumnGap
	}
	if p.Term.Width > 0 && width > p.Term.Width {
		for _, r := range rows {
			r[last] = packagePart.ReplaceAllString(r[last], "$1$2")
		}
	}
	p.Table(header, rows)
}

// printMethods prints a table of methods, with columns for samples if there are samples.
func printMethods(p *family.Printer, methods []methodFacts, title string) {
	samples := slices.ContainsFunc(methods, func(m methodFacts) bool { return m.SamplesBelow != 0 })
	header := []string{"Share", "Calls", "Inlined", "Branches", title}
	if samples {
		header = []string{"Share", "Samples", "and below", "Calls", "Branches", title}
	}
	printTable(&p.Printer, header, methods, func(m *methodFacts) []string {
		share, name := console.Percent(m.Share), m.Name+m.Descriptor
		if samples {
			return []string{share, cli.Count(m.Samples), cli.Count(m.SamplesBelow), cli.Count(m.Calls), cli.Count(m.Branches), name}
		}
		return []string{share, cli.Count(m.Calls), cli.Count(m.CallsInlined), cli.Count(m.Branches), name}
	})
}

func printContexts(p *family.Printer, contexts []contextFacts) {
	if len(contexts) == 0 {
		return
	}
	header := []string{"Share", "Count", "Hottest contexts of " + contexts[0].Set} // all are of one set
	printTable(&p.Printer, header, contexts, func(c *contextFacts) []string {
		return []string{console.Percent(c.Share), cli.Count(c.Count), c.context}
	})
}

// printSites prints calls and type checks with their types, and the share of the most frequent type.
func printSites(p *family.Printer, sites []siteFacts) {
	printTable(&p.Printer, []string{"Count", "Types", "One type", "Polymorphic calls and checks"}, sites, func(s *siteFacts) []string {
		var types []string
		for _, t := range s.Types {
			types = append(types, t.Type+" "+cli.Percent(t.Count, s.Count))
		}
		return []string{
			cli.Count(s.Count), cli.Count(len(s.Types)), cli.Percent(s.Types[0].Count, s.Count),
			fmt.Sprintf("%s:%d (%s): %s", s.Method, s.Bytecode, s.Set, strings.Join(types, ", ")),
		}
	})
}

// printBranches prints conditionals with the targets of each way.
func printBranches(p *family.Printer, branches []branchFacts) {
	printTable(&p.Printer, []string{"Count", "One way", "Hottest branches"}, branches, func(b *branchFacts) []string {
		var ways []string
		for _, w := range b.Ways {
			targets := make([]string, len(w.Targets))
			for j, t := range w.Targets {
				targets[j] = bytecodeName(t)
			}
			ways = append(ways, fmt.Sprintf("→ %s %s", strings.Join(targets, "/"), cli.Percent(w.Count, b.Count)))
		}
		return []string{cli.Count(b.Count), cli.Percent(b.mostFrequent(), b.Count), fmt.Sprintf("%s:%d %s", b.Method, b.Bytecode, strings.Join(ways, ", "))}
	})
}

// pseudoBytecodes are the names of the bytecode indexes -1 to -6 in jdk.vm.ci.code.BytecodeFrame.
var pseudoBytecodes = [...]string{
	1: "UNWIND_BCI", "BEFORE_BCI", "AFTER_BCI", "AFTER_EXCEPTION_BCI", "UNKNOWN_BCI", "INVALID_FRAMESTATE_BCI",
}

// bytecodeName returns the number or name of a bytecode index.
func bytecodeName(bci int32) string {
	if bci >= 0 || int(bci) <= -len(pseudoBytecodes) {
		return strconv.Itoa(int(bci))
	}
	return pseudoBytecodes[-bci]
}

func printLocks(p *family.Printer, locks []typeFacts) {
	printTable(&p.Printer, []string{"Locks", "Types locked"}, locks, func(l *typeFacts) []string {
		return []string{cli.Count(l.Count), l.Type}
	})
}
