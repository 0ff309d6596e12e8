package profile

import (
	"iter"
	"strings"
)

// A View shows a profile of any format in the same terms: functions with
// their counts, stacks with values, edges between functions, and the order of
// first calls. What is done with profiles whatever their format, exporting,
// reporting, comparing, is done with views.
//
// A view stands on the format's model in memory and copies nothing of its
// size: it is cheap to make, and iterating twice costs twice. It must not
// outlive a change of the model. The iterators yield one pointer over and over:
// keep a copy of the value (*f), never the pointer. Such a copy of a [Function],
// an [Edge] or a [Trace] stays valid, with its slices. Only the slices of a [Stack]
// are reused, since stacks come by the million: copy those that you keep.
// Order is that of the model and the same every time. Views may be used by
// several goroutines at once.
//
// # What there is
//
// No format has everything. [Features] say which fields mean something;
// the others are zero. Without stacks, edges or traces there is nothing to
// iterate over. What a profile holds and the view has no place for is named in
// [Identity].Omits, so that nothing is lost in silence.
//
// # Offering a view
//
// A format package has a method View on its model, in view.go, that takes what
// the model leaves out (the reader's Info, nil if there is none). It
//
//   - yields one *Function, *Stack, *Edge, *Trace over and over. The slices of a
//     Function and a Trace are never used again. Where names have to be
//     put together, it keeps a table of them by the model's index;
//   - sets the features that hold for the profile at hand, not those that the
//     format could have;
//   - names functions as linkers, debuggers or the virtual machine know them,
//     file prefixes taken off; demangling is left to whoever displays them;
//   - gives values unscaled and unrounded, in the model's units, and invents
//     nothing: no period, no duration, no entry count that is not recorded;
//   - puts the stack set that one would look at first at the front, names sets
//     and values in lower case with underscores, and keeps these names: they
//     are what users type and what exported files say;
//   - has what belongs to one stack of the model as several values of one
//     [Stack], and what the format lists below a stack (a receiver's type, a
//     branch) as a [Stack] each, told apart by a [Label].
type View interface {
	// Identity says what the profile is.
	Identity() Identity
	// Features says what the functions and frames of the profile have.
	Features() Features
	// Functions iterates over all functions that the profile knows, those that
	// never ran included. A name may come several times: for functions local
	// to their files, or, with different hashes, for records of other builds.
	Functions() iter.Seq[*Function]
	// Stacks returns the kinds of stacks, the most important first; nil if the
	// format has none.
	Stacks() []StackSet
	// Edges iterates over what is known of single places in functions, those
	// of one caller together. Edges that agree in everything but the count add
	// up.
	Edges() iter.Seq[*Edge]
	// Traces iterates over orders of first calls.
	Traces() iter.Seq[*Trace]
}

// Identity says what a profile is.
type Identity struct {
	File     string // as it was opened; empty if there is no one file
	Family   string // "IRPGO", "MemProf", "MIP" or "iprof"
	Format   string // kind of file, "indexed", "raw", "YAML"; empty if not from a file
	Version  string // of the format; empty if it has none
	Producer string // what can have written it, "LLVM 19 to 22"; empty if unknown
	// Variant names how the program was instrumented, in the format's words.
	Variant []string
	// BuildIDs are those of the binaries that ran (binary ids), as bytes.
	BuildIDs [][]byte
	// Omits names what the profile holds and the view does not show, as
	// phrases: "MC/DC bitmaps".
	Omits []string
}

// String describes the profile in a line: "IRPGO indexed version 12 (ir), LLVM
// 19 to 22".
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
		s += ", " + id.Producer
	}
	return s
}

// Features is the set of things that the functions and frames of a view have.
type Features uint32

const (
	// HasCalls: Function.Calls is the number of calls. Without it the profile
	// may still have counted, see HasBlocks, but not at the entry.
	HasCalls Features = 1 << iota
	// HasBlocks: Function.Blocks is filled in.
	HasBlocks
	// HasOffsets: Block.Offset is known.
	HasOffsets
	// HasBlockLines: Block.Line is known, where there is one.
	HasBlockLines
	// CallsAreCoverage: Function.Calls is 1 for "ran" and 0 for "did not".
	CallsAreCoverage
	// BlocksAreCoverage: Block.Count is 1 for "ran" and 0 for "did not".
	BlocksAreCoverage
	// HasHashes: Function.Hash is that of the function's control flow.
	HasHashes
	// HasSizes: Function.Size and Function.Address are known.
	HasSizes
	// HasFirstCalls: Function.FirstCall is known of functions that ran.
	HasFirstCalls
	// HasRuns: Function.Runs is known.
	HasRuns
	// HasLines: Frame.Line and Edge.Line are lines of the source file.
	HasLines
	// HasLineOffsets: Frame.Line counts from the function's first line, which
	// is 0.
	HasLineOffsets
	// HasBytecodes: Frame.BCI and Edge.Site are bytecode indexes, and functions
	// are methods of the JVM, with its names.
	HasBytecodes
	// HasEdges: there may be edges.
	HasEdges
	// HasTraces: there may be traces.
	HasTraces

	numFeatures = iota
)

var featureNames = [numFeatures]string{
	"calls", "blocks", "block_offsets", "block_lines", "calls_are_coverage", "blocks_are_coverage", "hashes", "sizes", "first_calls", "runs",
	"lines", "line_offsets", "bytecode_indexes", "edges", "traces",
}

// Has reports whether all features of g are there.
func (f Features) Has(g Features) bool { return f&g == g }

// Names returns the names of the features, in a fixed order.
func (f Features) Names() []string {
	var names []string
	for i, name := range featureNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// ReusedFunctions iterates as v.Functions does, faster where the format can: the
// blocks of a function are overwritten at the next step.
func ReusedFunctions(v View) iter.Seq[*Function] {
	if r, ok := v.(interface{ ReusedFunctions() iter.Seq[*Function] }); ok {
		return r.ReusedFunctions()
	}
	return v.Functions()
}
