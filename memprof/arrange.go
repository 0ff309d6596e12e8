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

// arrangeArrays lays out the frame array and the stack array
// (memprof::computeFrameHistogram, writeMemProfFrameArray and
// CallStackRadixTreeBuilder).
func (s *Section) arrangeArrays() {
	st := &s.p.Stacks
	// Count, for each node of the tree, the whole stacks that lead through it and
	// the sum of their depths: they give how many stacks a frame is on, and at what
	// distance from the leaf.
	through := make([]uint64, len(st.nodes.list)+1)
	depths := make([]uint64, len(st.nodes.list)+1)
	for _, w := range st.whole {
		through[w]++
		depths[w] += uint64(s.depth[w])
	}
	type stat struct{ count, position uint64 }
	stats := make([]stat, len(st.frames))
	for i := len(st.nodes.list); i > 0; i-- {
		n := st.nodes.list[i-1]
		through[n.caller()] += through[i]
		depths[n.caller()] += depths[i]
		f := &stats[n.frame()]
		f.count += through[i]
		f.position += depths[i] - through[i]*uint64(s.depth[i])
	}
	s.order = make([]FrameIndex, len(st.frames))
	for i := range s.order {
		s.order[i] = FrameIndex(i)
	}
	slices.SortFunc(s.order, func(a, b FrameIndex) int {
		return cmp.Or(
			cmp.Compare(stats[b].count, stats[a].count),
			cmp.Compare(stats[a].position, stats[b].position),
			cmp.Compare(s.ids[a], s.ids[b]),
		)
	})
	b := arrayBuilder{s: s, place: make([]uint32, len(st.frames))}
	for i, f := range s.order {
		b.place[f] = uint32(i)
	}
	rank := make([]uint32, len(st.frames))
	ranked := slices.Clone(s.order)
	slices.SortFunc(ranked, func(a, b FrameIndex) int {
		return cmp.Or(cmp.Compare(stats[b].count, stats[a].count), cmp.Compare(s.ids[b], s.ids[a]))
	})
	for i, f := range ranked {
		rank[f] = uint32(i)
	}
	b.tree = st.children(through, rank)
	b.walk()
}

// A callTree is the tree of stacks, rooted at the outermost frames.
type callTree struct {
	first  []uint32 // by stack: its callees are sorted[first[i]:first[i+1]]
	sorted []StackIndex
}

// children returns the tree of the nodes with through above zero. Siblings are sorted
// by the rank of their frames.
func (s *Stacks) children(through []uint64, rank []uint32) callTree {
	first := make([]uint32, len(s.nodes.list)+2)
	for i, n := range s.nodes.list {
		if through[i+1] > 0 {
			first[n.caller()+1]++
		}
	}
	for i := 1; i < len(first); i++ {
		first[i] += first[i-1]
	}
	sorted := make([]StackIndex, first[len(first)-1])
	next := slices.Clone(first)
	for i, n := range s.nodes.list {
		if through[i+1] > 0 {
			sorted[next[n.caller()]] = StackIndex(i + 1)
			next[n.caller()]++
		}
	}
	for i := range len(first) - 1 {
		if group := sorted[first[i]:first[i+1]]; len(group) > 1 {
			slices.SortFunc(group, func(x, y StackIndex) int {
				return cmp.Compare(rank[s.nodes.list[x-1].frame()], rank[s.nodes.list[y-1].frame()])
			})
		}
	}
	return callTree{first, sorted}
}

// An arrayBuilder builds the stack array. LLVM sorts the stacks by their frames from
// the outermost on, rare frames first. From the last stack to the first it appends the
// frames that the stack does not share with its predecessor, outermost first, and
// finally reverses the array. arrayBuilder does the same by walking the tree, without
// comparing stacks.
type arrayBuilder struct {
	s     *Section
	place []uint32 // by frame: index in the frame array
	tree  callTree
}

// walk visits the tree, callees before their callers.
func (b *arrayBuilder) walk() {
	s, st := b.s, &b.s.p.Stacks
	type visit struct {
		node StackIndex
		next uint32 // in sorted
	}
	path := []visit{{0, b.tree.first[0]}}
	var at []uint32 // by depth less one: where in the array the frame of path is
	shared := 0     // how many frames of path are in the array as the last stack's
	s.stackAt = make([]uint32, len(st.nodes.list)+1)
	for len(path) > 0 {
		top := &path[len(path)-1]
		if top.next < b.tree.first[top.node+1] {
			child := b.tree.sorted[top.next]
			top.next++
			path = append(path, visit{child, b.tree.first[child]})
			continue
		}
		depth := len(path) - 1
		if int(top.node) < len(st.marked) && st.marked[top.node] {
			at = at[:shared]
			if shared > 0 {
				s.array = append(s.array, at[shared-1]-uint32(len(s.array)))
			}
			for _, v := range path[shared+1:] {
				at = append(at, uint32(len(s.array)))
				s.array = append(s.array, b.place[st.nodes.list[v.node-1].frame()])
			}
			s.stackAt[top.node] = uint32(len(s.array))
			s.array = append(s.array, uint32(depth))
			shared = depth
		}
		path = path[:depth]
		shared = min(shared, max(depth-1, 0))
	}
	slices.Reverse(s.array)
	for _, w := range st.whole {
		s.stackAt[w] = uint32(len(s.array)) - 1 - s.stackAt[w]
	}
}
