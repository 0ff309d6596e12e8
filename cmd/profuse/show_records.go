package main

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
)

// selected prints the records that --functions chose: one line each, or a
// paragraph each when their counts or values are asked for.
func (p *factsPrinter) selected(f *facts) {
	if len(f.Selected) == 0 {
		fmt.Fprintln(p.w, "\n  No function matches.")
		return
	}
	if p.counts || p.values {
		for i := range f.Selected {
			p.record(f, &f.Selected[i])
		}
		return
	}
	var rows [][]string
	for i := range f.Selected {
		r := &f.Selected[i]
		rows = append(rows, []string{
			cli.Count(r.TotalCount), cli.Percent(r.TotalCount, f.TotalCount), cli.Count(r.MaxCount),
			cli.Count(uint64(len(r.Counts))), fmt.Sprintf("%#016x", r.Hash), p.symbol(r.symbolFacts),
		})
	}
	p.table([]string{"Total count", "Share", "Greatest", "Counters", "Hash", "Matching functions"}, rows)
}

func (p *factsPrinter) record(f *facts, r *recordFacts) {
	name := strings.TrimRight(p.symbol(r.symbolFacts), " ")
	if p.term.Width > 0 {
		name = shortenName(name, max(p.term.Width-tableIndent, minNameCols))
	}
	fmt.Fprintf(p.w, "\n  %s\n", p.term.Paint(cli.Bold, name))
	what := fmt.Sprintf("total %s (%s), greatest %s", cli.Count(r.TotalCount), cli.Percent(r.TotalCount, f.TotalCount), cli.Count(r.MaxCount))
	if r.Pseudo != "" {
		what = r.Pseudo + " by sample profile, without counts"
	}
	if r.ContextSens {
		what += ", context-sensitive"
	}
	p.fold("    ", fmt.Sprintf("hash %#016x, %s, %s", r.Hash, cli.Quantity(uint64(len(r.Counts)), "counter", "counters"), what))
	if p.counts {
		p.countList(r)
	}
	if p.values {
		p.sites("indirect call", r.IndirectTargets)
		p.sites("memory size", r.MemOPSizes)
		p.sites("virtual table", r.VTableTargets)
	}
}

// countList prints the counters in the order of the file.
func (p *factsPrinter) countList(r *recordFacts) {
	words := make([]string, len(r.Counts))
	for i, c := range r.Counts {
		words[i] = cli.Count(c)
	}
	fmt.Fprint(p.w, "    counts:\n")
	p.fold("      ", strings.Join(words, " "))
	if r.Bitmap != "" {
		p.fold("    ", "bitmap: "+r.Bitmap)
	}
}

// fold prints text in lines that fit, broken at spaces.
func (p *factsPrinter) fold(indent, words string) {
	width := p.term.Width
	if width == 0 {
		width = 100
	}
	for line := range strings.SplitSeq(text.WrapSoft(words, max(width-len(indent), minNameCols)), "\n") {
		fmt.Fprintln(p.w, indent+strings.TrimRight(line, " "))
	}
}

func (p *factsPrinter) sites(kind string, sites []siteFacts) {
	for i, s := range sites {
		fmt.Fprintf(p.w, "    %s %d: seen %s\n", kind, i, cli.Quantity(s.Count, "time", "times"))
		widest := 0
		for _, v := range s.Values {
			widest = max(widest, len(cli.Count(v.Count)))
		}
		for _, v := range s.Values {
			name := sizeRange(v.Value)
			if v.Symbol != nil {
				name = p.symbol(*v.Symbol)
				if v.Symbol.Name == "" && v.Value != 0 {
					name = fmt.Sprintf("(unknown, reference %#016x)", v.Value)
				}
			}
			lead := fmt.Sprintf("      %*s  %7s  ", widest, cli.Count(v.Count), cli.Percent(v.Count, s.Count))
			if p.term.Width > 0 {
				name = shortenName(name, max(p.term.Width-len(lead), minNameCols))
			}
			fmt.Fprintln(p.w, strings.TrimRight(lead+name, " "))
		}
	}
}

// sizeRange says which sizes in bytes a recorded one stands for: the runtime
// keeps small ones and powers of two apart and records the others as the first
// of their range.
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
