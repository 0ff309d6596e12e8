package sampleprof

import (
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/llvm/zlibtext"
)

// The sections of a file together inflate to at most maxFree bytes, or maxRatio times the file
// size up to maxDense bytes, or maxDenseRatio times the file size, whichever is greatest. Real
// sections inflate to three to ten times their size, and take up to thirty times that in memory.
const (
	maxFree       = 8 << 20
	maxRatio      = 20
	maxDense      = 32 << 20
	maxDenseRatio = 6
)

// maxInflated returns how many bytes the sections of a file of the given size may inflate to.
func maxInflated(size int) uint64 {
	n := uint64(size)
	return max(maxFree, min(maxRatio*n, maxDense), maxDenseRatio*n)
}

// inflate returns a cursor over the contents of a compressed section:
//
//	compressed = size compressedSize zlib
func (r *binaryReader) inflate(c *cursor.Cursor) *cursor.Cursor {
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
	limit := maxInflated(len(r.data)) - r.inflated
	if size > limit {
		c.Fail(c.At(at).Field("size of the contents").Gotf("%d bytes, from %d compressed", size, len(z)).
			Wantf("at most %d more in a file of %d bytes", limit, len(r.data)).Unsupported())
		return c
	}
	r.inflated += size
	text, err := zlibtext.Inflate(z, size, limit)
	if err != nil {
		c.Fail(c.At(at).Field("compressed contents").Got(err).Wantf("a zlib stream of %d bytes", size).
			Because(llvmerr.SampleInflate))
		return c
	}
	return cursor.New(c.Section, 0, []byte(text), c.Order())
}

// deflate returns the compressed contents of a section, in other bytes than C zlib.
func (c *chunks) deflate() chunks {
	if c.size == 0 {
		return *c
	}
	z := zlibtext.Deflate(string(slices.Concat(append(c.full, c.last)...)))
	dst := cursor.AppendULEB(nil, uint64(c.size))
	dst = cursor.AppendULEB(dst, uint64(len(z)))
	return whole(append(dst, z...))
}
