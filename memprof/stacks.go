package memprof

import "iter"

// FrameIndex is the number of a frame in a [Stacks].
type FrameIndex uint32

// StackIndex is the number of a call stack in a [Stacks]. 0 is the empty one.
type StackIndex uint32

// Stacks holds frames and call stacks, each once, numbered in the order in
// which they were added. The zero value is ready to use.
//
// Call stacks form a tree: a stack is a frame and the stack of its callers. Stacks
// share their common outer frames, so memory, and the time of operations on all stacks,
// are proportional to the nodes, of which there are much fewer than frames on all
// stacks. The callers of a node have smaller indices than the node.
type Stacks struct {
	frames     []Frame
	frameIndex map[Frame]FrameIndex

	nodes  []stackNode // of StackIndex i at i-1
	slots  []StackIndex
	seed   hashSeed
	whole  []StackIndex // what AddStack returned, each once
	marked []bool       // by StackIndex: whether it is in whole
}

// stackNode is a frame and its callers.
type stackNode struct {
	frame  FrameIndex
	caller StackIndex // 0 below the outermost frame
}

// NumFrames returns the number of frames.
func (s *Stacks) NumFrames() int { return len(s.frames) }

// numNodes returns the number of call stacks including the callers' stacks of
// each, without the empty one. Valid stack indices are 0 to numNodes.
func (s *Stacks) numNodes() int { return len(s.nodes) }

// Frame returns a frame.
func (s *Stacks) Frame(i FrameIndex) Frame { return s.frames[i] }

// Top returns the innermost frame of a call stack, which must not be empty,
// and the stack of its callers.
func (s *Stacks) Top(i StackIndex) (FrameIndex, StackIndex) {
	n := s.nodes[i-1]
	return n.frame, n.caller
}

// Walk iterates over the frames of a call stack, innermost first.
func (s *Stacks) Walk(i StackIndex) iter.Seq[FrameIndex] {
	return func(yield func(FrameIndex) bool) {
		for ; i != 0; i = s.nodes[i-1].caller {
			if !yield(s.nodes[i-1].frame) {
				return
			}
		}
	}
}

// addFrame returns the index of f, which it adds if it is new.
func (s *Stacks) addFrame(f Frame) FrameIndex {
	if i, ok := s.frameIndex[f]; ok {
		return i
	}
	if s.frameIndex == nil {
		s.frameIndex = make(map[Frame]FrameIndex)
	}
	i := FrameIndex(len(s.frames))
	s.frames = append(s.frames, f)
	s.frameIndex[f] = i
	return i
}

// addStack returns the index of the call stack with these frames, innermost
// first, and notes it as a whole one.
func (s *Stacks) addStack(frames []FrameIndex) StackIndex {
	i := StackIndex(0)
	for k := len(frames) - 1; k >= 0; k-- {
		i = s.push(i, frames[k])
	}
	s.markWhole(i)
	return i
}

// push returns the index of the call stack with frame f called from the given stack,
// without marking it as whole.
func (s *Stacks) push(caller StackIndex, f FrameIndex) StackIndex {
	if len(s.nodes) == cap(s.nodes) {
		s.grow()
	}
	n := stackNode{f, caller}
	slot := s.slot(n)
	for s.slots[slot] != 0 {
		if s.nodes[s.slots[slot]-1] == n {
			return s.slots[slot]
		}
		slot = (slot + 1) & (len(s.slots) - 1)
	}
	s.nodes = append(s.nodes, n)
	s.slots[slot] = StackIndex(len(s.nodes))
	return s.slots[slot]
}

// markWhole marks a call stack as one of the profile, as opposed to the callers of
// another one.
func (s *Stacks) markWhole(i StackIndex) {
	if need := len(s.nodes) + 1; need > len(s.marked) {
		s.marked = append(s.marked, make([]bool, max(need-len(s.marked), len(s.marked)))...)
	}
	if !s.marked[i] {
		s.marked[i] = true
		s.whole = append(s.whole, i)
	}
}

func (s *Stacks) grow() {
	if len(s.slots) == 0 {
		s.seed = newHashSeed()
	}
	s.slots = make([]StackIndex, max(64, 2*len(s.slots)))
	// Nodes fill two thirds of the table. Grow both together: append's smaller
	// steps would leave a multiple of their size as garbage.
	s.nodes = append(make([]stackNode, 0, 2*len(s.slots)/3), s.nodes...)
	for i, n := range s.nodes {
		slot := s.slot(n)
		for s.slots[slot] != 0 {
			slot = (slot + 1) & (len(s.slots) - 1)
		}
		s.slots[slot] = StackIndex(i + 1)
	}
}

// slot returns the slot where the search for n begins.
func (s *Stacks) slot(n stackNode) int {
	return s.seed.hash(uint64(n.caller)<<32|uint64(n.frame)) & (len(s.slots) - 1)
}
