package profile

import (
	"fmt"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

// A Symbol names a function or, in some frames and edges, a type or virtual table. Symbols are
// comparable: throughout a view equal symbols mean the same function.
type Symbol struct {
	// Name is the name that linkers or the virtual machine use: "_ZN1A1fEv", "java.util.HashMap.get".
	// Empty if only the ID is known.
	Name string
	// Signature distinguishes functions of one name: the JVM's method descriptor,
	// "(Ljava/lang/Object;)V". Empty for other functions.
	Signature string
	// File is the source file; empty if unknown. IRPGO profiles record it only for functions local to their files.
	File      string
	StartLine int32 // the line of File on which the function begins; 0 if unknown
	// ID is the format's identifier of the function, usually a hash of its name (name reference, GUID,
	// signature); 0 if the format has none that is valid outside the file.
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

// A Label is an additional property of a function or a stack. Each key occurs at most once.
type Label struct{ Key, Value string }

// Keys of labels with a meaning for several formats. Formats define others, such as "type", the type of
// a receiver, lock or checked object, and "instrumentation", "context-sensitive" if the counters were
// placed after inlining.
const (
	LabelTemperature = "temperature" // "hot", "warm", "notcold" or "cold", as the compiler will classify it
	LabelBranch      = "branch"      // a way that the program took at a branch
)

// A Function holds the counts of one function. The [Features] of the view say which fields are set.
type Function struct {
	Symbol
	Hash    uint64 // of the control flow
	Calls   uint64 // the number of calls, 0 or 1 if the features include CallsAreCoverage
	Covered bool   // it ran at least once
	Runs    uint64 // the number of merged profiles in which it ran
	// FirstCall is the mean rank of its first call among the first calls of all functions, from 1; 0 if
	// it never ran.
	FirstCall float64
	Address   int64  // the start address. Only differences of addresses are meaningful.
	Size      uint64 // bytes of machine code
	// Blocks are the instrumented blocks, edges or regions with a known count, in the format's order.
	// Formats differ in whether the entry block is among them.
	Blocks []Block
	Labels []Label
}

// A Block is an instrumented block, edge or region of a function.
type Block struct {
	Count  uint64 // 0 or 1 if the features include BlocksAreCoverage
	Offset uint32 // bytes from the function's start
	Line   uint32 // in the function's file; 0 if unknown
}

// Max returns the greatest count of the function, calls included. It measures how hot the function is,
// whether the format counts calls, blocks or both.
func (f *Function) Max() uint64 {
	m := f.Calls
	for _, b := range f.Blocks {
		m = max(m, b.Count)
	}
	return m
}

// Total returns the sum of the block counts, or the calls of a function without blocks. It saturates at 2^64-1.
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

// CoveredBlocks returns the number of blocks that ran.
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

// String returns the name that exported files use: "indirect_call".
func (k EdgeKind) String() string {
	if k > 0 && int(k) < len(edgeKindNames) {
		return edgeKindNames[k]
	}
	return fmt.Sprintf("edge kind %d", int(k))
}

// An Edge is one target, type or size observed at one site in a function, with its count.
type Edge struct {
	Kind   EdgeKind
	Caller Symbol
	Hash   uint64 // the hash of the caller's control flow, which is part of the caller's identity
	// Site is the bytecode index if the features include Bytecodes, otherwise the index among the
	// caller's sites of this kind.
	Site int32
	Line int32 // source line of the site; 0 if unknown
	// Target is the function called or the type met. Without name and ID it stands for targets that the
	// profile does not name.
	Target Symbol
	Size   uint64 // bytes, or the lower bound of a range; MemOpSize only
	Count  uint64
}

// A Trace is an order of first calls.
type Trace struct {
	Weight uint64 // how often it counts; at least 1
	// Mean: the order was computed from the mean ranks of several runs; otherwise it is the order of one run.
	Mean      bool
	Functions []Symbol // in the order of their first calls
}
