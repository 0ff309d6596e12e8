package mipcmd

import (
	"fmt"
	"strings"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/family"
	"github.com/profuse-pgo/profuse/mip"
)

// Print prints the facts, unless the file could not be read at all.
func (f *mipFacts) Print(p *family.Printer) {
	if f.Error != nil && f.ModuleHash == "" {
		return
	}
	p.Title(f.File)
	printMIPOverview(p, f)
	printMIPFunctions(p, f, f.MostCalled, "Functions called most often")
	switch {
	case !f.selecting:
	case f.Edges != nil:
		printMIPEdges(p, f)
	case len(f.Selected) == 0:
		fmt.Fprintln(p.W, "\n  No function matches.")
	case p.Counts:
		for i := range f.Selected {
			printMIPFunction(p, f, &f.Selected[i])
		}
	default:
		printMIPFunctions(p, f, f.Selected, "Functions in link order")
	}
}

// printMIPOverview prints the facts that fit on a line each.
func printMIPOverview(p *family.Printer, f *mipFacts) {
	rows := [][2]string{{"Format", mipFormatLine(f)}, {"Instrumented", mipInstrumentation(f.profileType)}}
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
	case f.Error == nil && !f.hasCounts && f.Format != "":
		add("Functions", "not known: they are in the program or its .mipmap")
	}
	if f.hasCounts {
		add("Raw profiles", fmt.Sprintf("%s or more merged", cli.Count(uint64(f.RawProfiles))))
		if f.profileType.Has(mip.FunctionCallCount) {
			add("Calls", cli.Count(f.Calls))
		}
	}
	rows = append(rows, console.WarningRows(f.Warnings)...)
	if f.Error != nil {
		rows = append(rows, [2]string{p.Term.Paint(cli.Red, "Error"), console.Printable(f.Error.Message)})
	}
	p.List(rows)
}

func mipFormatLine(f *mipFacts) string {
	s := f.Format
	if f.BinaryType != "" {
		s = fmt.Sprintf("%s %s with a MIP map", f.BinaryArch, f.BinaryType)
	}
	if f.Version > 0 {
		s += fmt.Sprintf(", version %d", f.Version)
	}
	if f.Generation == mip.GenerationA.String() {
		s += " of generation A"
	}
	if f.PointerSize > 0 {
		s += fmt.Sprintf(", %d-bit", 8*f.PointerSize)
	}
	return s + ", " + cli.Quantity(uint64(f.Size), "byte", "bytes")
}

func mipInstrumentation(t mip.ProfileType) string {
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

// printMIPFunctions prints a table of functions. It has the columns that the type
// of profile has something to say in.
func printMIPFunctions(p *family.Printer, f *mipFacts, functions []mipFunctionFacts, title string) {
	if len(functions) == 0 {
		return
	}
	counts := f.hasCounts && f.profileType.Has(mip.FunctionCallCount)
	var header []string
	if counts {
		header = append(header, "Calls", "First call")
	}
	if f.hasCounts {
		header = append(header, "Ran in")
	}
	if f.profileType.Has(mip.BlockCoverage) {
		header = append(header, "Blocks")
	}
	header = append(header, "Bytes", title)
	var rows [][]string
	for i := range functions {
		fn := &functions[i]
		var row []string
		if counts {
			row = append(row, cli.Count(fn.Calls), firstCall(fn))
		}
		if f.hasCounts {
			row = append(row, cli.Count(uint64(fn.RawProfiles)))
		}
		if f.profileType.Has(mip.BlockCoverage) {
			blocks := cli.Count(uint64(fn.Blocks))
			if f.hasCounts {
				blocks = cli.Count(uint64(fn.BlocksCovered)) + "/" + blocks
			}
			row = append(row, blocks)
		}
		row = append(row, cli.Count(uint64(fn.Size)), mipName(p, fn))
		rows = append(rows, row)
	}
	p.Table(header, rows)
}

// firstCall is the mean rank of a function's first call.
func firstCall(fn *mipFunctionFacts) string {
	if fn.MeanOrder == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", fn.MeanOrder)
}

func mipName(p *family.Printer, fn *mipFunctionFacts) string {
	name := fn.Demangled
	if p.Mangled {
		name = fn.Name
	}
	return console.Printable(name + sourceNote(fn.Source))
}

func sourceNote(s *sourceFacts) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("  %s:%d", s.File, s.Line)
}

// printMIPFunction prints one function with its blocks.
func printMIPFunction(p *family.Printer, f *mipFacts, fn *mipFunctionFacts) {
	fmt.Fprintf(p.W, "\n  %s\n", p.Term.Paint(cli.Bold, mipName(p, fn)))
	what := []string{cli.Quantity(uint64(fn.Size), "byte", "bytes"), "CFG " + fn.CFG}
	if f.hasCounts {
		ran := "never ran"
		if fn.RawProfiles > 0 {
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
			state = "not watched"
		case !f.hasCounts:
			state = "block"
		case b.Covered:
			state = "ran"
		}
		at := fmt.Sprintf("%#x", b.Offset)
		if i > 0 && !b.Probe {
			at = "-"
		}
		fmt.Fprintln(p.W, strings.TrimRight(fmt.Sprintf("    %8s  %-11s%s", at, state, console.Printable(sourceNote(b.Source))), " "))
	}
}
