package memprof

import (
	"slices"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmorder"
)

// llvm-profdata visits the frames of a raw profile in the order of a hash map of the stacks.
// This order shows only in section version 2, as the order of frames within a bucket.

// noteStacks records the order in which llvm-profdata adds the stacks of a dump to its map.
func (r *rawReader) noteStacks(t stackTable) {
	p := r.p
	ids := t.ids.list
	if len(p.dumps) == 0 {
		p.stackIDs = ids
		return
	}
	// llvm-profdata first reads a later dump into another map.
	if r.stacksSeen == nil {
		r.stacksSeen = make(map[uint64]bool, len(p.stackIDs))
		for _, id := range p.stackIDs {
			r.stacksSeen[id] = true
		}
	}
	for _, i := range llvmorder.DenseMap(ids, 0, llvmorder.Mixed) {
		if id := ids[i]; !r.stacksSeen[id] {
			r.stacksSeen[id] = true
			p.stackIDs = append(p.stackIDs, id)
		}
	}
}

// llvmOrder returns the contexts in the order in which llvm-profdata symbolizes their stacks.
func (p *RawProfile) llvmOrder() []int32 {
	order := llvmorder.DenseMap(p.stackIDs, 0, llvmorder.Mixed)
	if len(p.dumps) == 1 && len(p.stackIDs) == len(p.contexts) {
		if slices.EqualFunc(p.contexts, p.stackIDs, func(c rawContext, id uint64) bool { return c.id == id }) {
			return order // the runtime writes stacks in the order of MIBs
		}
	}
	byID := make(map[uint64]int32, len(p.contexts))
	for i := range p.contexts {
		byID[p.contexts[i].id] = int32(i)
	}
	out := order[:0]
	for _, i := range order {
		if c, ok := byID[p.stackIDs[i]]; ok {
			out = append(out, c)
		}
	}
	return out
}
