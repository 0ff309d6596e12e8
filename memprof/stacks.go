package memprof

import (
	"hash/maphash"
	"slices"
)

// FrameIndex is the number of a frame in a [Stacks].
type FrameIndex uint32

// StackIndex is the number of a call stack in a [Stacks].
type StackIndex uint32

// Stacks holds frames and call stacks, each once, numbered in the order in
// which they were added. The zero value is empty and ready to use.
type Stacks struct {
	frames     []Frame
	frameIndex map[Frame]FrameIndex

	arena []FrameIndex // all stacks one after the other, leaf first
	ends  []int        // by stack: its end in arena
	seed  maphash.Seed
	slots []StackIndex // open hash table of stacks: index + 1, 0 if empty
}

// NumFrames returns the number of frames.
func (s *Stacks) NumFrames() int { return len(s.frames) }

// NumStacks returns the number of call stacks.
func (s *Stacks) NumStacks() int { return len(s.ends) }

// Frame returns a frame.
func (s *Stacks) Frame(i FrameIndex) Frame { return s.frames[i] }

// Stack returns the frames of a call stack, leaf first. The slice must not be
// changed.
func (s *Stacks) Stack(i StackIndex) []FrameIndex {
	start := 0
	if i > 0 {
		start = s.ends[i-1]
	}
	return s.arena[start:s.ends[i]:s.ends[i]]
}

// AddFrame returns the index of f, which it adds if it is new.
func (s *Stacks) AddFrame(f Frame) FrameIndex {
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

// AddStack returns the index of the call stack with these frames, leaf first,
// which it copies and adds if it is new.
func (s *Stacks) AddStack(stack []FrameIndex) StackIndex {
	if 2*(len(s.ends)+1) > len(s.slots) {
		s.grow()
	}
	slot := s.find(stack)
	if i := s.slots[slot]; i != 0 {
		return i - 1
	}
	s.arena = append(s.arena, stack...)
	s.ends = append(s.ends, len(s.arena))
	s.slots[slot] = StackIndex(len(s.ends))
	return StackIndex(len(s.ends) - 1)
}

// find returns the slot where the stack is or belongs.
func (s *Stacks) find(stack []FrameIndex) int {
	mask := len(s.slots) - 1
	slot := int(s.hash(stack)) & mask
	for s.slots[slot] != 0 && !slices.Equal(s.Stack(s.slots[slot]-1), stack) {
		slot = (slot + 1) & mask
	}
	return slot
}

func (s *Stacks) grow() {
	if len(s.slots) == 0 {
		s.seed = maphash.MakeSeed()
	}
	s.slots = make([]StackIndex, max(64, 2*len(s.slots)))
	for i := range s.ends {
		s.slots[s.find(s.Stack(StackIndex(i)))] = StackIndex(i + 1)
	}
}

// hash mixes word by word: the seed keeps a hostile profile from choosing
// stacks that collide.
func (s *Stacks) hash(stack []FrameIndex) uint64 {
	h := maphash.Comparable(s.seed, len(stack))
	k := h | 1
	for _, f := range stack {
		h = (h ^ uint64(f)) * k
		h ^= h >> 29
	}
	return h
}
