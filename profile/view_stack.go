package profile

import (
	"iter"
	"slices"
)

// A StackSet holds all stacks of one kind, with values of the same meaning.
type StackSet struct {
	Name        string      // the name by which users select the set: "samples", "calls", "allocations"
	Description string      // a sentence, without full stop, that says what a stack stands for
	Values      []ValueType // describe Stack.Values by index; at least one
	// Partial: the outermost frame of a stack is the compiled function, not the start of the thread.
	// Sums over callers then omit the callers beyond it.
	Partial bool
	// Temperatures are the limits that determined [LabelTemperature]; nil if the stacks have no such
	// label or its limits are unknown.
	Temperatures *TemperatureLimits
	// ReusedStacks yields the stacks. The next step overwrites the stack, its slices included: see
	// [StackSet.Stacks].
	ReusedStacks iter.Seq[*Stack]
}

// Stacks yields copies of what ReusedStacks yields, which stay valid.
func (s *StackSet) Stacks() iter.Seq[*Stack] {
	return func(yield func(*Stack) bool) {
		for r := range s.ReusedStacks {
			if !yield(&Stack{slices.Clone(r.Frames), slices.Clone(r.Values), slices.Clone(r.Labels)}) {
				return
			}
		}
	}
}

// TemperatureLimits classify the stacks of a heap profile as cold or hot. They apply to averages over
// the blocks that a stack allocated.
type TemperatureLimits struct {
	Default           bool    // the limits are the compilers' defaults
	ColdLifetime      uint32  // the least lifetime of cold blocks, in seconds
	ColdAccessDensity float32 // cold blocks have fewer accesses per byte and second of lifetime
	// HotAccessDensity: hot blocks have more accesses per byte and second of lifetime. It applies only
	// with HasHot; compilers classify blocks as hot only when an option asks for it.
	HotAccessDensity uint32
	HasHot           bool
}

// A ValueType describes one value of the stacks of a set.
type ValueType struct {
	Name    string // "alloc_space"
	Unit    Unit
	Combine Combine // how to combine the values of several stacks
}

// A Unit is the unit of a value. Files may contain units other than these.
type Unit string

// The units.
const (
	Count        Unit = "count"
	Bytes        Unit = "bytes"
	Milliseconds Unit = "milliseconds"
)

// Combine says how to combine values.
type Combine int

const (
	Sum Combine = iota // values add up
	Min                // the least value wins
	Max                // the greatest value wins
)

// A Stack is a chain of callers with values.
type Stack struct {
	Frames []Frame // the callee first, its caller next
	Values []uint64
	Labels []Label
}

// A Frame is a position in a function.
type Frame struct {
	Symbol
	// Line is the line of the call; in the innermost frame, of the code that was measured. It is a
	// source line with the feature Lines, 0 if unknown, and an offset with LineOffsets.
	Line    int32
	Column  int32 // from 1; 0 if unknown
	BCI     int32 // the bytecode index with the feature Bytecodes. Negative ones are placeholders of the JVM.
	Inlined bool  // the function is inlined into the function of the next frame
}

// FunctionSet is the name of the functions where a table is asked for by name. No set of a view has it.
const FunctionSet = "functions"
