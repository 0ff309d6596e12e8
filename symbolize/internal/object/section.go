package object

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/profuse-pgo/profuse/profile"
)

// Compression of sections: ELF's ch_type, and the older form whose section is
// named .zdebug_* and begins with "ZLIB" and the size as 64 bits, big-endian.
const (
	chZlib = 1
	chZstd = 2

	chdr32 = 12 // ch_type, ch_size, ch_addralign: 32 bits each
	chdr64 = 24 // ch_type and padding: 32 bits each; the others 64

	zdebugHeader = 12
)

// A compressed section of up to freeSize bytes may be maxRatio times larger than
// the bytes it is made from, the most that deflate can do; a larger one largeRatio
// times. Debug information compresses to a third or a fifth.
const (
	maxRatio   = 1032
	freeSize   = 64 << 20
	largeRatio = 100
)

// Data returns the contents of the section, decompressed. Without compression
// they are the image's own bytes, and must not be written to.
func (im *Image) Data(s *Section) ([]byte, error) {
	b, err := im.raw(s)
	if err != nil {
		return nil, err
	}
	switch {
	case s.compressed:
		return im.chdrData(s, b)
	case len(b) >= zdebugHeader && string(b[:4]) == "ZLIB" && isZdebug(s.Name):
		return im.inflate(s, chZlib, b[zdebugHeader:], binary.BigEndian.Uint64(b[4:]))
	}
	return b, nil
}

func isZdebug(name string) bool {
	return strings.HasPrefix(name, ".zdebug_") || strings.HasPrefix(name, "__zdebug_")
}

// chdrData decompresses a section that begins with a compression header.
func (im *Image) chdrData(s *Section, b []byte) ([]byte, error) {
	header := chdr64
	if im.PtrSize == 4 {
		header = chdr32
	}
	if len(b) < header {
		return nil, im.fail(s.Name, profile.ErrTruncated, s.Offset, "compression header",
			fmt.Sprintf("%d bytes", len(b)), fmt.Sprintf("%d bytes", header))
	}
	var size uint64
	if im.PtrSize == 4 {
		size = uint64(im.Order.Uint32(b[4:]))
	} else {
		size = im.Order.Uint64(b[8:])
	}
	return im.inflate(s, im.Order.Uint32(b), b[header:], size)
}

// inflate decompresses b to the announced size.
func (im *Image) inflate(s *Section, method uint32, b []byte, size uint64) ([]byte, error) {
	ratio := uint64(maxRatio)
	if size > freeSize {
		ratio = largeRatio
	}
	if size > uint64(len(b))*ratio {
		return nil, im.fail(s.Name, profile.ErrCorrupt, s.Offset, "uncompressed size",
			fmt.Sprint(size), fmt.Sprintf("at most %d times the compressed %d", ratio, len(b)))
	}
	var z io.Reader
	switch method {
	case chZlib:
		zr, err := zlib.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, im.damaged(s, err)
		}
		z = zr
	case chZstd:
		zr, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(max(1<<20, min(size, 1<<30))))
		if err != nil {
			return nil, im.damaged(s, err)
		}
		defer zr.Close()
		z = zr
	default:
		return nil, im.fail(s.Name, profile.ErrUnsupported, s.Offset, "compression",
			fmt.Sprint(method), "1 (zlib) or 2 (zstd)")
	}
	// The buffer grows with what arrives, whatever was announced.
	var out bytes.Buffer
	out.Grow(int(min(size+bytes.MinRead, uint64(len(b))*8, 1<<30)))
	n, err := out.ReadFrom(io.LimitReader(z, int64(size)+1))
	if err != nil {
		return nil, im.damaged(s, err)
	}
	if uint64(n) != size {
		return nil, im.fail(s.Name, profile.ErrCorrupt, s.Offset, "uncompressed data",
			fmt.Sprintf("%d bytes or more", n), fmt.Sprint(size))
	}
	return out.Bytes(), nil
}

func (im *Image) damaged(s *Section, err error) error {
	return im.fail(s.Name, profile.ErrCorrupt, s.Offset, "compressed data", err.Error(), "")
}
