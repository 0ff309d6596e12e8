package memprof

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

type rawStack struct {
	off   int64
	depth uint32
}

type stackTable struct {
	stacks []rawStack
	ids    numbering[uint64]
}

func readStacks(c *cursor.Cursor) (stackTable, error) {
	n := c.Count(c.U64("number of stacks"), rawStackHeader, "number of stacks")
	t := stackTable{stacks: make([]rawStack, 0, n)}
	t.ids.expect(n)
	for c.Record = 0; c.Record < n && c.Err() == nil; c.Record++ {
		at := c.Offset()
		id := c.U64("StackId")
		depth := c.Count(c.U64("NumPCs"), 8, "NumPCs")
		c.Skip(8*uint64(depth), "PCs")
		if depth > math.MaxInt32 {
			c.Fail(c.At(at + 8).Field("NumPCs").Got(depth).Want("less than 2^31").Because(llvmerr.HeapMalformed))
		}
		if _, isNew := t.ids.add(id); c.Err() == nil && !isNew {
			c.Fail(c.At(at).Field("StackId").Gotf("%#x again", id).Want("another than before").Because(llvmerr.HeapStacks))
		}
		t.stacks = append(t.stacks, rawStack{at + rawStackHeader, uint32(depth)})
	}
	return t, endSection(c)
}

// find returns the index of the stack with the id, or -1. hint is its usual index, the index of the MIB.
func (t *stackTable) find(hint int, id uint64) int {
	if hint < len(t.stacks) && t.ids.list[hint] == id {
		return hint
	}
	return int(t.ids.find(id))
}

// readMIBs reads the MIBs of a dump and merges them with the MIBs of earlier dumps.
func (r *rawReader) readMIBs(c *cursor.Cursor, version int, t stackTable) (int, error) {
	l := &rawLayouts[version]
	n := c.Count(c.U64("number of MIBs"), 8+l.mib, "number of MIBs")
	r.p.contexts = slices.Grow(r.p.contexts, n)
	r.indexContexts()
	// known is the context of each stack in this dump, plus 1.
	known := make([]int32, len(t.stacks))
	for c.Record = 0; c.Record < n && c.Err() == nil; c.Record++ {
		at := c.Offset()
		id := c.U64("StackId")
		mib := c.Bytes(uint64(l.mib), "MIB")
		if c.Err() == nil && l.bucket > 0 {
			buckets := c.Count(uint64(le.Uint32(mib[histogramSizeAt:])), l.bucket, "AccessHistogramSize")
			c.Skip(uint64(buckets)*uint64(l.bucket), "histogram")
		}
		if c.Err() != nil {
			break
		}
		i := t.find(c.Record, id)
		if i < 0 {
			c.Fail(c.At(at).Field("StackId").Gotf("%#x", id).Want("the id of a stack of the dump").
				Because(&llvmerr.HeapError{Text: fmt.Sprintf(llvmerr.HeapMalformed.Text+": memprof callstack record does not contain id: %d", id), Class: profile.ErrCorrupt}))
			break
		}
		ctx := rawContext{
			id: id, mib: at + 8, layout: uint8(version), merged: -1,
			stack: t.stacks[i].off, depth: t.stacks[i].depth,
		}
		before, ok := known[i]-1, known[i] > 0
		if !ok {
			before, ok = r.index[id]
		}
		if !ok {
			before = int32(len(r.p.contexts))
			r.p.contexts = append(r.p.contexts, ctx)
		} else if err := r.merge(before, &ctx); err != nil {
			c.Fail(c.At(ctx.stack).Field("PCs of the stack").Gotf("others than before for StackId %#x", id).
				Want("the same").Because(err))
			break
		}
		known[i] = before + 1
	}
	return n, endSection(c)
}

// indexContexts indexes the contexts of previous dumps. Most files have one dump and need no index.
func (r *rawReader) indexContexts() {
	if len(r.p.dumps) == 0 {
		return
	}
	if r.index == nil {
		r.index = make(map[uint64]int32, len(r.p.contexts))
	}
	for i := len(r.index); i < len(r.p.contexts); i++ {
		r.index[r.p.contexts[i].id] = int32(i)
	}
}

func (r *rawReader) merge(to int32, ctx *rawContext) error {
	p := r.p
	c := &p.contexts[to]
	if c.depth != ctx.depth || !bytes.Equal(p.pcs(c), p.pcs(ctx)) {
		return llvmerr.HeapStacks
	}
	if c.merged < 0 {
		var m MIB
		p.readMIB(c, &m)
		c.merged = int32(len(p.merged))
		p.merged = append(p.merged, m)
	}
	var later MIB
	p.readMIB(ctx, &later)
	m := &p.merged[c.merged]
	m.keepFields(later.Fields)
	overflow := m.follow(&later)
	if !r.opt.LLVMCompat {
		// The counts of coincidences within later dumps are as valid as those within the first.
		var o overflowing
		m.join(&later, 1, coincidence, &o)
		overflow = overflow || o.happened
	}
	if overflow && r.opt.Overflow != nil {
		r.opt.Overflow(c.id)
	}
	return nil
}

// decodeRawMIB decodes the MIB at the start of b, and the histogram after it. The caller
// has checked that b contains both.
//
// The runtime of raw version 1 leaves DataTypeId uninitialized, so the field counts as
// unknown. By a bug in that runtime its MaxAccessCount is a minimum.
func decodeRawMIB(m *MIB, b []byte, version int) {
	schema := FullSchema
	switch version {
	case 1:
		schema = rawSchema1 &^ (1 << dataTypeID)
	case 2, 3:
		schema = fullSchema16
	}
	*m = MIB{Fields: schema}
	rest := b
	for f := range schema.all() {
		m.put(f, f.read(rest))
		rest = rest[f.size():]
	}
	if l := &rawLayouts[version]; m.AccessHistogramSize > 0 {
		m.Histogram = appendHistogram(nil, b[l.mib:l.mib+int(m.AccessHistogramSize)*l.bucket], l.bucket)
	}
}
