package memprof

import (
	"iter"
	"slices"
)

// A frameIndex is the number of a frame in a [Stacks].
type frameIndex uint32

// StackIndex is the number of a call stack in a [Stacks]. 0 is the empty one.
type StackIndex uint32

// Stacks holds frames and call stacks, each once, numbered in the order in
// which they were added. The zero value is ready to use.
//
// Call stacks form a tree: a stack is a frame and the stack of its callers. Stacks
// share their common outer frames. So memory, and the time of operations on all stacks,
// are proportional to the number of nodes, which is much smaller than the number of frames
// on all stacks. The callers of a node have smaller indices than the node.
type Stacks struct {
	Frames     []Frame // in the order in which they were added
	frameIndex map[Frame]frameIndex

	nodes  numbering[stackNode] // StackIndex i has number i-1
	whole  []StackIndex         // the stacks that addStack returned, each once
	marked []bool               // by StackIndex: whether it is in whole
}

// A stackNode is a frame, in the low 32 bits, and the stack of its callers, which is 0 for the
// outermost frame. If a node follows its callers in the numbering, its upper half is its own number.
type stackNode uint64

func nodeOf(caller StackIndex, f frameIndex) stackNode { return stackNode(caller)<<32 | stackNode(f) }

func (n stackNode) frame() frameIndex  { return frameIndex(n) }
func (n stackNode) caller() StackIndex { return StackIndex(n >> 32) }

// numNodes returns the largest valid index: the number of call stacks and stacks of their callers.
func (s *Stacks) numNodes() int { return len(s.nodes.list) }

// Walk iterates over the frames of a call stack, innermost first.
func (s *Stacks) Walk(i StackIndex) iter.Seq[Frame] {
	return func(yield func(Frame) bool) {
		for f := range s.walk(i) {
			if !yield(s.Frames[f]) {
				return
			}
		}
	}
}

// walk iterates over the indices of the frames of a call stack, innermost first.
func (s *Stacks) walk(i StackIndex) iter.Seq[frameIndex] {
	return func(yield func(frameIndex) bool) {
		for ; i != 0; i = s.nodes.list[i-1].caller() {
			if !yield(s.nodes.list[i-1].frame()) {
				return
			}
		}
	}
}

// addFrame returns the index of f, which it adds if it is new.
func (s *Stacks) addFrame(f Frame) frameIndex {
	if i, ok := s.frameIndex[f]; ok {
		return i
	}
	if s.frameIndex == nil {
		s.frameIndex = make(map[Frame]frameIndex)
	}
	i := frameIndex(len(s.Frames))
	s.Frames = append(s.Frames, f)
	s.frameIndex[f] = i
	return i
}

// addStack returns the index of the call stack with these frames, innermost first, and marks it as whole.
func (s *Stacks) addStack(frames []frameIndex) StackIndex {
	i := StackIndex(0)
	for _, f := range slices.Backward(frames) {
		i = s.push(i, f)
	}
	s.markWhole(i)
	return i
}

// push returns the index of the stack with frame f and its callers, without marking it as whole.
func (s *Stacks) push(caller StackIndex, f frameIndex) StackIndex {
	node := nodeOf(caller, f)
	if caller != 0 && int(caller) == s.numNodes() { // the newest one has no callees
		return StackIndex(s.nodes.append(node) + 1)
	}
	n, _ := s.nodes.add(node)
	return StackIndex(n + 1)
}

// markWhole marks a call stack as one of the profile, as opposed to the callers of another one.
func (s *Stacks) markWhole(i StackIndex) {
	if need := s.numNodes() + 1; need > len(s.marked) {
		s.marked = append(s.marked, make([]bool, max(need-len(s.marked), len(s.marked)))...)
	}
	if !s.marked[i] {
		s.marked[i] = true
		s.whole = append(s.whole, i)
	}
}
