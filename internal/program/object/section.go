package object

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/zlibtext"
)

// A compressed section begins with ELF's compression header (W is 8 in 64-bit files and 4 in others),
//
//	u32 ch_type | u32 ch_reserved (64-bit) | W ch_size | W ch_addralign
//
// or, in the older form, is named .zdebug_* and begins with "ZLIB" and the inflated size as a big-endian u64.
const (
	chZlib = 1
	chZstd = 2

	zdebugHeader = 12
)

// An inflated section may be maxRatio times larger than its compressed bytes, the most that deflate
// can reach; a section of more than freeSize inflated bytes may be largeRatio times larger. Debug
// information compresses to between a third and a fifth, and no tool compresses other sections.
const (
	maxRatio   = 1032
	freeSize   = 16 << 20
	largeRatio = 24
)

// Data returns the decompressed contents of the section. Contents that are not
// compressed alias the image and must not be written to.
func (im *Image) Data(s *Section) (b []byte, err error) {
	defer flaw.OfProgram(&err)
	if b, err = im.raw(s); err != nil {
		return nil, err
	}
	switch {
	case s.compressed:
		h, err := im.compression(s, b)
		if err != nil {
			return nil, err
		}
		return im.inflate(s, h, b)
	case len(b) >= zdebugHeader && string(b[:4]) == "ZLIB" && (strings.HasPrefix(s.Name, ".zdebug_") || strings.HasPrefix(s.Name, "__zdebug_")):
		return im.inflate(s, compression{chZlib, binary.BigEndian.Uint64(b[4:]), zdebugHeader}, b)
	}
	return b, nil
}

// A compression is the header of a compressed section.
type compression struct {
	method uint32
	size   uint64 // of the contents, inflated
	header int    // bytes before the compressed contents
}

// compression reads the compression header at the start of b, the section's bytes.
func (im *Image) compression(s *Section, b []byte) (compression, error) {
	c := cursor.New(s.Name, im.FileOffset(s), b, im.Order)
	h := compression{method: c.U32("compression")}
	if im.PtrSize == 8 {
		c.U32("reserved")
	}
	h.size = c.Ptr(im.PtrSize, "inflated size")
	c.Ptr(im.PtrSize, "alignment")
	h.header = c.Pos()
	return h, flaw.InFile(c.Err(), im.Name)
}

// inflate decompresses b, which begins with header h, to exactly h.size bytes.
func (im *Image) inflate(s *Section, h compression, b []byte) ([]byte, error) {
	b, size := b[h.header:], h.size
	at := im.at(s.Name, s.Offset).Field("inflated size").Got(size)
	switch {
	case size > uint64(len(b))*maxRatio:
		return nil, at.Wantf("at most %d times the %d bytes compressed", maxRatio, len(b)).Corrupt()
	case size > freeSize && size > uint64(len(b))*largeRatio:
		return nil, at.Wantf("at most %d MiB, or %d times the %d bytes compressed", freeSize>>20, largeRatio, len(b)).
			Unsupported()
	case size > freeSize && !strings.Contains(s.Name, "debug"):
		return nil, at.Wantf("at most %d MiB of a section without debug information", freeSize>>20).Unsupported()
	}
	damaged := func(found string) error {
		return im.at(s.Name, s.Offset).Field("compressed contents").Got(found).Wantf("%d bytes", size).Corrupt()
	}
	var z io.Reader
	switch h.method {
	case chZlib:
		zr, err := zlib.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, damaged(err.Error())
		}
		z = zr
	case chZstd:
		zr, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(max(1<<20, min(size, 1<<30))))
		if err != nil {
			return nil, damaged(err.Error())
		}
		defer zr.Close()
		z = zr
	default:
		return nil, im.at(s.Name, s.Offset).Field("compression").Got(h.method).Want("1 (zlib) or 2 (zstd)").
			Unsupported()
	}
	out, err := zlibtext.ReadAll(z, size)
	if err != nil {
		return nil, damaged(err.Error())
	}
	if uint64(len(out)) != size {
		return nil, damaged(fmt.Sprintf("%d bytes inflated", len(out)))
	}
	return out, nil
}
