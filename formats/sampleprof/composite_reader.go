package sampleprof

import (
	"fmt"
	"maps"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// sampleBlock is the type of the blocks with samples of branches (LBR). It is the only type so far.
const sampleBlock = 0

// readBlocks reads the blocks of a function. It skips types that are not known.
func (r *binaryReader) readBlocks(c *cursor.Cursor, f *Function, top bool) {
	n := r.count(c, 2, "number of blocks")
	var seen map[uint64]bool
	if n > 1 {
		seen = make(map[uint64]bool)
	}
	for ; n > 0 && c.Err() == nil; n-- {
		at := c.Offset()
		kind := c.ULEB("block type")
		if seen[kind] {
			c.Fail(c.At(at).Field("block type").Got(kind).Want("each type once in a function").Corrupt())
		}
		if seen != nil {
			seen[kind] = true
		}
		size := c.ULEB("size of a block")
		start := c.Offset()
		contents := c.Bytes(size, "block")
		if c.Err() != nil {
			return
		}
		r.addBlock(kind, size)
		if kind != sampleBlock {
			continue
		}
		block := r.cursor(c.Section, start, contents)
		block.Record = c.Record
		if top {
			addCount(&f.Head, block.ULEB("head samples"), 1)
		}
		r.readSamples(block, f)
		if block.Err() == nil && block.Len() > 0 {
			block.Fail(block.At(block.Offset()).Field("block").Gotf("%d bytes more", block.Len()).Want("the end of the block").Corrupt())
		}
		c.Fail(block.Err())
	}
}

// blockSum is the number and the bytes of the blocks of one type.
type blockSum struct {
	count int
	size  uint64
}

func (r *binaryReader) addBlock(kind, size uint64) {
	if r.blocks == nil {
		r.blocks = make(map[uint64]blockSum)
	}
	sum := r.blocks[kind]
	r.blocks[kind] = blockSum{sum.count + 1, sum.size + size}
}

// finishBlocks sets the blocks of the profile. It returns a remark on blocks that the reader skipped, and that the
// profile loses when it is written.
func (r *binaryReader) finishBlocks() []error {
	var skipped blockSum
	var types []uint64
	for _, kind := range slices.Sorted(maps.Keys(r.blocks)) {
		sum := r.blocks[kind]
		r.p.Blocks = append(r.p.Blocks, struct {
			Type  uint64
			Count int
			Size  uint64
		}{kind, sum.count, sum.size})
		if kind != sampleBlock {
			types = append(types, kind)
			skipped.count, skipped.size = skipped.count+sum.count, skipped.size+sum.size
		}
	}
	if len(types) == 0 {
		return nil
	}
	which := fmt.Sprintf("type %d", types[0])
	if n := len(types); n > 1 {
		which = fmt.Sprintf("%d types, such as %d", n, types[0])
	}
	return []error{flaw.In(compositeSection.String()).Field("blocks").Gotf("%d of %s, with %d bytes", skipped.count, which, skipped.size).
		Wantf("type %d alone, which this release of profuse knows: it leaves out the others", sampleBlock).Remark()}
}
