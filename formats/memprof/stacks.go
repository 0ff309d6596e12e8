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

	nodes  numbering[stackNode] // StackIndex i has number i-1
	whole  []StackIndex         // what addStack returned, each once
	marked []bool               // by StackIndex: whether it is in whole
}

// A stackNode is a frame, in the low 32 bits, and the stack of its callers, 0 below the
// outermost frame. The upper half of the node that follows its callers in the numbering is
// its own number there.
type stackNode uint64

func nodeOf(caller StackIndex, f FrameIndex) stackNode { return stackNode(caller)<<32 | stackNode(f) }

func (n stackNode) frame() FrameIndex  { return FrameIndex(n) }
func (n stackNode) caller() StackIndex { return StackIndex(n >> 32) }

// NumFrames returns the number of frames.
func (s *Stacks) NumFrames() int { return len(s.frames) }

// numNodes returns the number of call stacks including the callers' stacks of
// each, without the empty one. Valid stack indices are 0 to numNodes.
func (s *Stacks) numNodes() int { return len(s.nodes.list) }

// Frame returns a frame.
func (s *Stacks) Frame(i FrameIndex) Frame { return s.frames[i] }

// top returns the innermost frame of a call stack, which must not be empty,
// and the stack of its callers.
func (s *Stacks) top(i StackIndex) (FrameIndex, StackIndex) {
	n := s.nodes.list[i-1]
	return n.frame(), n.caller()
}

// Walk iterates over the frames of a call stack, innermost first.
func (s *Stacks) Walk(i StackIndex) iter.Seq[FrameIndex] {
	return func(yield func(FrameIndex) bool) {
		for ; i != 0; i = s.nodes.list[i-1].caller() {
			if !yield(s.nodes.list[i-1].frame()) {
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
	node := nodeOf(caller, f)
	if caller != 0 && int(caller) == s.numNodes() { // the newest one has no callees
		return StackIndex(s.nodes.append(node) + 1)
	}
	n, _ := s.nodes.add(node)
	return StackIndex(n + 1)
}

// markWhole marks a call stack as one of the profile, as opposed to the callers of
// another one.
func (s *Stacks) markWhole(i StackIndex) {
	if need := s.numNodes() + 1; need > len(s.marked) {
		s.marked = append(s.marked, make([]bool, max(need-len(s.marked), len(s.marked)))...)
	}
	if !s.marked[i] {
		s.marked[i] = true
		s.whole = append(s.whole, i)
	}
}
