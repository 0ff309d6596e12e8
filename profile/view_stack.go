package profile

import (
	"fmt"
	"iter"
)

// A StackSet is all stacks of one kind, with values of the same meaning.
type StackSet struct {
	// Name is what users ask for it by: "samples", "calls", "allocations".
	Name string
	// Description says in a sentence what a stack stands for, without a full
	// stop.
	Description string
	Values      []ValueType // of Stack.Values, in order; at least one
	// Partial: stacks end where the compiled function begins, not where the
	// thread does. What is summed up over callers then says nothing about
	// those callers.
	Partial bool
	// Temperatures are the limits by which stacks have [LabelTemperature]; nil
	// if they have no such label, or it is not known what it goes by.
	Temperatures *TemperatureLimits
	Stacks       iter.Seq[*Stack]
}

// TemperatureLimits tell the cold and the hot stacks of a heap profile from the
// others. All are about averages over the blocks that a stack allocated.
type TemperatureLimits struct {
	// Default: the limits are those of compilers unless told otherwise.
	Default bool
	// ColdLifetime: cold blocks live at least so many seconds.
	ColdLifetime uint32
	// ColdAccessDensity: cold blocks have fewer accesses per byte and second of
	// life.
	ColdAccessDensity float32
	// HotAccessDensity: hot blocks have more accesses per byte and second of
	// life. Without HasHot there are none, and compilers have this limit only if
	// they are asked for it.
	HotAccessDensity uint32
	HasHot           bool
}

// A ValueType says what a value of a stack means.
type ValueType struct {
	Name string // "alloc_space"
	Unit Unit
	// Combine is how the values of several stacks make one.
	Combine Combine
}

// A Unit is what a value counts. Files may show others than these.
type Unit string

// The units.
const (
	Count        Unit = "count"
	Bytes        Unit = "bytes"
	Milliseconds Unit = "milliseconds"
)

// Combine says how values are brought together.
type Combine int

const (
	Sum Combine = iota // values add up
	Min                // the least counts
	Max                // the greatest counts
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

// A Frame is a place in a function.
type Frame struct {
	Symbol
	// Line of the call, or of what was measured in the innermost frame. Its
	// meaning is HasLines or HasLineOffsets; 0 if unknown under HasLines.
	Line   int32
	Column int32 // from 1; 0 if unknown
	// BCI is the bytecode index under HasBytecodes. Negative ones are
	// placeholders of the JVM.
	BCI int32
	// Inlined: the function is inlined into that of the next frame.
	Inlined bool
}

// Names of the stack sets that [FunctionStacks] and [EdgeStacks] make.
const (
	FunctionSet = "functions"
	EdgeSet     = "edges"
)

// FunctionStacks shows the functions of v as stacks of one frame each, for
// viewers that know only stacks. Its values are those that the profile has:
// "calls", and of the blocks "block_counts", their sum, and "max_block", the
// greatest; where there are no counts "covered" and "covered_blocks", how many
// ran. Functions that never ran are left out.
func FunctionStacks(v View) StackSet {
	values := functionValues(v.Features())
	set := StackSet{Name: FunctionSet, Description: "a function, without its callers"}
	for _, fv := range values {
		set.Values = append(set.Values, fv.ValueType)
	}
	hasLines := v.Features().Has(HasLines)
	set.Stacks = func(yield func(*Stack) bool) {
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

// functionValue is a value of [FunctionStacks].
type functionValue struct {
	ValueType
	of func(*Function) uint64
}

func functionValues(features Features) []functionValue {
	var values []functionValue
	add := func(name string, combine Combine, of func(*Function) uint64) {
		values = append(values, functionValue{ValueType{Name: name, Unit: Count, Combine: combine}, of})
	}
	if features.Has(HasCalls) && !features.Has(CallsAreCoverage) {
		add("calls", Sum, func(f *Function) uint64 { return f.Calls })
	} else if features.Has(HasCalls) || !features.Has(HasBlocks) {
		add("covered", Sum, func(*Function) uint64 { return 1 })
	}
	switch {
	case features.Has(HasBlocks | BlocksAreCoverage):
		add("covered_blocks", Sum, func(f *Function) uint64 { return uint64(f.CoveredBlocks()) })
	case features.Has(HasBlocks):
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

// EdgeStacks shows the calls among the edges of v as stacks of two frames, the
// callee in its caller. Edges to what is unknown are left out, and so are
// types and sizes.
func EdgeStacks(v View) StackSet {
	features := v.Features()
	return StackSet{
		Name: EdgeSet, Description: "a call, without the callers of the caller", Partial: true,
		Values: []ValueType{{Name: "calls", Unit: Count}},
		Stacks: func(yield func(*Stack) bool) {
			s := Stack{Frames: make([]Frame, 2), Values: make([]uint64, 1)}
			for e := range v.Edges() {
				if e.Kind != Call && e.Kind != IndirectCall || e.Target.Name == "" && e.Target.ID == 0 {
					continue
				}
				s.Frames[0] = Frame{Symbol: e.Target}
				s.Frames[1] = Frame{Symbol: e.Caller, Line: e.Line}
				if features.Has(HasBytecodes) {
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
