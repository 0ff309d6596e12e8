package sampleprof

import (
	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/llvmerr"
	"github.com/profuse-pgo/profuse/internal/zlibtext"
)

// Sections inflate to at most maxFree bytes, or to maxRatio times their compressed bytes if
// that is more. Real ones take a third to a tenth of their size; what they hold takes up to
// thirty times as much memory.
const (
	maxFree  = 32 << 20
	maxRatio = 20
)

// inflate returns a cursor over the contents of a compressed section:
//
//	compressed = size compressedSize zlib
func inflate(c *cursor.Cursor) *cursor.Cursor {
	at := c.Offset()
	size := c.ULEB("size of the contents")
	n := c.ULEB("compressed size")
	if c.Err() == nil && n > uint64(c.Len()) {
		c.Fail(c.At(at).Field("compressed size").Got(n).Wantf("at most the %d bytes left", c.Len()).
			Because(llvmerr.SampleInflate))
	}
	z := c.Bytes(n, "compressed contents")
	if c.Err() != nil {
		return c
	}
	limit := max(maxFree, maxRatio*uint64(len(z)))
	if size > limit {
		c.Fail(c.At(at).Field("size of the contents").Gotf("%d bytes, from %d compressed", size, len(z)).
			Wantf("at most %d MiB, or %d times the compressed bytes", maxFree>>20, maxRatio).Unsupported())
		return c
	}
	text, err := zlibtext.Inflate(z, size, limit)
	if err != nil {
		c.Fail(c.At(at).Field("compressed contents").Got(err).Wantf("a zlib stream of %d bytes", size).
			Because(llvmerr.SampleInflate))
		return c
	}
	return cursor.New(c.Section, 0, []byte(text), c.Order())
}

// deflate appends a section's contents in compressed form. The bytes differ from those
// of C zlib, what they inflate to does not.
func deflate(dst, contents []byte) []byte {
	if len(contents) == 0 {
		return dst
	}
	z := zlibtext.Deflate(string(contents))
	dst = cursor.AppendULEB(dst, uint64(len(contents)))
	dst = cursor.AppendULEB(dst, uint64(len(z)))
	return append(dst, z...)
}
