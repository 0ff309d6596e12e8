package profdata

import (
	"bufio"
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

// showHeap (showMemProfProfile) shows a raw profile or the memprof section of an indexed one. It
// recognizes the format by the first bytes.
func (t *tool) showHeap(out io.Writer) error {
	name := t.opt.profileFile
	if t.opt.showFormat == showJSON {
		return &failure{message: "JSON output is not supported for MemProf"}
	}
	return t.read(name, func(data []byte) error {
		if heapKindOf(data) == rawHeap {
			warn := func(w profile.Warning) { t.msg.warn(name, details(w.Err)) }
			raw, programs, err := t.readRawHeap(name, data)
			if err != nil {
				return &failure{message: heapWords(err)}
			}
			p, about, err := raw.Symbolize(programs, memprof.SymbolizeOptions{LLVMCompat: true, KeepNames: true, Warn: warn})
			if err != nil {
				return &failure{message: heapWords(err)}
			}
			return showRawHeap(out, raw, p, about)
		}
		if f, ok := irpgo.Detect(data); !ok || f != irpgo.FormatIndexed {
			return &failure{whence: name, message: words(&llvmerr.Error{Code: llvmerr.BadMagic})}
		}
		r, err := irpgo.NewReader(name, data, irpgo.ReaderOptions{Lenient: true})
		if err != nil {
			return &failure{whence: name, message: words(err)}
		}
		section := r.MemProf()
		if section == nil {
			return &failure{whence: name, message: "the profile has no memprof section"} // LLVM crashes
		}
		p, err := section.Profile()
		if err != nil {
			return &failure{whence: name, message: words(err)}
		}
		if _, err := io.WriteString(out, heapSummary(p)); err != nil {
			return err
		}
		return memprof.WriteYAML(out, p)
	})
}

func heapSummary(p *memprof.Profile) string {
	s := p.Summary()
	text := fmt.Sprintf(`---
# MemProfSummary:
#   Total contexts: %d
#   Total cold contexts: %d
#   Total hot contexts: %d
#   Maximum cold context total size: %d
#   Maximum warm context total size: %d
#   Maximum hot context total size: %d
`, s.NumContexts, s.NumColdContexts, s.NumHotContexts, s.MaxColdTotalSize, s.MaxWarmTotalSize, s.MaxHotTotalSize)
	if d := p.DataAccess; d != nil {
		text += fmt.Sprintf(`#   Num hot symbols and string literals: %d
#   Num known cold symbols: %d
#   Num known cold string literals: %d
`, len(d.Records), len(d.ColdSymbols), len(d.ColdHashes))
	}
	return text
}

// showRawHeap writes a raw profile: a summary, the segments, and every record with the measurements of its
// contexts. p and about are the results of symbolizing raw with LLVMCompat and KeepNames.
func showRawHeap(w io.Writer, raw *memprof.RawProfile, p *memprof.Profile, about *memprof.Coverage) error {
	s := rawHeapPrinter{p: p, w: bufio.NewWriterSize(w, 1<<16)}
	s.w.WriteString(heapSummary(p))
	sites, functions := 0, 0
	for i := range p.Records {
		if n := len(p.Records[i].AllocSites); n > 0 {
			sites += n
			functions++
		}
	}
	fmt.Fprintf(s.w, `MemprofProfile:
  Summary:
    Version: %d
    NumSegments: %d
    NumMibInfo: %d
    NumAllocFunctions: %d
    NumStackOffsets: %d
  Segments:
`, raw.Version, len(raw.Segments), sites, functions, about.Contexts-about.Dropped)
	for _, g := range raw.Segments {
		fmt.Fprintf(s.w, "  -\n    BuildId: %s\n    Start: 0x%X\n    End: 0x%X\n    Offset: 0x%X\n", cmp.Or(hex.EncodeToString(g.BuildID), "<None>"), g.Start, g.End, g.Offset)
	}
	s.w.WriteString("  Records:\n")
	for i := range p.Records {
		s.record(&p.Records[i])
	}
	return s.w.Flush()
}

// A rawHeapPrinter prints the records of a raw profile.
type rawHeapPrinter struct {
	p   *memprof.Profile
	w   *bufio.Writer
	buf []byte
}

func (s *rawHeapPrinter) number(name string, v uint64) {
	s.buf = append(append(s.buf[:0], "        "...), name...)
	s.buf = strconv.AppendUint(append(s.buf, ": "...), v, 10)
	s.w.Write(append(s.buf, '\n'))
}

func (s *rawHeapPrinter) record(r *memprof.Record) {
	fmt.Fprintf(s.w, "  -\n    FunctionGUID: %d\n", r.GUID)
	if len(r.AllocSites) > 0 {
		s.w.WriteString("    AllocSites:\n")
	}
	for _, a := range r.AllocSites {
		s.w.WriteString("    -\n      Callstack:\n")
		for f := range s.p.Stacks.Walk(a.Stack) {
			s.w.WriteString("      -\n")
			s.frame(f)
		}
		s.mib(&s.p.MIBs[a.MIB])
	}
	if len(r.CallSites) > 0 {
		s.w.WriteString("    CallSites:\n")
	}
	for _, c := range r.CallSites {
		for f := range s.p.Stacks.Walk(c.Stack) {
			s.w.WriteString("    -\n      -\n")
			s.frame(f)
		}
	}
}

func (s *rawHeapPrinter) frame(f memprof.Frame) {
	s.number("Function", f.GUID)
	name, ok := s.p.Names[f.GUID]
	if !ok {
		name = "<None>"
	}
	s.w.WriteString("        SymbolName: ")
	s.w.WriteString(name)
	s.w.WriteByte('\n')
	s.number("LineOffset", uint64(f.LineOffset))
	s.number("Column", uint64(f.Column))
	s.number("Inline", uint64(bit(f.Inline)))
}

// mibFields are LLVM's names of the fields of a MIB, in the order of mibValues.
var mibFields = memprof.FullSchema.Fields()

// mibValues returns all fields of a MIB in LLVM's order; unknown fields are 0.
func mibValues(m *memprof.MIB) [27]uint64 {
	return [...]uint64{
		uint64(m.AllocCount), m.TotalAccessCount, m.MinAccessCount, m.MaxAccessCount,
		m.TotalSize, uint64(m.MinSize), uint64(m.MaxSize), uint64(m.AllocTimestamp), uint64(m.DeallocTimestamp),
		m.TotalLifetime, uint64(m.MinLifetime), uint64(m.MaxLifetime), uint64(m.AllocCPUID), uint64(m.DeallocCPUID),
		uint64(m.NumMigratedCPU), uint64(m.NumLifetimeOverlaps), uint64(m.NumSameAllocCPU), uint64(m.NumSameDeallocCPU),
		m.DataTypeID, m.TotalAccessDensity, uint64(m.MinAccessDensity), uint64(m.MaxAccessDensity),
		m.TotalLifetimeAccessDensity, uint64(m.MinLifetimeAccessDensity), uint64(m.MaxLifetimeAccessDensity),
		uint64(m.AccessHistogramSize), m.AccessHistogram,
	}
}

func (s *rawHeapPrinter) mib(m *memprof.MIB) {
	s.w.WriteString("      MemInfoBlock:\n")
	for i, v := range mibValues(m) {
		s.number(mibFields[i], v)
	}
	if len(m.Histogram) > 0 {
		s.w.WriteString("        AccessHistogramValues:")
		for _, v := range m.Histogram {
			s.buf = strconv.AppendUint(append(s.buf[:0], ' '), v, 10)
			s.w.Write(s.buf)
		}
		s.w.WriteByte('\n')
	}
}
