package export

import "github.com/profuse-pgo/profuse/profile"

// Names of tables that are no stack sets, beside [profile.FunctionSet].
const (
	edgeSet  = "edges"
	traceSet = "traces"
)

// functionStacks presents the functions of v as stacks of one frame, for viewers that know only stacks.
// The set has those values that the profile knows: "calls"; "block_counts", the sum over the blocks;
// "max_block", the greatest block count; and in profiles without counts "covered" and "covered_blocks",
// the number of blocks that ran. It omits functions that never ran.
func functionStacks(v profile.View) profile.StackSet {
	features := v.Features()
	set := profile.StackSet{Name: profile.FunctionSet, Description: "a function, without its callers"}
	var values []func(*profile.Function) uint64
	add := func(name string, combine profile.Combine, value func(*profile.Function) uint64) {
		set.Values = append(set.Values, profile.ValueType{Name: name, Unit: profile.Count, Combine: combine})
		values = append(values, value)
	}
	if features.Calls && !features.CallsAreCoverage {
		add("calls", profile.Sum, func(f *profile.Function) uint64 { return f.Calls })
	} else if features.Calls || !features.Blocks {
		add("covered", profile.Sum, func(*profile.Function) uint64 { return 1 })
	}
	switch {
	case features.Blocks && features.BlocksAreCoverage:
		add("covered_blocks", profile.Sum, func(f *profile.Function) uint64 { return uint64(f.CoveredBlocks()) })
	case features.Blocks:
		add("block_counts", profile.Sum, func(f *profile.Function) uint64 {
			if len(f.Blocks) == 0 {
				return 0
			}
			return f.Total()
		})
		add("max_block", profile.Max, func(f *profile.Function) uint64 {
			var m uint64
			for _, b := range f.Blocks {
				m = max(m, b.Count)
			}
			return m
		})
	}
	set.ReusedStacks = func(yield func(*profile.Stack) bool) {
		s := profile.Stack{Frames: make([]profile.Frame, 1), Values: make([]uint64, len(values))}
		for f := range profile.ReusedFunctions(v) {
			if !f.Covered {
				continue
			}
			for i, value := range values {
				s.Values[i] = value(f)
			}
			s.Frames[0] = profile.Frame{Symbol: f.Symbol}
			if features.Lines {
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

// edgeStacks presents the calls among the edges of v as stacks of two frames, callee and caller. It
// omits types, sizes, and calls of unknown targets.
func edgeStacks(v profile.View) profile.StackSet {
	features := v.Features()
	return profile.StackSet{
		Name: edgeSet, Description: "a call, without the callers of the caller", Partial: true,
		Values: []profile.ValueType{{Name: "calls", Unit: profile.Count}},
		ReusedStacks: func(yield func(*profile.Stack) bool) {
			s := profile.Stack{Frames: make([]profile.Frame, 2), Values: make([]uint64, 1)}
			for e := range profile.ReusedEdges(v) {
				if e.Kind != profile.Call && e.Kind != profile.IndirectCall || !known(&e.Target) {
					continue
				}
				s.Frames[0] = profile.Frame{Symbol: e.Target}
				s.Frames[1] = profile.Frame{Symbol: e.Caller, Line: e.Line}
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
