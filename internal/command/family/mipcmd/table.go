package mipcmd

import (
	"fmt"
	"strings"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
)

// Print prints the facts, unless the file could not be read at all.
func (f *fileFacts) Print(p *family.Printer) {
	if f.Error != nil && f.ModuleHash == "" {
		return
	}
	p.Title(f.File)
	printOverview(p, f)
	printFunctions(p, f, f.MostCalled, "Functions called most often")
	switch {
	case !f.selecting:
	case f.Edges != nil:
		printEdges(p, f)
	case len(f.Selected) == 0:
		fmt.Fprintln(p.W, "\n  No function matches.")
	case p.Counts:
		for i := range f.Selected {
			printFunction(p, f, &f.Selected[i])
		}
	default:
		printFunctions(p, f, f.Selected, "Functions in link order")
	}
}

// printOverview prints the facts that take one line each.
func printOverview(p *family.Printer, f *fileFacts) {
	rows := [][2]string{{"Format", formatLine(f)}, {"Instrumented", instrumentation(f.profileType)}}
	add := func(label, value string) {
		if value != "" {
			rows = append(rows, [2]string{label, value})
		}
	}
	add("Module", f.ModuleHash)
	add("Build id", f.BuildID)
	covered := func(all, covered uint64, unit string) string {
		if !f.hasCounts {
			return cli.Count(all) + unit
		}
		return fmt.Sprintf("%s%s, %s covered (%s)", cli.Count(all), unit, cli.Count(covered), cli.Percent(covered, all))
	}
	switch {
	case f.Functions > 0:
		add("Functions", covered(uint64(f.Functions), uint64(f.FunctionsCovered), ""))
		if f.profileType.Has(mip.BlockCoverage) {
			add("Blocks", covered(uint64(f.Blocks), uint64(f.BlocksCovered), ""))
		}
		add("Code", covered(f.CodeSize, f.CodeSizeCovered, " bytes"))
	case f.Error == nil && !f.hasCounts && f.What != "":
		add("Functions", "unknown: the program or its .mipmap lists them")
	}
	if f.Privacy != nil {
		add("Privacy", fmt.Sprintf("epsilon %.4g: each function is false with probability %.4g, in %s", f.Privacy.Epsilon, f.Privacy.Probability,
			cli.Quantity(f.Privacy.Profiles, "profile", "profiles")))
	} else if f.hasCounts {
		add("Raw profiles", fmt.Sprintf("%s or more merged", cli.Count(uint64(f.RawProfiles))))
		if f.profileType.Has(mip.FunctionCallCount) {
			add("Calls", cli.Count(f.Calls))
		}
	}
	p.List(append(rows, f.Rows(p.Term, "")...))
}

// formatLine describes the file: its format, version, pointer size and size.
func formatLine(f *fileFacts) string {
	s := f.What
	if f.BinaryType != "" {
		s = fmt.Sprintf("%s %s with a MIP map", f.BinaryArch, f.BinaryType)
	}
	if f.Version > 0 {
		s += fmt.Sprintf(", version %d", f.Version)
	}
	if f.Generation == "A" {
		s += " of generation A"
	}
	if f.PointerSize > 0 {
		s += fmt.Sprintf(", %d-bit", 8*f.PointerSize)
	}
	return s + ", " + cli.Quantity(uint64(f.Size), "byte", "bytes")
}

// instrumentation says in words what the program recorded.
func instrumentation(t mip.ProfileType) string {
	var parts []string
	for _, bit := range []struct {
		bit  mip.ProfileType
		text string
	}{
		{mip.FunctionCoverage, "function coverage"},
		{mip.FunctionCallCount, "calls of functions"},
		{mip.FunctionTimestamp, "order of first calls"},
		{mip.BlockCoverage, "block coverage"},
		{mip.ReturnAddress, "return addresses"},
	} {
		if t.Has(bit.bit) {
			parts = append(parts, bit.text)
		}
	}
	return "for " + strings.Join(parts, ", ")
}

// printFunctions prints a table of functions, with the columns that the profile has data for.
func printFunctions(p *family.Printer, f *fileFacts, functions []functionFacts, title string) {
	if len(functions) == 0 {
		return
	}
	counts := f.hasCounts && f.profileType.Has(mip.FunctionCallCount)
	rows := make([][]string, len(functions))
	var header []string
	column := func(title string, cell func(fn *functionFacts) string) {
		header = append(header, title)
		for i := range functions {
			rows[i] = append(rows[i], cell(&functions[i]))
		}
	}
	if counts {
		column("Calls", func(fn *functionFacts) string { return cli.Count(fn.Calls) })
		column("First call", firstCall)
	}
	if f.hasCounts {
		title := "Ran in"
		if f.Privacy != nil {
			title = "Seems to have run in"
		}
		column(title, func(fn *functionFacts) string { return ranIn(f, fn) })
	}
	if f.profileType.Has(mip.BlockCoverage) {
		column("Blocks", func(fn *functionFacts) string {
			if !f.hasCounts {
				return cli.Count(uint64(fn.Blocks))
			}
			return cli.Count(uint64(fn.BlocksCovered)) + "/" + cli.Count(uint64(fn.Blocks))
		})
	}
	column("Bytes", func(fn *functionFacts) string { return cli.Count(uint64(fn.Size)) })
	column(title, func(fn *functionFacts) string { return nameOf(p, fn) })
	p.Table(header, rows)
}

// firstCall prints the mean rank of a function's first call, 1 for the first of all; "-" if unknown.
func firstCall(fn *functionFacts) string {
	if fn.MeanOrder == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", fn.MeanOrder)
}

// nameOf returns the name, mangled with --mangled, and the source line if known.
func nameOf(p *family.Printer, fn *functionFacts) string {
	name := fn.Demangled
	if p.Mangled {
		name = fn.Name
	}
	return console.Printable(name + sourceNote(fn.Source))
}

// ranIn returns the number of profiles that ran the function; an estimate if coverage is private.
func ranIn(f *fileFacts, fn *functionFacts) string {
	if f.Privacy == nil {
		return cli.Count(uint64(fn.RawProfiles))
	}
	return fmt.Sprintf("%.1f ± %.1f", *fn.Estimate, fn.StandardError)
}

// sourceNote returns the text that follows a name: two spaces and FILE:LINE, or nothing.
func sourceNote(s *sourceFacts) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("  %s:%d", s.File, s.Line)
}

func printFunction(p *family.Printer, f *fileFacts, fn *functionFacts) {
	fmt.Fprintf(p.W, "\n  %s\n", p.Term.Paint(cli.Bold, nameOf(p, fn)))
	what := []string{cli.Quantity(uint64(fn.Size), "byte", "bytes"), "CFG " + fn.CFG}
	if f.hasCounts {
		ran := "never ran"
		switch {
		case f.Privacy != nil:
			ran = "seems to have run in " + ranIn(f, fn) + " profiles"
		case fn.RawProfiles > 0:
			ran = "ran in " + cli.Quantity(uint64(fn.RawProfiles), "raw profile", "raw profiles")
		}
		what = append(what, ran)
		if f.profileType.Has(mip.FunctionCallCount) && fn.RawProfiles > 0 {
			what = append(what, cli.Quantity(fn.Calls, "call", "calls"), "mean rank of the first "+firstCall(fn))
		}
	}
	p.Fold("    ", strings.Join(what, ", "))
	if !f.profileType.Has(mip.BlockCoverage) {
		return
	}
	for i, b := range fn.BlockRecords {
		state := "never ran"
		switch {
		case !b.Probe:
			state = "no probe"
		case !f.hasCounts:
			state = "block"
		case b.Covered:
			state = "ran"
		}
		offset := fmt.Sprintf("%#x", b.Offset)
		if i > 0 && !b.Probe { // its offset is unknown
			offset = "-"
		}
		fmt.Fprintln(p.W, strings.TrimRight(fmt.Sprintf("    %8s  %-11s%s", offset, state, console.Printable(sourceNote(b.Source))), " "))
	}
}
