package sampleprof

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// sampleBlock is the type of the blocks with samples of branches (LBR). It is the only type so far.
const sampleBlock = 0

// Blocks are the blocks of one type in the functions of a composite profile, inlined functions included.
// LLVM plans types besides 0, the samples of a function, for counts of other events.
type Blocks struct {
	Type  uint64
	Count int
	Size  uint64 // in bytes
}

// Blocks returns what blocks the functions of a composite profile have, by type; none for other profiles.
func (p *Profile) Blocks() []Blocks {
	all := make([]Blocks, 0, len(p.blocks))
	for _, b := range p.blocks {
		all = append(all, *b)
	}
	slices.SortFunc(all, func(a, b Blocks) int { return cmp.Compare(a.Type, b.Type) })
	return all
}

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
		r.p.addBlock(kind, size)
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

func (p *Profile) addBlock(kind, size uint64) {
	b := p.blocks[kind]
	if b == nil {
		if p.blocks == nil {
			p.blocks = make(map[uint64]*Blocks)
		}
		b = &Blocks{Type: kind}
		p.blocks[kind] = b
	}
	b.Count++
	b.Size += size
}

// checkBlocks returns a remark on blocks that readers skip, and that a profile loses when it is written.
func (p *Profile) checkBlocks() []error {
	var skipped Blocks
	types := slices.Sorted(maps.Keys(p.blocks))
	types = slices.DeleteFunc(types, func(kind uint64) bool { return kind == sampleBlock })
	for _, kind := range types {
		skipped.Count += p.blocks[kind].Count
		skipped.Size += p.blocks[kind].Size
	}
	if len(types) == 0 {
		return nil
	}
	which := fmt.Sprintf("type %d", types[0])
	if n := len(types); n > 1 {
		which = fmt.Sprintf("%d types, such as %d", n, types[0])
	}
	return []error{flaw.In(compositeSection.String()).Field("blocks").Gotf("%d of %s, with %d bytes", skipped.Count, which, skipped.Size).
		Wantf("type %d alone, which this release of profuse knows: it leaves out the others", sampleBlock).Remark()}
}
