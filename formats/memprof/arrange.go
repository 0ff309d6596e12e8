package memprof

import (
	"cmp"
	"slices"
)

// depths returns for every stack the number of its frames.
func (s *Stacks) depths() []uint32 {
	out := make([]uint32, len(s.nodes.list)+1)
	for i, n := range s.nodes.list {
		out[i+1] = out[n.caller()] + 1
	}
	return out
}

// arrangeArrays lays out both arrays (computeFrameHistogram, writeMemProfFrameArray, CallStackRadixTreeBuilder).
func (s *Section) arrangeArrays() {
	st := &s.p.Stacks
	// For each node of the tree, count the whole stacks that lead through the node, and sum up their
	// depths. From both follows how many stacks a frame is on, and its distances from the leaf.
	through := make([]uint32, len(st.nodes.list)+1)
	depths := make([]uint64, len(st.nodes.list)+1)
	for _, w := range st.whole {
		through[w]++
		depths[w] += uint64(s.depth[w])
	}
	type stat struct{ count, position uint64 }
	stats := make([]stat, len(st.Frames))
	for i := len(st.nodes.list); i > 0; i-- {
		n := st.nodes.list[i-1]
		through[n.caller()] += through[i]
		depths[n.caller()] += depths[i]
		f := &stats[n.frame()]
		f.count += uint64(through[i])
		f.position += depths[i] - uint64(through[i])*uint64(s.depth[i])
	}
	s.order = upTo[frameIndex](len(st.Frames))
	slices.SortFunc(s.order, func(a, b frameIndex) int {
		return cmp.Or(cmp.Compare(stats[b].count, stats[a].count), cmp.Compare(stats[a].position, stats[b].position),
			cmp.Compare(s.ids[a], s.ids[b]))
	})
	ranked := slices.Clone(s.order)
	slices.SortFunc(ranked, func(a, b frameIndex) int {
		return cmp.Or(cmp.Compare(stats[b].count, stats[a].count), cmp.Compare(s.ids[b], s.ids[a]))
	})
	s.buildArray(inverse(s.order), st.children(through, inverse(ranked)))
}

// inverse returns the index of each frame in order.
func inverse(order []frameIndex) []uint32 {
	out := make([]uint32, len(order))
	for i, f := range order {
		out[f] = uint32(i)
	}
	return out
}

// A callTree is the tree of stacks, rooted at the outermost frames.
type callTree struct {
	first  []uint32 // by stack: its callees are sorted[first[i]:first[i+1]]
	sorted []StackIndex
}

// children returns the tree of the nodes with through above zero, siblings by the rank of their frames.
func (s *Stacks) children(through []uint32, rank []uint32) callTree {
	first := make([]uint32, len(s.nodes.list)+2) // at first the ends of the callees
	for i, n := range s.nodes.list {
		if through[i+1] > 0 {
			first[n.caller()]++
		}
	}
	for i := 1; i < len(first); i++ {
		first[i] += first[i-1]
	}
	t := callTree{first, make([]StackIndex, first[len(first)-1])}
	for i := len(s.nodes.list); i > 0; i-- {
		if through[i] > 0 {
			end := &first[s.nodes.list[i-1].caller()]
			*end--
			t.sorted[*end] = StackIndex(i)
		}
	}
	for i := range s.nodes.list {
		if group := t.callees(StackIndex(i)); len(group) > 1 {
			slices.SortFunc(group, func(x, y StackIndex) int {
				return cmp.Compare(rank[s.nodes.list[x-1].frame()], rank[s.nodes.list[y-1].frame()])
			})
		}
	}
	return t
}

func (t *callTree) callees(i StackIndex) []StackIndex { return t.sorted[t.first[i]:t.first[i+1]] }

// buildArray builds the stack array. LLVM sorts the stacks by their frames from the
// outermost on, rare frames first. From the last stack to the first, it appends the distance
// to the frames that the stack shares with its predecessor, the other frames of the stack,
// outermost first, and the depth of the stack. Finally it reverses the array.
//
// The elements that a node and its callees append follow each other. So buildArray counts
// the elements of each node and puts every element at its final index without comparing
// stacks. frameAt is the index of each frame in the frame array.
func (s *Section) buildArray(frameAt []uint32, tree callTree) {
	st := &s.p.Stacks
	nodes := st.nodes.list
	size := make([]uint32, len(nodes)+1) // the number of elements of each node and its callees
	for i := len(nodes); i >= 0; i-- {
		ends := uint32(len(tree.callees(StackIndex(i)))) // what follows the frame
		if st.isWhole(StackIndex(i)) {
			size[i]++
			ends++
		}
		if i > 0 { // the empty stack has no frame, and none to share
			size[i] += max(ends, 1) // the frame, and distances to it
		}
		if i > 0 && size[i] > 1 { // otherwise it is in no stack
			size[nodes[i-1].caller()] += size[i]
		}
	}
	s.array = make([]uint32, size[0])
	s.stackAt = make([]uint32, len(nodes)+1) // at first where each node's frame is
	next := uint32(0)                        // in the order of appending
	put := func(v uint32) {
		s.array[size[0]-1-next] = v
		next++
	}
	for i := range s.stackAt {
		at := s.stackAt[i]
		if next = at + 1; i == 0 {
			next = 0
		}
		callees := tree.callees(StackIndex(i))
		for k, callee := range callees {
			if k > 0 && i > 0 {
				put(at - next)
			}
			s.stackAt[callee] = next
			start := next
			put(frameAt[nodes[callee-1].frame()])
			next = start + size[callee]
		}
		if st.isWhole(StackIndex(i)) {
			if len(callees) > 0 && i > 0 {
				put(at - next)
			}
			s.stackAt[i] = size[0] - 1 - next
			put(s.depth[i])
		}
	}
}
