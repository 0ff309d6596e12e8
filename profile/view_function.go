package profile

import (
	"fmt"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

// A Symbol names a function, or what stands for one in a frame or an edge: a
// type, a virtual table. Symbols are comparable: those of one function are
// equal throughout a view.
type Symbol struct {
	// Name is what linkers or the virtual machine call it: "_ZN1A1fEv",
	// "java.util.HashMap.get". Empty if only the ID is known.
	Name string
	// Signature tells functions of one name apart: the method descriptor of
	// the JVM, "(Ljava/lang/Object;)V". Empty elsewhere.
	Signature string
	// File is the source file, as far as it is known. IRPGO knows it of
	// functions local to their files only.
	File string
	// StartLine is the line of File where the function begins; 0 if unknown.
	StartLine int32
	// ID is the format's own identity of the function, mostly made from its
	// name (name reference, GUID, signature); 0 if it has none that means
	// anything outside the file.
	ID uint64
}

// String returns the name, or the ID as "0x…" if there is none.
func (s *Symbol) String() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.ID != 0:
		return fmt.Sprintf("0x%016x", s.ID)
	}
	return "unknown"
}

// A Label says something more of a function or a stack, which has each key at
// most once.
type Label struct{ Key, Value string }

// Keys of labels. Formats may have others.
const (
	// LabelInstrumentation: "context-sensitive" if the counters were placed
	// after inlining.
	LabelInstrumentation = "instrumentation"
	// LabelTemperature: "hot", "warm", "notcold" or "cold", as the compiler
	// will take it.
	LabelTemperature = "temperature"
	// LabelType is the type of a receiver, lock or checked object.
	LabelType = "type"
	// LabelBranch is a way that a branch went.
	LabelBranch = "branch"
)

// A Function is what a profile knows of one function. Which fields are filled
// in the [Features] of the view say.
type Function struct {
	Symbol
	Hash uint64 // of the control flow
	// Calls is the number of calls, 0 or 1 under CallsAreCoverage.
	Calls uint64
	// Covered: it ran at least once.
	Covered bool
	// Runs is the number of profiles merged in which it ran.
	Runs uint64
	// FirstCall is the mean rank of its first call among those of all
	// functions, 1 being the first; 0 if it never ran.
	FirstCall float64
	// Address is where the function starts. Only differences of addresses
	// mean something.
	Address int64
	Size    uint64 // bytes of machine code
	// Blocks are the instrumented blocks, edges or regions in the format's
	// order, those of which nothing is known left out. Whether the entry block
	// is among them is the format's choice.
	Blocks []Block
	Labels []Label
}

// A Block is an instrumented place of a function.
type Block struct {
	Count  uint64 // 0 or 1 under BlocksAreCoverage
	Offset uint32 // bytes from the function's start
	Line   uint32 // in the function's file; 0 if unknown
}

// Max returns the greatest count in the function, calls included: how hot it
// is, whichever the format counts.
func (f *Function) Max() uint64 {
	m := f.Calls
	for _, b := range f.Blocks {
		m = max(m, b.Count)
	}
	return m
}

// Total returns the sum of the block counts, or the calls of a function
// without blocks; it stops at 2^64-1.
func (f *Function) Total() uint64 {
	if len(f.Blocks) == 0 {
		return f.Calls
	}
	var sum uint64
	for _, b := range f.Blocks {
		sum = saturate.Add(sum, b.Count)
	}
	return sum
}

// CoveredBlocks returns how many of the blocks ran.
func (f *Function) CoveredBlocks() int {
	n := 0
	for _, b := range f.Blocks {
		if b.Count > 0 {
			n++
		}
	}
	return n
}

// An EdgeKind says what an edge means.
type EdgeKind int

// The kinds of edges.
const (
	Call         EdgeKind = iota + 1 // the target was called from the site
	IndirectCall                     // the target was called through a pointer or virtually
	Receiver                         // the target is the type or virtual table of the receiver
	TypeCheck                        // the target is the type of the checked object
	MemOpSize                        // Edge.Size is the length of a memory operation
)

var edgeKindNames = [...]string{Call: "call", IndirectCall: "indirect_call", Receiver: "receiver", TypeCheck: "type_check", MemOpSize: "memop_size"}

// String returns a name for files: "indirect_call".
func (k EdgeKind) String() string {
	if k > 0 && int(k) < len(edgeKindNames) {
		return edgeKindNames[k]
	}
	return fmt.Sprintf("edge kind %d", int(k))
}

// An Edge says what was seen at one place in a function, and how often.
type Edge struct {
	Kind   EdgeKind
	Caller Symbol
	// Hash is that of the caller's control flow, which belongs to its identity.
	Hash uint64
	// Site is the place in the caller: the bytecode index if the view
	// HasBytecodes, otherwise the index among the caller's sites of this kind.
	Site int32
	Line int32 // source line of the site; 0 if unknown
	// Target is what was called or met. With neither name nor ID it is known
	// only that it was something else.
	Target Symbol
	Size   uint64 // bytes, or the least of a range; of MemOpSize only
	Count  uint64
}

// A Trace is an order of first calls.
type Trace struct {
	Weight uint64 // how often it counts; at least 1
	// Mean: put together from the mean ranks of several runs. Otherwise it is
	// what happened in one run.
	Mean      bool
	Functions []Symbol // the first to be called first
}
