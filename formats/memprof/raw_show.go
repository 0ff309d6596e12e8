package memprof

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

// WriteRawShow writes the output of "llvm-profdata show --memory" of LLVM 22 for a raw
// profile: a summary, the segments, and every record with the measurements of its
// contexts. p and about are the results of symbolizing raw with LLVMCompat and
// KeepNames.
func WriteRawShow(w io.Writer, raw *RawProfile, p *Profile, about *Coverage) error {
	s := rawShow{p: p, w: bufio.NewWriterSize(w, 1<<16)}
	s.w.WriteString(p.showSummary())
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
`, raw.Version(), len(raw.Segments), sites, functions, about.Contexts-about.Dropped)
	for _, g := range raw.Segments {
		fmt.Fprintf(s.w, "  -\n    BuildId: %s\n    Start: 0x%X\n    End: 0x%X\n    Offset: 0x%X\n", llvmID(g.BuildID), g.Start, g.End, g.Offset)
	}
	s.w.WriteString("  Records:\n")
	for i := range p.Records {
		s.record(&p.Records[i])
	}
	return s.w.Flush()
}

// llvmID prints a build id as llvm-profdata does.
func llvmID(id []byte) string {
	if len(id) == 0 {
		return "<None>"
	}
	return fmt.Sprintf("%x", id)
}

type rawShow struct {
	p   *Profile
	w   *bufio.Writer
	buf []byte
}

func (s *rawShow) number(name string, v uint64) {
	s.buf = append(append(s.buf[:0], "        "...), name...)
	s.buf = strconv.AppendUint(append(s.buf, ": "...), v, 10)
	s.w.Write(append(s.buf, '\n'))
}

func (s *rawShow) record(r *Record) {
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

func (s *rawShow) frame(i FrameIndex) {
	f := s.p.Stacks.Frame(i)
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
	s.number("Inline", uint64(f.inline()))
}

func (s *rawShow) mib(m *MIB) {
	s.w.WriteString("      MemInfoBlock:\n")
	for f := allocCount; f <= accessHistogram; f++ {
		s.number(f.String(), m.get(f))
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
