package memprof

import (
	"fmt"
	"strings"
)

// showRaw prints a symbolized raw profile as llvm-profdata 22 does for
// "show --memory", without the summary: the same content by an independent
// way. addresses leaves the histogram's address out.
func showRaw(raw *RawProfile, p *Profile, cov *Coverage) string {
	var b strings.Builder
	sites, functions := 0, 0
	for i := range p.Records {
		n := len(p.Records[i].AllocSites)
		sites += n
		if n > 0 {
			functions++
		}
	}
	fmt.Fprintf(&b, "MemprofProfile:\n  Summary:\n    Version: %d\n    NumSegments: %d\n    NumMibInfo: %d\n    NumAllocFunctions: %d\n    NumStackOffsets: %d\n",
		raw.Version(), len(raw.Segments), sites, functions, cov.Contexts-cov.Dropped)
	b.WriteString("  Segments:\n")
	for _, s := range raw.Segments {
		id := "<None>"
		if len(s.BuildID) > 0 {
			id = fmt.Sprintf("%x", s.BuildID)
		}
		fmt.Fprintf(&b, "  -\n    BuildId: %s\n    Start: 0x%X\n    End: 0x%X\n    Offset: 0x%X\n", id, s.Start, s.End, s.Offset)
	}
	b.WriteString("  Records:\n")
	frame := func(i FrameIndex) {
		f := p.Stacks.Frame(i)
		name := p.Names[f.GUID]
		inline := 0
		if f.Inline {
			inline = 1
		}
		fmt.Fprintf(&b, "        Function: %d\n        SymbolName: %s\n        LineOffset: %d\n        Column: %d\n        Inline: %d\n",
			f.GUID, name, f.LineOffset, f.Column, inline)
	}
	for i := range p.Records {
		r := &p.Records[i]
		fmt.Fprintf(&b, "  -\n    FunctionGUID: %d\n", r.GUID)
		if len(r.AllocSites) > 0 {
			b.WriteString("    AllocSites:\n")
		}
		for _, a := range r.AllocSites {
			b.WriteString("    -\n      Callstack:\n")
			for f := range p.Stacks.Walk(a.Stack) {
				b.WriteString("      -\n")
				frame(f)
			}
			b.WriteString("      MemInfoBlock:\n")
			m := &p.MIBs[a.MIB]
			for f := AllocCount; f <= AccessHistogram; f++ {
				fmt.Fprintf(&b, "        %s: %d\n", f, m.Get(f))
			}
			if len(m.Histogram) > 0 {
				b.WriteString("        AccessHistogramValues:")
				for _, v := range m.Histogram {
					fmt.Fprintf(&b, " %d", v)
				}
				b.WriteString("\n")
			}
		}
		if len(r.CallSites) > 0 {
			b.WriteString("    CallSites:\n")
		}
		for _, c := range r.CallSites {
			for f := range p.Stacks.Walk(c.Stack) {
				b.WriteString("    -\n      -\n")
				frame(f)
			}
		}
	}
	return b.String()
}
