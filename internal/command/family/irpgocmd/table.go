package irpgocmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/family/memprofcmd"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
)

// Print prints the facts, or nothing for an unreadable file: the caller prints the error.
func (f *counterFacts) Print(p *family.Printer) {
	if f.Error != nil && f.Version == 0 && f.Records == 0 {
		return
	}
	p.Title(f.File)
	printOverview(p, f)
	printHottest(p, f)
	if p.Cutoffs {
		printCutoffs(p, "Spread of counts", f.Summary)
		printCutoffs(p, "Spread of counts (cs)", f.CSSummary)
	}
	if f.selecting {
		printSelected(p, f)
	}
	memprofcmd.Print(p, f.MemProf)
}

// formatLine describes the file: "raw, version 10 (written by LLVM 19 to 22), 3,248 bytes".
func formatLine(f *counterFacts) string {
	s := f.Format
	if f.Version > 0 {
		s += fmt.Sprintf(", version %d", f.Version)
	}
	switch {
	case f.WrittenBy != "":
		s += " (written by " + f.WrittenBy + ")"
	case f.ReadableBy != "":
		s += " (readable by " + f.ReadableBy + ")"
	}
	return s + ", " + cli.Quantity(f.Size, "byte", "bytes")
}

func printOverview(p *family.Printer, f *counterFacts) {
	rows := [][2]string{{"Format", formatLine(f)}, {"Instrumented", instrumentation(f)}}
	add := func(label, value string) {
		if value != "" {
			rows = append(rows, [2]string{label, value})
		}
	}
	// A heap profile alone has no counters.
	if f.MemProf == nil || f.Records > 0 {
		add("Functions", functionsLine(f))
		add("Counters", countersLine(f))
	}
	// Counters of coverage are 0 or 1, so totals and thresholds mean nothing.
	if f.Records > 0 && !f.variant.Has(irpgo.SingleByte) {
		add("Total count", cli.Count(f.TotalCount))
		add("Greatest count", greatestLine(f.Summary))
		add("Hot counts", hotLine(f.Summary))
		add("Hot counts (cs)", hotLine(f.CSSummary))
	}
	for k, label := range []string{"Indirect calls", "Memory sizes", "Virtual tables"} {
		add(label, valuesLine(f.Values[k], k))
	}
	if b := f.Bitmaps; b.Records > 0 {
		add("MC/DC", fmt.Sprintf("%s with a bitmap, %s of %s set", cli.Quantity(b.Records, "record", "records"),
			cli.Count(b.BitsSet), cli.Quantity(8*uint64(b.Bytes), "bit", "bits")))
	}
	if u := f.Uniform; u != nil {
		add("Uniform", fmt.Sprintf("%s of %s: nearly all runs of the block had all lanes active", cli.Count(u.BitsSet), cli.Quantity(u.Counters, "counter", "counters")))
	}
	add("Traces", tracesLine(f.Traces))
	if f.MemProf != nil {
		rows = append(rows, memprofcmd.Rows(f.MemProf)...)
	}
	add("Layout", layoutLine(f))
	ids := f.BinaryIDs
	if more := len(ids) - console.MaxListed; more > 0 {
		ids = append(slices.Clone(ids[:console.MaxListed]), fmt.Sprintf("… and %s more", cli.Count(more)))
	}
	add("Binary ids", strings.Join(ids, "\n"))
	rest := ""
	if f.Records > 0 {
		rest = "; shown up to there: " + cli.Quantity(f.Records, "record", "records")
	}
	p.List(append(rows, f.Rows(p.Term, rest)...))
}

// instrumentation describes how the program was instrumented, with the compilers' options. For
// profiles that have no records by design it says why.
func instrumentation(f *counterFacts) string {
	v := f.variant
	if v.Has(irpgo.DebugInfo) && f.Records == 0 {
		return "for correlation: functions and names are in the debug info or the binary, not here"
	}
	if v.Has(irpgo.HasMemProf) && f.Records == 0 {
		return "for heap profiling alone (-fmemory-profile)"
	}
	s := "by the front end (-fprofile-instr-generate, -C instrument-coverage)"
	if v.Has(irpgo.IRLevel) {
		s = "at IR level (-fprofile-generate)"
	}
	for _, also := range []struct {
		bit  irpgo.Variant
		text string
	}{
		{irpgo.ContextSens, "context-sensitive after inlining (-fcs-profile-generate)"},
		{irpgo.EntryFirst, "function entries always, as first counter"},
		{irpgo.LoopEntries, "loop entries always"},
		{irpgo.EntryOnly, "function entries only"},
		{irpgo.SingleByte, "coverage only: ran or not, no counts"},
		{irpgo.HasTemporal, "times of first calls"},
		{irpgo.HasMemProf, "with a heap profile (-fmemory-profile)"},
	} {
		if v.Has(also.bit) {
			s += "; " + also.text
		}
	}
	return s
}

// functionsLine returns the number of functions, of functions that never ran and, if different, of records.
func functionsLine(f *counterFacts) string {
	s := cli.Count(f.Functions)
	switch {
	case f.FunctionsNotRun == 0:
	case f.FunctionsNotRun == f.Functions:
		s += ", none ran"
	default:
		s += fmt.Sprintf(", %s never ran (%s)", cli.Count(f.FunctionsNotRun),
			cli.Percent(f.FunctionsNotRun, f.Functions))
	}
	var kinds []string
	if f.Records != f.Functions {
		kinds = append(kinds, cli.Quantity(f.Records, "record", "records"))
	}
	kinds = append(kinds, cli.Parts(
		cli.Part{N: f.CSRecords, What: "context-sensitive"},
		cli.Part{N: f.PseudoHotRecords, What: "hot by sample profile"},
		cli.Part{N: f.PseudoWarmRecords, What: "warm by sample profile"},
	)...)
	if len(kinds) > 0 {
		s += "; " + strings.Join(kinds, ", ")
	}
	return s
}

func countersLine(f *counterFacts) string {
	s := cli.Count(f.Counters)
	switch {
	case f.CountersZero == 0:
	case f.CountersZero == f.Counters:
		s += ", all zero"
	default:
		s += fmt.Sprintf(", %s zero (%s)", cli.Count(f.CountersZero), cli.Percent(f.CountersZero, f.Counters))
	}
	return s
}

// greatestLine returns LLVM's two maxima of a summary: of first counters, which count entries, and
// of other counters; "" without counters.
func greatestLine(s *summaryFacts) string {
	if s == nil || s.Counters == 0 {
		return ""
	}
	return fmt.Sprintf("%s in a function's first counter, %s in any other",
		cli.Count(s.MaxFunctionCount), cli.Count(s.MaxInternalCount))
}

// LLVM's default cutoffs of hot and cold counts, in millionths of the total count
// (-profile-summary-cutoff-hot and -profile-summary-cutoff-cold).
const (
	hotShare  = 990_000
	coldShare = 999_999
)

// hotLine returns the least count of hot counters, the number of hot counters, and the greatest
// count of cold counters; "" if nothing ran.
func hotLine(s *summaryFacts) string {
	if s == nil || s.MaxCount == 0 {
		return ""
	}
	for _, c := range s.Cutoffs {
		if c.Cutoff >= hotShare && c.MinCount > 0 {
			return fmt.Sprintf("%s and more: %s up %s of the total; cold: %s and less", cli.Count(c.MinCount),
				cli.Quantity(c.Counters, "counter makes", "counters make"), share(c.Cutoff), cli.Count(s.ColdThreshold))
		}
	}
	return ""
}

// share prints millionths as a percentage: 999900 is "99.99 %".
func share(millionths uint64) string {
	s := fmt.Sprintf("%d.%04d", millionths/10_000, millionths%10_000)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") + " %"
}

// valuesLine sums up the value sites of a kind; "" without sites.
func valuesLine(v valueFacts, k int) string {
	if v.Sites == 0 {
		return ""
	}
	one, many := "target", "targets"
	switch k {
	case irpgo.MemOPSize:
		one, many = "size", "sizes"
	case irpgo.VTableTarget:
		one, many = "table", "tables"
	}
	s := cli.Quantity(v.Sites, "site", "sites")
	switch v.SitesWithValues {
	case 0:
		return s + ", no values"
	case v.Sites:
	default:
		s += ", " + cli.Count(v.SitesWithValues) + " ran"
	}
	s += ": " + cli.Quantity(v.Values, one, many) + ", seen " + cli.Quantity(v.Count, "time", "times")
	if v.UnknownValues > 0 {
		s += fmt.Sprintf("; %s unknown, seen %s", cli.Count(v.UnknownValues), cli.Percent(v.UnknownCount, v.Count))
	}
	return s
}

// tracesLine sums up the traces of temporal profiling; "" without any.
func tracesLine(t traceFacts) string {
	if t.Count == 0 {
		return ""
	}
	s := fmt.Sprintf("%s of first calls, the longest of %s", cli.Quantity(t.Count, "trace", "traces"),
		cli.Quantity(t.Longest, "function", "functions"))
	if t.StreamSize > uint64(t.Count) {
		s += fmt.Sprintf("; a sample of %s", cli.Count(t.StreamSize))
	}
	return s
}

// layoutLine describes the machine that wrote a raw profile; "" for other formats, which do not depend on the machine.
func layoutLine(f *counterFacts) string {
	if f.Format != string(irpgo.FormatRaw) || f.PointerSize == 0 {
		return ""
	}
	s := fmt.Sprintf("%d-bit, %s-endian", 8*f.PointerSize, f.ByteOrder)
	if f.Profiles > 1 {
		s += fmt.Sprintf(", %d profiles one after the other", f.Profiles)
	}
	return s
}

// printHottest prints the functions with the greatest totals. Coverage does not rank functions.
func printHottest(p *family.Printer, f *counterFacts) {
	if f.variant.Has(irpgo.SingleByte) {
		return
	}
	header := []string{"Total count", "Share", "Greatest", "Counters", "Hottest functions"}
	console.TableOf(&p.Printer, header, f.Hottest, func(fn *functionFacts) []string {
		return []string{
			cli.Count(fn.TotalCount), cli.Percent(fn.TotalCount, f.TotalCount),
			cli.Count(fn.MaxCount), cli.Count(fn.Counters), p.Symbol(fn.Symbol),
		}
	})
}

// printCutoffs prints a detailed summary. It marks LLVM's hot and cold cutoffs.
func printCutoffs(p *family.Printer, title string, s *summaryFacts) {
	if s == nil {
		return
	}
	header := []string{"Of the total", "Counters", "Of all", "Least count", title}
	console.TableOf(&p.Printer, header, s.Cutoffs, func(c *console.Cutoff) []string {
		note := map[uint64]string{hotShare: "hot from here up", coldShare: "cold from here down"}[c.Cutoff]
		return []string{share(c.Cutoff), cli.Count(c.Counters), cli.Percent(c.Counters, s.Counters), cli.Count(c.MinCount), note}
	})
}

// printSelected prints the records that --function selects: one line each, or a paragraph each if
// counts or values are asked for.
func printSelected(p *family.Printer, f *counterFacts) {
	if len(f.Selected) == 0 {
		fmt.Fprintln(p.W, "\n  No function matches.")
		return
	}
	if p.Counts || p.Values {
		for i := range f.Selected {
			printRecord(p, f, &f.Selected[i])
		}
		return
	}
	header := []string{"Total count", "Share", "Greatest", "Counters", "Hash", "Matching functions"}
	console.TableOf(&p.Printer, header, f.Selected, func(r *recordFacts) []string {
		return []string{
			cli.Count(r.TotalCount), cli.Percent(r.TotalCount, f.TotalCount), cli.Count(r.MaxCount),
			cli.Count(len(r.Counts)), fmt.Sprintf("%#016x", r.Hash), p.Symbol(r.Symbol),
		}
	})
}

// printRecord prints one record: name, sums and, if asked for, counters and value sites.
func printRecord(p *family.Printer, f *counterFacts, r *recordFacts) {
	name := strings.TrimRight(p.Symbol(r.Symbol), " ")
	if p.Term.Width > 0 {
		name = console.ShortenName(name, max(p.Term.Width-console.TableIndent, console.MinNameColumns))
	}
	fmt.Fprintf(p.W, "\n  %s\n", p.Term.Paint(cli.Bold, name))
	what := fmt.Sprintf("total %s (%s), greatest %s", cli.Count(r.TotalCount), cli.Percent(r.TotalCount, f.TotalCount), cli.Count(r.MaxCount))
	if r.Pseudo != "" {
		what = r.Pseudo + " by sample profile, without counts"
	}
	if r.ContextSens {
		what += ", context-sensitive"
	}
	p.Fold("    ", fmt.Sprintf("hash %#016x, %s, %s", r.Hash, cli.Quantity(len(r.Counts), "counter", "counters"), what))
	if p.Counts {
		printCounts(p, r)
	}
	if p.Values {
		printSites(p, "indirect call", r.IndirectTargets)
		printSites(p, "memory size", r.MemOPSizes)
		printSites(p, "virtual table", r.VTableTargets)
	}
}

func printCounts(p *family.Printer, r *recordFacts) {
	words := make([]string, len(r.Counts))
	for i, c := range r.Counts {
		words[i] = cli.Count(c)
	}
	fmt.Fprintln(p.W, "    counts:")
	p.Fold("      ", strings.Join(words, " "))
	if r.Bitmap != "" {
		p.Fold("    ", "bitmap: "+r.Bitmap)
	}
	if r.Uniformity != "" {
		p.Fold("    ", "uniformity: "+r.Uniformity)
	}
}

// printSites prints the value sites of a kind, numbered from 0. A target without a name in the
// profile is shown by its reference.
func printSites(p *family.Printer, kind string, sites []siteFacts) {
	for i, s := range sites {
		fmt.Fprintf(p.W, "    %s %d: seen %s\n", kind, i, cli.Quantity(s.Count, "time", "times"))
		widest := 0
		for _, v := range s.Values {
			widest = max(widest, len(cli.Count(v.Count)))
		}
		for _, v := range s.Values {
			name := sizeRange(v.Value)
			if v.Symbol != nil {
				name = p.Symbol(*v.Symbol)
				if v.Symbol.Name == "" && v.Value != 0 {
					name = fmt.Sprintf("(unknown, reference %#016x)", v.Value)
				}
			}
			lead := fmt.Sprintf("      %*s  %7s  ", widest, cli.Count(v.Count), cli.Percent(v.Count, s.Count))
			if p.Term.Width > 0 {
				name = console.ShortenName(name, max(p.Term.Width-len(lead), console.MinNameColumns))
			}
			fmt.Fprintln(p.W, strings.TrimRight(lead+name, " "))
		}
	}
}

// sizeRange returns the range of sizes, in bytes, that a recorded size stands for. The runtime records small sizes and
// powers of two exactly, and other sizes as the first of their range (InstrProfGetRangeRepValue).
func sizeRange(v uint64) string {
	const largest = 513
	low := v - 1
	switch {
	case v == largest:
		return cli.Count(v) + " bytes or more"
	case v > 8 && v < largest && low&(low-1) == 0:
		return fmt.Sprintf("%s to %s bytes", cli.Count(v), cli.Count(2*low-1))
	}
	return cli.Quantity(v, "byte", "bytes")
}
