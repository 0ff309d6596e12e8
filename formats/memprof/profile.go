package memprof

import "github.com/profuse-pgo/profuse/internal/llvm/guid"

func guidOf(name string) uint64 { return guid.Of(guid.Canonical(name)) }

// Frame is one level of a call stack, inlined calls being levels of their own.
type Frame struct {
	// GUID identifies the function: the first eight bytes, read as little-endian, of the
	// MD5 of its canonical linkage name.
	GUID       uint64
	LineOffset uint32 // line minus the line of the function's declaration, modulo 2^32
	Column     uint32 // 0 if unknown
	Inline     bool   // the function is inlined into the function of the next frame (IsInlineFrame)
}

// An AllocSite is an allocation context in the record of a function: the call stack and
// the measurements of its blocks. A context is recorded in the function that allocates
// and, if that is inlined, in all functions it is inlined into.
type AllocSite struct {
	Stack StackIndex // from the allocation to the outermost caller
	// MIB is an index in Profile.MIBs. The sites of one context, in the functions of
	// its inlined frames, may share a MIB.
	MIB uint32
}

// CallSite is a call in a function that is part of some context, but not its allocation.
type CallSite struct {
	Stack StackIndex // the inlined frames at the call, innermost first
	// Callees are the functions called there (CalleeGuids), distinct; known
	// only from section version 4 and YAML.
	Callees []uint64
}

// A Record holds the allocation and call sites of one function.
type Record struct {
	GUID       uint64
	AllocSites []AllocSite
	CallSites  []CallSite
}

// A Profile is a symbolized heap profile in memory, independent of versions. Records are in the order
// in which their functions first occurred; a profile from a file keeps the file's order.
type Profile struct {
	Stacks  Stacks // frames and call stacks, each once
	MIBs    []MIB
	Records []Record // of distinct functions
	// DataAccess is nil if the profile has no data-access profile.
	DataAccess *DataAccess
	// Names has the canonical linkage names of functions by GUID, where known.
	// Indexed files and YAML do not contain names.
	Names map[uint64]string
	// Sources has the source lines where functions begin, by GUID, where known. The
	// line is 0 if only the file is known. Names and Sources are set together.
	Sources map[uint64]SourceLocation

	// bucketOrder: records, frames and stacks are in the order of hash tables, which writing restores.
	bucketOrder bool
	summary     *Summary // as the file stores it; nil without one
}

// Empty reports whether the profile has no data; a nil profile is empty.
func (p *Profile) Empty() bool { return p == nil || len(p.Records) == 0 && p.DataAccess.empty() }

// DataAccess is a profile of accesses to static data (memprof::DataAccessProfData).
type DataAccess struct {
	Records []DataAccessRecord // of distinct symbols and hashes, in order of first appearance
	// ColdSymbols and ColdHashes are symbols, and hashes of the contents of
	// string literals, known not to be accessed. Their elements are distinct.
	ColdSymbols []string
	ColdHashes  []uint64
}

// empty reports whether the profile has no data; a nil profile is empty.
func (d *DataAccess) empty() bool {
	return d == nil || len(d.Records) == 0 && len(d.ColdSymbols) == 0 && len(d.ColdHashes) == 0
}

// A DataAccessRecord holds the samples of one symbol or string literal.
type DataAccessRecord struct {
	Symbol      string // canonical name; empty for a string literal
	Hash        uint64 // of the contents of a string literal; 0 for a symbol
	AccessCount uint64 // samples
	Locations   []SourceLocation
}

// A SourceLocation is the source line where data is defined or a function begins.
type SourceLocation struct {
	File string
	Line uint32
}
