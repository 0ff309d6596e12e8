package perfdata

import (
	"bufio"
	"encoding/hex"
	"io"
	"strconv"
)

// WriteScript reads a recording and writes what "perf script --show-mmap-events -F ip,brstack" of Linux 6.1 prints of
// it, except that addresses in call chains are addresses: perf 5.10 to 6.4 prints offsets in files for user code.
// llvm-profgen reads the text as --perfscript.
func WriteScript(w io.Writer, name string, data []byte, opt Options) (*Facts, error) {
	s := &scriptWriter{w: bufio.NewWriterSize(w, 1<<16)}
	facts, err := Read(name, data, &Handler{
		Begin:   func(f *Facts) error { s.facts = f; return nil },
		Mapping: s.mapping, Sample: s.sample,
	}, opt)
	if flushed := s.w.Flush(); err == nil {
		err = flushed
	}
	return facts, err
}

type scriptWriter struct {
	w     *bufio.Writer
	facts *Facts
	line  []byte
}

func (s *scriptWriter) mapping(m *Mapping) error {
	b := append(s.line[:0], mmap2Word...)
	if m.Old {
		b = append(s.line[:0], mmapWord...)
	}
	b = strconv.AppendInt(b, int64(m.PID), 10)
	b = append(b, '/')
	b = strconv.AppendInt(b, int64(m.TID), 10)
	b = append(b, ": ["...)
	b = appendAddress(b, m.Addr)
	b = append(b, '(')
	b = appendAddress(b, m.Len)
	b = append(b, ") @ "...)
	b = appendAddress(b, m.Offset)
	switch {
	case m.Old:
	case m.BuildID != nil:
		b = append(b, " <"...)
		b = hex.AppendEncode(b, m.BuildID)
		b = append(b, '>')
	default:
		b = append(b, ' ')
		b = appendHex2(b, m.Major)
		b = append(b, ':')
		b = appendHex2(b, m.Minor)
		b = append(b, ' ')
		b = strconv.AppendUint(b, m.Inode, 10)
		b = append(b, ' ')
		b = strconv.AppendUint(b, m.Generation, 10)
	}
	b = append(b, "]: "...)
	if m.Old {
		b = append(b, choose(m.Exec, 'x', 'r'))
	} else {
		b = append(b, choose(m.Prot&1 != 0, 'r', '-'), choose(m.Prot&2 != 0, 'w', '-'), choose(m.Exec, 'x', '-'),
			choose(m.Flags&mapShared != 0, 's', 'p'))
	}
	b = append(b, ' ')
	b = append(b, m.File...)
	s.line = append(b, '\n')
	_, err := s.w.Write(s.line)
	return err
}

func (s *scriptWriter) sample(p *Sample) error {
	b := s.line[:0]
	if p.Count != 1 {
		b = strconv.AppendUint(b, p.Count, 10)
		b = append(b, '\n')
	}
	if s.facts.chains(p) {
		b = append(b, '\n')
		for _, entry := range p.Chain {
			if !IsMarker(entry) {
				b = append(b, '\t')
				b = appendPadded(b, entry)
				b = append(b, '\n')
			}
		}
	} else {
		b = append(b, ' ')
		b = appendPadded(b, p.IP)
	}
	for i := range p.Branches {
		e := &p.Branches[i]
		b = append(b, ' ')
		b = appendBranchAddress(b, e.From)
		b = append(b, '/')
		b = appendBranchAddress(b, e.To)
		mispredicted := choose(e.Flags>>flagMispredicted&1 != 0, 'M', '-')
		b = append(b, '/', choose(e.Flags>>flagPredicted&1 != 0, 'P', mispredicted),
			'/', choose(e.Flags>>flagTransaction&1 != 0, 'X', '-'),
			'/', choose(e.Flags>>flagAborted&1 != 0, 'A', '-'), '/')
		b = strconv.AppendUint(b, e.Flags>>cyclesAt&0xffff, 10)
		b = append(b, '/')
		b = append(b, typeName(e.Flags)...)
		b = append(b, ' ')
	}
	s.line = append(b, '\n')
	_, err := s.w.Write(s.line)
	return err
}

// chains reports whether a sample is printed as a call chain: in a recording, if its event has them.
func (f *Facts) chains(p *Sample) bool {
	return len(p.Chain) > 0 || f.Events[p.Event].SampleType&sampleCallchain != 0
}

func choose(is bool, yes, no byte) byte {
	if is {
		return yes
	}
	return no
}

// appendAddress appends a number as C's %#x does, which prints 0 without 0x.
func appendAddress(b []byte, v uint64) []byte {
	if v != 0 {
		b = append(b, "0x"...)
	}
	return strconv.AppendUint(b, v, 16)
}

func appendBranchAddress(b []byte, v uint64) []byte {
	return strconv.AppendUint(append(b, "0x"...), v, 16)
}

// appendHex2 appends a number as %02x.
func appendHex2(b []byte, v uint32) []byte {
	if v < 16 {
		b = append(b, '0')
	}
	return strconv.AppendUint(b, uint64(v), 16)
}

// appendPadded appends a number as %16x.
func appendPadded(b []byte, v uint64) []byte {
	const width = "                "
	n := 1
	for w := v >> 4; w != 0; w >>= 4 {
		n++
	}
	return strconv.AppendUint(append(b, width[n:]...), v, 16)
}
