package memprof

import (
	"iter"
	"math/bits"
	"slices"
	"unsafe"
)

// Field is one field of a [MIB], by its number in the file formats (Meta of
// LLVM's MIBEntryDef.inc).
type Field int

// The fields with LLVM's names, in the order of the raw format.
const (
	allocCount Field = iota + 1
	TotalAccessCount
	minAccessCount
	maxAccessCount
	totalSize
	minSize
	maxSize
	allocTimestamp
	deallocTimestamp
	totalLifetime
	minLifetime
	maxLifetime
	allocCPUID
	deallocCPUID
	numMigratedCPU
	numLifetimeOverlaps
	numSameAllocCPU
	numSameDeallocCPU
	dataTypeID
	totalAccessDensity
	minAccessDensity
	maxAccessDensity
	totalLifetimeAccessDensity
	minLifetimeAccessDensity
	maxLifetimeAccessDensity
	accessHistogramSize
	accessHistogram

	// numFields is one more than the largest number of a field.
	numFields = int(accessHistogram) + 1
)

// A rule says how two values of a field become one in a merge.
type rule uint8

const (
	total       rule = 1 << iota // they add up
	coincidence                  // they add up, but not over the dumps of a process
	least
	greatest
	other // see MIB.merge and MIB.follow
)

// fieldTraits describe every field: name and size in bytes as in the formats, its
// place in a MIB, and how it is merged.
var fieldTraits = [numFields]struct {
	name  string
	size  int
	place uintptr
	rule  rule
}{
	allocCount:                 {"AllocCount", 4, unsafe.Offsetof(MIB{}.AllocCount), total},
	TotalAccessCount:           {"TotalAccessCount", 8, unsafe.Offsetof(MIB{}.TotalAccessCount), total},
	minAccessCount:             {"MinAccessCount", 8, unsafe.Offsetof(MIB{}.MinAccessCount), least},
	maxAccessCount:             {"MaxAccessCount", 8, unsafe.Offsetof(MIB{}.MaxAccessCount), greatest},
	totalSize:                  {"TotalSize", 8, unsafe.Offsetof(MIB{}.TotalSize), total},
	minSize:                    {"MinSize", 4, unsafe.Offsetof(MIB{}.MinSize), least},
	maxSize:                    {"MaxSize", 4, unsafe.Offsetof(MIB{}.MaxSize), greatest},
	allocTimestamp:             {"AllocTimestamp", 4, unsafe.Offsetof(MIB{}.AllocTimestamp), other},
	deallocTimestamp:           {"DeallocTimestamp", 4, unsafe.Offsetof(MIB{}.DeallocTimestamp), other},
	totalLifetime:              {"TotalLifetime", 8, unsafe.Offsetof(MIB{}.TotalLifetime), total},
	minLifetime:                {"MinLifetime", 4, unsafe.Offsetof(MIB{}.MinLifetime), least},
	maxLifetime:                {"MaxLifetime", 4, unsafe.Offsetof(MIB{}.MaxLifetime), greatest},
	allocCPUID:                 {"AllocCpuId", 4, unsafe.Offsetof(MIB{}.AllocCPUID), other},
	deallocCPUID:               {"DeallocCpuId", 4, unsafe.Offsetof(MIB{}.DeallocCPUID), other},
	numMigratedCPU:             {"NumMigratedCpu", 4, unsafe.Offsetof(MIB{}.NumMigratedCPU), coincidence},
	numLifetimeOverlaps:        {"NumLifetimeOverlaps", 4, unsafe.Offsetof(MIB{}.NumLifetimeOverlaps), coincidence},
	numSameAllocCPU:            {"NumSameAllocCpu", 4, unsafe.Offsetof(MIB{}.NumSameAllocCPU), coincidence},
	numSameDeallocCPU:          {"NumSameDeallocCpu", 4, unsafe.Offsetof(MIB{}.NumSameDeallocCPU), coincidence},
	dataTypeID:                 {"DataTypeId", 8, unsafe.Offsetof(MIB{}.DataTypeID), other},
	totalAccessDensity:         {"TotalAccessDensity", 8, unsafe.Offsetof(MIB{}.TotalAccessDensity), total},
	minAccessDensity:           {"MinAccessDensity", 4, unsafe.Offsetof(MIB{}.MinAccessDensity), least},
	maxAccessDensity:           {"MaxAccessDensity", 4, unsafe.Offsetof(MIB{}.MaxAccessDensity), greatest},
	totalLifetimeAccessDensity: {"TotalLifetimeAccessDensity", 8, unsafe.Offsetof(MIB{}.TotalLifetimeAccessDensity), total},
	minLifetimeAccessDensity:   {"MinLifetimeAccessDensity", 4, unsafe.Offsetof(MIB{}.MinLifetimeAccessDensity), least},
	maxLifetimeAccessDensity:   {"MaxLifetimeAccessDensity", 4, unsafe.Offsetof(MIB{}.MaxLifetimeAccessDensity), greatest},
	accessHistogramSize:        {"AccessHistogramSize", 4, unsafe.Offsetof(MIB{}.AccessHistogramSize), other},
	accessHistogram:            {"AccessHistogram", 8, unsafe.Offsetof(MIB{}.AccessHistogram), other},
}

// String returns LLVM's name of the field.
func (f Field) String() string {
	if f < allocCount || f > accessHistogram {
		return "unknown field"
	}
	return fieldTraits[f].name
}

// size returns the number of bytes of the field in the formats, 4 or 8.
func (f Field) size() int { return fieldTraits[f].size }

// largest returns the largest value that the field holds.
func (f Field) largest() uint64 { return 1<<(8*f.size()) - 1 }

// read decodes the field at the start of b.
func (f Field) read(b []byte) uint64 {
	if f.size() == 8 {
		return le.Uint64(b)
	}
	return uint64(le.Uint32(b))
}

// append encodes a value of the field.
func (f Field) append(dst []byte, v uint64) []byte {
	if f.size() == 8 {
		return le.AppendUint64(dst, v)
	}
	return le.AppendUint32(dst, uint32(v))
}

// Schema is a set of fields, bit n for field n.
type Schema uint32

const (
	// FullSchema has all fields (LLVM 17 and later).
	FullSchema Schema = 1<<numFields - 2
	// fullSchema16 is LLVM 16's full schema, which has no histogram.
	fullSchema16 Schema = FullSchema &^ (1<<accessHistogramSize | 1<<accessHistogram)
	// rawSchema1 has the fields of raw version 1.
	rawSchema1 Schema = 1<<(dataTypeID+1) - 2
	// HotColdSchema has what compilers need to tell hot from cold contexts.
	HotColdSchema Schema = 1<<allocCount | 1<<totalSize | 1<<totalLifetime | 1<<totalLifetimeAccessDensity
)

// Has reports whether the schema has field f.
func (s Schema) Has(f Field) bool { return s&(1<<f) != 0 }

// Fields returns the fields in ascending order.
func (s Schema) Fields() []Field { return slices.Collect(s.all()) }

// all iterates over the fields in ascending order.
func (s Schema) all() iter.Seq[Field] {
	return func(yield func(Field) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(Field(bits.TrailingZeros32(uint32(s)))) {
				return
			}
		}
	}
}

// A MIB is a memory information block: the measurements of all blocks allocated in one
// context. Sizes are in bytes, times in milliseconds. AccessDensity is accesses per 100
// bytes; LifetimeAccessDensity is AccessDensity per second of the block's lifetime,
// which counts as at least one second.
type MIB struct {
	TotalAccessCount           uint64
	MinAccessCount             uint64
	MaxAccessCount             uint64
	TotalSize                  uint64
	TotalLifetime              uint64
	DataTypeID                 uint64 // DataTypeId
	TotalAccessDensity         uint64
	TotalLifetimeAccessDensity uint64
	// AccessHistogram is the address of the histogram in the process that wrote
	// the file. It is meaningless, and kept to copy files exactly.
	AccessHistogram uint64

	AllocCount               uint32
	MinSize                  uint32
	MaxSize                  uint32
	AllocTimestamp           uint32
	DeallocTimestamp         uint32
	MinLifetime              uint32
	MaxLifetime              uint32
	AllocCPUID               uint32 // AllocCpuId
	DeallocCPUID             uint32 // DeallocCpuId
	NumMigratedCPU           uint32 // NumMigratedCpu
	NumLifetimeOverlaps      uint32
	NumSameAllocCPU          uint32 // NumSameAllocCpu
	NumSameDeallocCPU        uint32 // NumSameDeallocCpu
	MinAccessDensity         uint32
	MaxAccessDensity         uint32
	MinLifetimeAccessDensity uint32
	MaxLifetimeAccessDensity uint32
	AccessHistogramSize      uint32 // number of buckets; Histogram may be nil nevertheless

	// Fields says which fields are known; the others are zero.
	Fields Schema
	// Histogram has the number of accesses to each 8 bytes of the blocks. Only
	// raw profiles contain it.
	Histogram []uint64
}

// at returns the place of a field, a uint32 or uint64 as its size says.
func (m *MIB) at(f Field) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(m), fieldTraits[f].place) }

// get returns the value of a field.
func (m *MIB) get(f Field) uint64 {
	if f.size() == 8 {
		return *(*uint64)(m.at(f))
	}
	return uint64(*(*uint32)(m.at(f)))
}

// put sets a field, cut to its size.
func (m *MIB) put(f Field, v uint64) {
	if f.size() == 8 {
		*(*uint64)(m.at(f)) = v
	} else {
		*(*uint32)(m.at(f)) = uint32(v)
	}
}

// set is put for a field that is known from then on.
func (m *MIB) set(f Field, v uint64) {
	m.put(f, v)
	m.Fields |= 1 << f
}
