package profile

import (
	"iter"
	"strings"
)

// A View presents a profile of any format in the same terms: functions with their counts, stacks with
// values, edges between functions, and the order of first calls. Exports, reports and comparisons work
// on views, whatever the format.
//
// A view refers to the format's model in memory and copies none of it: making a view is cheap, and each iteration
// walks the model again. Do not use a view after changing its model. The values that the iterators yield stay
// valid, unless the name of the iterator says that the next step reuses them: [ReusedFunctions], [ReusedEdges],
// [StackSet].ReusedStacks. Every iteration has the order of the model. Several goroutines may use a view at once.
//
// # Features
//
// No format has everything. [Features] say which fields are set; the others are zero. A profile without stacks,
// edges or traces yields none. [Identity].Omits names what the profile holds and a view cannot show.
//
// # Offering a view
//
// In a format package the file view.go declares a method View on the model. It takes what the model
// lacks, the reader's Info, or nil if there is none. The view
//
//   - yields a *Function, an *Edge or a *Trace of its own at every step, but the same *Stack, because a
//     profile may have millions of stacks. Its methods ReusedFunctions and ReusedEdges, if it has them,
//     also yield the same value at every step; [ReusedFunctions] and [ReusedEdges] call them. If names
//     have to be assembled, the view caches them by the model's index;
//   - sets the features of this profile, not all features of the format;
//   - names functions as linkers, debuggers or the virtual machine know them, without file prefixes;
//     whoever displays the names demangles them;
//   - gives values unscaled and unrounded, in the model's units, and invents nothing: no period,
//     duration or entry count that was not recorded;
//   - lists the most important stack set first, names sets and values in lower case with underscores,
//     and never changes these names, because users type them and exported files contain them;
//   - yields several numbers of one stack of the model as several values of one [Stack], and each entry
//     that the format lists below a stack (a receiver's type, a branch) as a [Stack] of its own with a
//     [Label].
type View interface {
	// Identity returns the profile's file, format and origin.
	Identity() Identity
	// Features says which fields of functions and frames are set.
	Features() Features
	// Functions yields all functions of the profile, including functions that never ran. Names need not
	// be unique: functions local to their files may share a name, and so may records of different builds,
	// with different hashes.
	Functions() iter.Seq[*Function]
	// Stacks returns the stack sets, the most important first; nil if the format has none.
	Stacks() []StackSet
	// Edges yields the counts of single sites in functions, grouped by caller. The counts of edges that
	// differ only in their counts add up.
	Edges() iter.Seq[*Edge]
	// Traces yields the orders of first calls.
	Traces() iter.Seq[*Trace]
}

// Identity says where a profile comes from and in which format it is.
type Identity struct {
	File       string   // path as opened; empty if the profile is not from one file
	Family     string   // a formats.Family: "IRPGO", "MIP" …
	Format     string   // kind of file, "indexed", "raw", "YAML"; empty if not from a file
	Version    string   // of the format; empty if it has none
	Producer   string   // possible producers, "LLVM 19 to 22"; empty if unknown
	ReadableBy string   // what reads it, "LLVM 19 and newer", if that is known and the producer is not
	Variant    []string // how the program was instrumented, in the format's words
	Hashes     string   // kind of the hashes of control flow; empty if the format has one kind or none
	Kind       string   // what was counted, if that varies in the family: the counts of two kinds are not comparable
	BuildIDs   [][]byte // the build ids of the binaries that ran; LLVM calls them binary ids
	Omits      []string // contents of the profile that the view does not show: "MC/DC bitmaps"
}

// String describes the profile on one line: "IRPGO indexed version 12 (ir), LLVM 19 to 22".
func (id *Identity) String() string {
	s := id.Family
	if id.Format != "" {
		s += " " + id.Format
	}
	if id.Version != "" {
		s += " version " + id.Version
	}
	if len(id.Variant) > 0 {
		s += " (" + strings.Join(id.Variant, ", ") + ")"
	}
	if id.Producer != "" {
		s += ", written by " + id.Producer
	}
	if id.ReadableBy != "" {
		s += ", readable by " + id.ReadableBy
	}
	return s
}

// Features says which fields the functions, frames and edges of a view have.
type Features struct {
	// Calls: Function.Calls is the number of calls. A profile without it may have counted blocks, but not entries.
	Calls             bool
	Blocks            bool // Function.Blocks is filled in
	Offsets           bool // Block.Offset is known
	BlockLines        bool // Block.Line is the block's line, or 0 if it has none
	CallsAreCoverage  bool // Function.Calls is 1 for "ran" and 0 for "did not"
	BlocksAreCoverage bool // Block.Count is 1 for "ran" and 0 for "did not"
	Hashes            bool // Function.Hash is the hash of the control flow
	Sizes             bool // Function.Size and Function.Address are known
	FirstCalls        bool // Function.FirstCall is known for functions that ran
	Runs              bool // Function.Runs is known
	Lines             bool // Frame.Line and Edge.Line are lines of the source file
	LineOffsets       bool // Frame.Line is the offset from the function's first line
	// Bytecodes: Frame.BCI and Edge.Site are bytecode indexes, and functions are methods of the JVM,
	// with its names.
	Bytecodes bool
	Edges     bool // the view may yield edges
	Traces    bool // the view may yield traces
}

// Names returns the names of the features that are set, in a fixed order.
func (f Features) Names() []string {
	var names []string
	for _, feature := range []struct {
		set  bool
		name string
	}{
		{f.Calls, "calls"},
		{f.Blocks, "blocks"},
		{f.Offsets, "block_offsets"},
		{f.BlockLines, "block_lines"},
		{f.CallsAreCoverage, "calls_are_coverage"},
		{f.BlocksAreCoverage, "blocks_are_coverage"},
		{f.Hashes, "hashes"},
		{f.Sizes, "sizes"},
		{f.FirstCalls, "first_calls"},
		{f.Runs, "runs"},
		{f.Lines, "lines"},
		{f.LineOffsets, "line_offsets"},
		{f.Bytecodes, "bytecode_indexes"},
		{f.Edges, "edges"},
		{f.Traces, "traces"},
	} {
		if feature.set {
			names = append(names, feature.name)
		}
	}
	return names
}

// ReusedFunctions yields the functions that v.Functions yields, in less time if the format supports it.
// The next step overwrites the function, its Blocks included.
func ReusedFunctions(v View) iter.Seq[*Function] {
	if r, ok := v.(interface{ ReusedFunctions() iter.Seq[*Function] }); ok {
		return r.ReusedFunctions()
	}
	return v.Functions()
}

// ReusedEdges yields the edges that v.Edges yields, in less time if the format supports it. The next
// step overwrites the edge.
func ReusedEdges(v View) iter.Seq[*Edge] {
	if r, ok := v.(interface{ ReusedEdges() iter.Seq[*Edge] }); ok {
		return r.ReusedEdges()
	}
	return v.Edges()
}
