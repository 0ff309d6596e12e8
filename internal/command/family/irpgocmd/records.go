package irpgocmd

import (
	"fmt"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
)

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

// printCounts prints the counters in the order of the file.
func printCounts(p *family.Printer, r *recordFacts) {
	words := make([]string, len(r.Counts))
	for i, c := range r.Counts {
		words[i] = cli.Count(c)
	}
	fmt.Fprint(p.W, "    counts:\n")
	p.Fold("      ", strings.Join(words, " "))
	if r.Bitmap != "" {
		p.Fold("    ", "bitmap: "+r.Bitmap)
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

// sizeRange returns the range of sizes, in bytes, that a recorded size stands for. The runtime
// records small sizes and powers of two exactly, and other sizes as the first of their range
// (InstrProfGetRangeRepValue).
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
