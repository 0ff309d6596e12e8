package mip

import (
	"io"
	"math"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// mapOptions adjust [appendMap]. The zero value is right for most uses.
type mapOptions struct {
	// PointerSize is the width of the target's addresses in bytes, 4 or 8; 0 means 8.
	PointerSize int
	// RawSectionOffset is the address of the raw section less that of the
	// map. Any value describes the same functions.
	RawSectionOffset int64
}

// writeMap writes the functions of p as a .mipmap of generation B. Counts are not part of a map.
func writeMap(w io.Writer, p *Profile, opt mapOptions) error {
	return writeAppended(w, p, opt, appendMap)
}

// appendMap appends to dst what [writeMap] writes.
func appendMap(dst []byte, p *Profile, opt mapOptions) ([]byte, error) {
	ptr, err := pointerSize(opt.PointerSize)
	if err != nil {
		return dst, err
	}
	if err := checkMap(p, ptr, opt); err != nil {
		return dst, err
	}
	start := len(dst)
	dst = appendHeaderOf(dst, fileTypeBMap, ptr, p, opt.RawSectionOffset)
	for i := range p.Functions {
		f := &p.Functions[i]
		dst = append(dst, make([]byte, cursor.PadTo(uint64(len(dst)-start), uint64(ptr)))...)
		section := opt.RawSectionOffset - int64(len(dst)-start)
		dst = appendAddress(dst, int64(f.RawOffset)+section, ptr)
		dst = appendAddress(dst, f.Address+section, ptr)
		dst = le.AppendUint32(dst, f.Size)
		dst = le.AppendUint32(dst, f.CFG)
		dst = le.AppendUint32(dst, uint32(len(f.Blocks)))
		for _, b := range f.Blocks {
			dst = le.AppendUint32(dst, b.Offset)
		}
		dst = le.AppendUint32(dst, uint32(len(f.Name)))
		dst = append(dst, f.Name...)
	}
	return dst, nil
}

func appendAddress(dst []byte, v int64, ptr int) []byte {
	if ptr == 4 {
		return le.AppendUint32(dst, uint32(v))
	}
	return le.AppendUint64(dst, uint64(v))
}

func checkMap(p *Profile, ptr int, opt mapOptions) error {
	if err := p.validate(); err != nil || ptr == 8 {
		return err
	}
	if o := opt.RawSectionOffset; o < math.MinInt32 || o > math.MaxInt32 {
		return flaw.In("options").Field("RawSectionOffset").Gotf("%#x", o).Want("32 bits for 32-bit targets").
			Unsupported()
	}
	return p.checkNarrow("function address", "32 bits for 32-bit targets")
}
