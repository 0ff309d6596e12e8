package irpgo

import (
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/internal/llvm/guid"
)

// Variant is the set of properties that a profile's version word carries in its upper bits (VARIANT_MASK_* of
// LLVM's InstrProfData.inc), plus [FrontEnd], which exists in memory only.
type Variant uint64

const (
	// FrontEnd marks a text profile that says ":fe". Raw and indexed
	// front-end profiles carry no mark: they have none of these bits.
	FrontEnd Variant = 1 << 0
	// device marks profiles of programs for GPUs, which have uniform counters or bits. No file carries the mark.
	device Variant = 1 << 1

	LoopEntries Variant = 1 << 55 // loop entry blocks are instrumented
	IRLevel     Variant = 1 << 56 // instrumented by the IR pass, not by the front end
	ContextSens Variant = 1 << 57 // has context-sensitive (post-inline) records
	EntryFirst  Variant = 1 << 58 // the function entry block is always counted, first
	DebugInfo   Variant = 1 << 59 // raw only: data and names are in the debug info
	SingleByte  Variant = 1 << 60 // counters are coverage bits: 0 or 1
	EntryOnly   Variant = 1 << 61 // one counter per function
	HasMemProf  Variant = 1 << 62 // indexed only: there is a memprof section
	HasTemporal Variant = 1 << 63 // functions have first-call timestamps
	variantBits         = LoopEntries | IRLevel | ContextSens | EntryFirst | DebugInfo | SingleByte | EntryOnly | HasMemProf | HasTemporal
	indexedBits         = variantBits &^ DebugInfo
	csHashBit   uint64  = 1 << 60 // set in the function hash of a context-sensitive record
	versionMask uint64  = 1<<32 - 1
	PseudoHot   uint64  = 1<<64 - 1 // first counter of a function known hot without counts
	PseudoWarm  uint64  = 1<<64 - 2 // first counter of a function known warm without counts
	maxCount    uint64  = 1<<64 - 3 // where merged counters saturate
)

// Has reports whether all bits of b are set.
func (v Variant) Has(b Variant) bool { return v&b == b }

// Kind returns the part of the variant that says what the counters count, with [FrontEnd] if they are not of IR.
// Profiles of two kinds must not be added up: with [EntryFirst] or [LoopEntries] functions have the same names,
// hashes and numbers of counters, but counter i belongs to another block. Compilers read the kind once for the
// whole profile.
func (v Variant) Kind() Variant {
	if v &= IRLevel | SingleByte | EntryOnly | EntryFirst | LoopEntries | device; !v.Has(IRLevel) {
		v |= FrontEnd
	}
	return v
}

var variantNames = []struct {
	bit  Variant
	name string
}{
	{FrontEnd, "front-end"},
	{device, "device"},
	{IRLevel, "ir"},
	{ContextSens, "cs"},
	{EntryFirst, "entry-first"},
	{LoopEntries, "loop-entries"},
	{SingleByte, "single-byte-coverage"},
	{EntryOnly, "function-entry-only"},
	{DebugInfo, "debug-info-correlate"},
	{HasMemProf, "memprof"},
	{HasTemporal, "temporal"},
}

// names returns the short names of the bits that are set, in a fixed order.
func (v Variant) names() []string {
	var out []string
	for _, n := range variantNames {
		if v.Has(n.bit) {
			out = append(out, n.name)
		}
	}
	return out
}

// String returns the short names of the bits that are set, in a fixed order, joined by "+";
// "front-end" if none is set.
func (v Variant) String() string {
	if names := v.names(); len(names) > 0 {
		return strings.Join(names, "+")
	}
	return "front-end"
}

// The kinds of value sites, the indexes of [Record].Values (InstrProfValueKind, IPVK_*).
const (
	IndirectCallTarget = iota // value: NameRef of the callee, 0 if unknown
	MemOPSize                 // value: size in bytes, or the runtime's range for it
	VTableTarget              // value: NameRef of the vtable, 0 if unknown
	NumValueKinds             // how many kinds there are
)

// valueKindNames are LLVM's names of the kinds, as the text format prints them.
var valueKindNames = [NumValueKinds]string{"IPVK_IndirectCallTarget", "IPVK_MemOPSize", "IPVK_VTableTarget"}

// ValueData is one profiled value of a site and how often it was seen.
type ValueData struct {
	Value uint64
	Count uint64
}

// valueSites are the value sites of a record by kind.
type valueSites = [NumValueKinds][][]ValueData

// hasNone reports whether no kind has a site.
func hasNone(v *valueSites) bool {
	return len(v[0]) == 0 && len(v[1]) == 0 && len(v[2]) == 0
}

// Record is the profile of one function as instrumented in one way: its key is (Name, Hash). A name may have
// several hashes (other builds, or a context-sensitive record beside the plain one).
type Record struct {
	Name   string   // PGO name, without a leading \x01
	Hash   uint64   // hash of the function's control flow; bit 60 marks a CS record
	Counts []uint64 // edge or region counters; 0 or 1 each under SingleByte
	Bitmap []byte   // MC/DC test vectors; nil if none
	// Values holds the values seen at each value site, by kind: Values[kind][site]. A file has
	// at most 255 values for a site. The number of sites of a kind is fixed when the function
	// is instrumented; many sites have no values.
	Values [NumValueKinds][][]ValueData
	// Uniformity has a bit for each counter, counter 0 in the lowest bit of byte 0: 1 if nearly all runs of the counted
	// block had all lanes of the wave active. It is nil but for programs for GPUs.
	Uniformity []byte
}

// IsCS reports whether the record comes from context-sensitive instrumentation.
func (r *Record) IsCS() bool { return r.Hash&csHashBit != 0 }

// Pseudo returns PseudoHot or PseudoWarm when the record carries a sample
// profile's verdict instead of counts, and 0 otherwise.
func (r *Record) Pseudo() uint64 { return pseudoKind(r.Counts) }

func pseudoKind(counts []uint64) uint64 {
	if len(counts) > 0 && counts[0] >= PseudoWarm {
		return counts[0]
	}
	return 0
}

// Function is every record of one name.
type Function struct {
	Name string
	// Records in the order in which their hashes first appeared; the writer
	// needs it to reproduce the order of LLVM's hash maps.
	Records []*Record

	seq   uint64 // order of first appearance among the functions of a profile
	refOf string // the name of which ref is the reference
	ref   uint64
}

// nameRef returns the reference of the name, see [NameRef].
func (f *Function) nameRef() uint64 {
	if f.refOf == f.Name && f.Name != "" {
		return f.ref
	}
	return NameRef(f.Name)
}

// Trace is a temporal profile trace: functions in the order of their first call in one run.
type Trace struct {
	Weight   uint64
	NameRefs []uint64
}

// Profile is a whole instrumentation profile in memory, free of any version.
type Profile struct {
	Variant   Variant
	Functions []Function // sorted by Name
	BinaryIDs [][]byte   // sorted, distinct
	// VTableNames is filled only when merging was asked to keep them.
	VTableNames []string
	Traces      []Trace
	// TraceStreamSize is the number of traces seen; Traces is a sample of them.
	TraceStreamSize uint64
	// Symbols has further names beside the names of Functions, to print value targets.
	Symbols *Symtab
	// MemProf is the heap profile that an indexed file carries beside the functions; nil if there is none.
	MemProf *memprof.Profile
}

// NameRef returns the 64-bit identity of a PGO name: the first eight bytes of
// its MD5, read as little-endian (also called its GUID).
func NameRef(name string) uint64 { return guid.Of(name) }

// clone returns a deep copy.
func (r *Record) clone() *Record {
	c := &Record{Name: r.Name, Hash: r.Hash, Counts: slices.Clone(r.Counts), Bitmap: slices.Clone(r.Bitmap), Uniformity: slices.Clone(r.Uniformity)}
	for k, sites := range r.Values {
		c.Values[k] = slices.Clone(sites)
		for i, site := range sites {
			c.Values[k][i] = slices.Clone(site)
		}
	}
	return c
}
