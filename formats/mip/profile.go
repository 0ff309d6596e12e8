package mip

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/profile"
)

// A ProfileType is the set of data that a program was instrumented to record (MIP_PROFILE_TYPE_*).
type ProfileType uint32

const (
	FunctionCoverage  ProfileType = 1 << iota // whether a function ran: one byte per function
	BlockCoverage                             // and one byte per block but the entry
	FunctionTimestamp                         // order of the first calls; with FunctionCallCount only
	FunctionCallCount                         // number of calls; with FunctionTimestamp only
	// ReturnAddress is the callers of functions; with call counts only.
	ReturnAddress

	callGraph = FunctionTimestamp | FunctionCallCount
)

// Has reports whether all bits of b are set.
func (t ProfileType) Has(b ProfileType) bool { return t&b == b }

var profileTypeNames = []struct {
	bit  ProfileType
	name string
}{
	{FunctionCoverage, "Function Coverage"},
	{BlockCoverage, "Block Coverage"},
	{FunctionTimestamp, "Function Timestamp"},
	{FunctionCallCount, "Function Call Count"},
	{ReturnAddress, "Return Address"},
}

// names returns the names of the bits that are set, as YAML spells them.
func (t ProfileType) names() (names []string) {
	for _, n := range profileTypeNames {
		if t.Has(n.bit) {
			names = append(names, n.name)
		}
	}
	return names
}

// String joins the names of the bits that are set, as YAML spells them, with ", ".
func (t ProfileType) String() string { return cmp.Or(strings.Join(t.names(), ", "), "none") }

// check returns an error's wanted value and class if the type does not determine the form of raw records.
func (t ProfileType) check() (want string, class error) {
	mode := t & (FunctionCoverage | callGraph)
	switch {
	case t>>5 != 0:
		return "bits 0x1f only", profile.ErrUnsupported
	case mode == FunctionCoverage || mode == callGraph:
		return "", nil
	case mode&^callGraph == 0 && mode != 0:
		return "timestamps and call counts together", profile.ErrUnsupported
	}
	return "either function coverage or timestamps and call counts", profile.ErrCorrupt
}

// rawEntrySize is the size of a raw record without blocks.
func (t ProfileType) rawEntrySize() uint64 {
	if t.Has(FunctionCoverage) {
		return rawEntryCoverage
	}
	return rawEntryCounts
}

// Block is one basic block of a function, other than the entry block.
type Block struct {
	Offset  uint32 // bytes from the start of the function; 0 for a block without a probe
	Covered bool   // it ran at least once
}

// Function is the profile of one machine function.
type Function struct {
	// Name is the linkage name as in the symbol table; on Mach-O it has the
	// leading underscore. Functions local to their files may share a name.
	Name string
	// RawOffset is where the function's raw record is, in bytes from the start of the raw section, which
	// is also the start of a raw file (RawProfileDataOffset).
	RawOffset uint64
	// Address is the start of the function minus the start of the raw section,
	// usually negative (FunctionStartOffset, Encoded Function Address).
	Address int64
	Size    uint32 // bytes of code
	CFG     uint32 // control flow graph signature, see [CFGSignature]; 0 with at most one block
	// MergeCount is the number of merged raw profiles that have the function called (Raw Profile Count).
	MergeCount uint32
	// CallCount is the number of calls, under function coverage 0 or 1.
	CallCount uint64
	// TimestampSum is the sum over MergeCount raw profiles of the rank of the
	// function's first call (Function Order Sum).
	TimestampSum uint64
	// Blocks are all blocks but the entry. A map may list them without block
	// coverage; then raw records have no bytes for them.
	Blocks []Block
	// CallEdges are the places that the function was called from, sorted by address; see [Profile.Calls].
	CallEdges []CallEdge
}

// Covered reports whether the function was called in any merged raw profile.
func (f *Function) Covered() bool { return f.MergeCount > 0 }

// EntryCovered reports whether the entry block is covered. The entry has no byte of its
// own; it is covered if the function was called.
func (f *Function) EntryCovered() bool { return f.CallCount > 0 || f.MergeCount > 0 }

// signature identifies the function by its name (FunctionSignature).
func (f *Function) signature() uint64 { return guid.Of(f.Name) }

// A Profile is a MIP profile in memory, independent of generation and layout.
type Profile struct {
	Type       ProfileType
	ModuleHash uint32     // of the name of the link unit; connects raw files, maps and profiles
	Functions  []Function // in the order of the map, which is link order
	// Flip is the probability with which each function's coverage was flipped, a multiple of 2^-32 and 0
	// for exact coverage; Files counts the raw profiles of private coverage. See [Profile.Estimate].
	Flip  float64
	Files uint64
}

// rawEnd returns the offset just after the function's raw record.
func (f *Function) rawEnd(t ProfileType) uint64 {
	end := f.RawOffset + t.rawEntrySize()
	if t.Has(BlockCoverage) {
		end += uint64(len(f.Blocks))
	}
	return end
}

// validate checks that the formats can hold the profile. Readers return valid profiles.
func (p *Profile) validate() error {
	if want, class := p.Type.check(); class != nil {
		return flaw.In("header").Field("ProfileType").Gotf("%#x", uint32(p.Type)).Want(want).Because(class)
	}
	for i := range p.Functions {
		f := &p.Functions[i]
		switch {
		case strings.IndexByte(f.Name, 0) >= 0:
			return flaw.In("functions").InRecord(i).Field("function name").Gotf("%q", f.Name).Want("no zero byte").Corrupt()
		case f.RawOffset < headerSizeA || f.RawOffset >= rawOffsetLimit:
			return flaw.In("functions").InRecord(i).Field("raw offset").Gotf("%#x", f.RawOffset).
				Want(rawOffsetWant(headerSizeA)).Corrupt()
		case uint64(len(f.Blocks)) > math.MaxUint32:
			return flaw.In("functions").InRecord(i).Field("number of blocks").Got(len(f.Blocks)).
				Want("at most 2^32-1").Corrupt()
		}
		if err := f.checkEdges(i); err != nil {
			return err
		}
	}
	return nil
}

func rawOffsetWant(header uint64) string {
	return fmt.Sprintf("at least %#x, the header's size, and less than %#x", header, uint64(rawOffsetLimit))
}

func (p *Profile) clone() *Profile {
	n := 0
	for i := range p.Functions {
		n += len(p.Functions[i].Blocks)
	}
	c := *p
	c.Functions = make([]Function, len(p.Functions))
	blocks := make([]Block, 0, n)
	for i := range p.Functions {
		c.Functions[i] = p.Functions[i].clone(&blocks)
	}
	return &c
}

// clone copies f, with its blocks appended to arena. The arena must have room for
// them: earlier clones refer to its memory.
func (f *Function) clone(arena *[]Block) Function {
	c := *f
	c.Blocks = nil
	c.CallEdges = append([]CallEdge(nil), f.CallEdges...)
	if len(f.Blocks) > 0 {
		at := len(*arena)
		*arena = append(*arena, f.Blocks...)
		c.Blocks = (*arena)[at:len(*arena):len(*arena)]
	}
	return c
}
