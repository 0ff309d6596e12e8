package memprof

// The order in which llvm-profdata comes across the frames of a raw profile is
// that of a hash map of its stacks. It shows in section version 2 only, where
// the frames of a bucket stand in that order.

// denseOrder returns the indexes of distinct keys in the order in which a
// DenseMap<uint64_t, …> of LLVM 19 or later has them, into which they were
// inserted one by one.
func denseOrder(keys []uint64) []int32 {
	const first = 64 // buckets, once there are any
	table := make([]int32, first)
	insert := func(i int32) {
		h := keys[i] * 0xbf58476d1ce4e5b9
		slot := uint32(h^h>>31) & uint32(len(table)-1)
		for step := uint32(1); table[slot] != 0; step++ {
			slot = (slot + step) & uint32(len(table)-1)
		}
		table[slot] = i + 1
	}
	for i := range keys {
		if 4*(i+1) >= 3*len(table) {
			old := table
			table = make([]int32, 2*len(table))
			for _, o := range old {
				if o != 0 {
					insert(o - 1)
				}
			}
		}
		insert(int32(i))
	}
	out := make([]int32, 0, len(keys))
	for _, i := range table {
		if i != 0 {
			out = append(out, i-1)
		}
	}
	return out
}

// noteStacks notes the order in which llvm-profdata adds the stacks of a dump
// to its map.
func (r *rawReader) noteStacks(t stackTable) {
	p := r.p
	ids := t.ids.list
	if len(p.Dumps) == 0 {
		p.stackIDs = ids
		return
	}
	// The stacks of a later dump have been in a map of their own.
	if r.stacksSeen == nil {
		r.stacksSeen = make(map[uint64]bool, len(p.stackIDs))
		for _, id := range p.stackIDs {
			r.stacksSeen[id] = true
		}
	}
	for _, i := range denseOrder(ids) {
		if id := ids[i]; !r.stacksSeen[id] {
			r.stacksSeen[id] = true
			p.stackIDs = append(p.stackIDs, id)
		}
	}
}

// llvmOrder returns the contexts in the order in which llvm-profdata
// symbolizes their stacks.
func (p *RawProfile) llvmOrder() []int32 {
	order := denseOrder(p.stackIDs)
	if len(p.Dumps) == 1 && len(p.stackIDs) == len(p.contexts) {
		same := true
		for i := range p.contexts {
			same = same && p.contexts[i].id == p.stackIDs[i]
		}
		if same {
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
