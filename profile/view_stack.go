package profile

import (
	"fmt"
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

// String returns "sum", "min" or "max".
func (c Combine) String() string {
	switch c {
	case Sum:
		return "sum"
	case Min:
		return "min"
	case Max:
		return "max"
	}
	return fmt.Sprintf("combination %d", int(c))
}

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

// Names of the stack sets that [FunctionStacks] and [EdgeStacks] make.
const (
	FunctionSet = "functions"
	EdgeSet     = "edges"
)

// FunctionStacks presents the functions of v as stacks of one frame, for viewers that know only stacks.
// The set has those values that the profile knows: "calls"; "block_counts", the sum over the blocks;
// "max_block", the greatest block count; and in profiles without counts "covered" and "covered_blocks",
// the number of blocks that ran. It omits functions that never ran.
func FunctionStacks(v View) StackSet {
	values := functionValues(v.Features())
	set := StackSet{Name: FunctionSet, Description: "a function, without its callers"}
	for _, fv := range values {
		set.Values = append(set.Values, fv.ValueType)
	}
	hasLines := v.Features().Lines
	set.ReusedStacks = func(yield func(*Stack) bool) {
		s := Stack{Frames: make([]Frame, 1), Values: make([]uint64, len(values))}
		for f := range ReusedFunctions(v) {
			if !f.Covered {
				continue
			}
			for i, fv := range values {
				s.Values[i] = fv.of(f)
			}
			s.Frames[0] = Frame{Symbol: f.Symbol}
			if hasLines {
				s.Frames[0].Line = f.StartLine
			}
			s.Labels = f.Labels
			if !yield(&s) {
				return
			}
		}
	}
	return set
}

type functionValue struct {
	ValueType
	of func(*Function) uint64
}

func functionValues(features Features) []functionValue {
	var values []functionValue
	add := func(name string, combine Combine, of func(*Function) uint64) {
		values = append(values, functionValue{ValueType{Name: name, Unit: Count, Combine: combine}, of})
	}
	if features.Calls && !features.CallsAreCoverage {
		add("calls", Sum, func(f *Function) uint64 { return f.Calls })
	} else if features.Calls || !features.Blocks {
		add("covered", Sum, func(*Function) uint64 { return 1 })
	}
	switch {
	case features.Blocks && features.BlocksAreCoverage:
		add("covered_blocks", Sum, func(f *Function) uint64 { return uint64(f.CoveredBlocks()) })
	case features.Blocks:
		add("block_counts", Sum, func(f *Function) uint64 {
			if len(f.Blocks) == 0 {
				return 0
			}
			return f.Total()
		})
		add("max_block", Max, func(f *Function) uint64 {
			var m uint64
			for _, b := range f.Blocks {
				m = max(m, b.Count)
			}
			return m
		})
	}
	return values
}

// EdgeStacks presents the calls among the edges of v as stacks of two frames, callee and caller. It
// omits types, sizes, and calls of unknown targets.
func EdgeStacks(v View) StackSet {
	features := v.Features()
	return StackSet{
		Name: EdgeSet, Description: "a call, without the callers of the caller", Partial: true,
		Values: []ValueType{{Name: "calls", Unit: Count}},
		ReusedStacks: func(yield func(*Stack) bool) {
			s := Stack{Frames: make([]Frame, 2), Values: make([]uint64, 1)}
			for e := range ReusedEdges(v) {
				if e.Kind != Call && e.Kind != IndirectCall || e.Target.Name == "" && e.Target.ID == 0 {
					continue
				}
				s.Frames[0] = Frame{Symbol: e.Target}
				s.Frames[1] = Frame{Symbol: e.Caller, Line: e.Line}
				if features.Bytecodes {
					s.Frames[1].BCI = e.Site
				}
				s.Values[0] = e.Count
				if !yield(&s) {
					return
				}
			}
		},
	}
}
