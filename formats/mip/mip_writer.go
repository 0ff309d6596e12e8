package mip

import (
	"bufio"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// WriteOptions adjust [WriteMIP] and [WriteYAML]. The zero value writes what llvm-mipdata of
// generation B writes.
type WriteOptions struct {
	// DocumentLayout writes the records and names of a .mip as in the document: 32-bit
	// offsets, and names preceded by their length.
	DocumentLayout bool
	// SourceInfo, if not nil, holds the sources of the functions, by index, which "mip2yaml --debug" adds
	// to YAML: Name as debug information spells it, File and StartLine. The zero value means unknown.
	SourceInfo []profile.Symbol
}

// WriteMIP writes a .mip of generation B. Functions keep their order.
func WriteMIP(w io.Writer, p *Profile, opt WriteOptions) error {
	l := layoutCode
	if opt.DocumentLayout {
		l = layoutDocument
	}
	if err := checkMIP(p, l); err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	buf := appendHeader(nil, p)
	buf = le.AppendUint64(buf, uint64(len(p.Functions)))
	for i := range p.Functions {
		b.Write(buf) // Flush returns the error
		buf = appendMIPRecord(buf[:0], &p.Functions[i], l)
	}
	b.Write(buf)
	b.Write(appendNames(buf[:0], p, l))
	return b.Flush()
}

// checkMIP returns an error for a profile that the layout cannot hold.
func checkMIP(p *Profile, l mipLayout) error {
	if err := p.validate(); err != nil || l.wide {
		return err
	}
	return p.checkNarrow("FunctionStartOffset", "32 bits in the document's layout")
}

// checkNarrow refuses functions whose distance to the raw section exceeds 32 bits.
func (p *Profile) checkNarrow(field, want string) error {
	for i := range p.Functions {
		if a := p.Functions[i].Address; a < math.MinInt32 || a > math.MaxInt32 {
			return flaw.In("functions").InRecord(i).Field(field).Gotf("%#x", a).Want(want).Unsupported()
		}
	}
	return nil
}

func appendMIPRecord(dst []byte, f *Function, l mipLayout) []byte {
	dst = le.AppendUint64(dst, f.signature())
	if l.wide {
		dst = le.AppendUint64(dst, f.RawOffset)
		dst = le.AppendUint64(dst, uint64(f.Address))
	} else {
		dst = le.AppendUint32(dst, uint32(f.RawOffset))
		dst = le.AppendUint32(dst, uint32(f.Address))
	}
	dst = le.AppendUint32(dst, f.Size)
	dst = le.AppendUint32(dst, f.CFG)
	dst = le.AppendUint32(dst, uint32(len(f.Blocks)))
	dst = le.AppendUint32(dst, f.MergeCount)
	dst = le.AppendUint64(dst, f.CallCount)
	dst = le.AppendUint64(dst, f.TimestampSum)
	for _, b := range f.Blocks {
		dst = le.AppendUint32(dst, b.Offset)
		covered := byte(0)
		if b.Covered {
			covered = 1
		}
		dst = append(dst, covered)
	}
	dst = le.AppendUint32(dst, uint32(len(f.CallEdges)))
	for _, e := range f.CallEdges {
		dst = le.AppendUint32(dst, uint32(e.Source))
		dst = le.AppendUint64(dst, e.Weight)
	}
	return dst
}

func appendNames(dst []byte, p *Profile, l mipLayout) []byte {
	names := make([]string, len(p.Functions))
	for i := range p.Functions {
		names[i] = p.Functions[i].Name
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if l.namesByLength {
		text := strings.Join(names, "\x00")
		if text == "" && len(names) > 0 {
			text = "\x00" // else there would be no name, not an empty one
		}
		dst = le.AppendUint64(dst, uint64(len(text)))
		return append(dst, text...)
	}
	dst = le.AppendUint64(dst, uint64(len(names)))
	for _, n := range names {
		dst = append(dst, n...)
		dst = append(dst, 0)
	}
	return dst
}
