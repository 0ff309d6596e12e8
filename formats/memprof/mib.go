package memprof

import (
	"iter"
	"math/bits"
	"unsafe"
)

// A field is a field of a [MIB], by its number in the file formats (Meta of LLVM's MIBEntryDef.inc).
type field int

// The fields, in the order of the raw format.
const (
	allocCount field = iota + 1
	totalAccessCount
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

// fieldTraits has the name and size in bytes of every field in the formats, its offset in a MIB, and its rule.
var fieldTraits = [numFields]struct {
	name   string
	size   int
	offset uintptr
	rule   rule
}{
	allocCount:                 {"AllocCount", 4, unsafe.Offsetof(MIB{}.AllocCount), total},
	totalAccessCount:           {"TotalAccessCount", 8, unsafe.Offsetof(MIB{}.TotalAccessCount), total},
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
func (f field) String() string {
	if f < allocCount || f > accessHistogram {
		return "unknown field"
	}
	return fieldTraits[f].name
}

// size returns the number of bytes of the field in the formats, 4 or 8.
func (f field) size() int { return fieldTraits[f].size }

func (f field) largest() uint64 { return 1<<(8*f.size()) - 1 }

func (f field) read(b []byte) uint64 {
	if f.size() == 8 {
		return le.Uint64(b)
	}
	return uint64(le.Uint32(b))
}

func (f field) append(dst []byte, v uint64) []byte {
	if f.size() == 8 {
		return le.AppendUint64(dst, v)
	}
	return le.AppendUint32(dst, uint32(v))
}

// Schema is a set of fields of a [MIB]: bit n stands for the field with number n in LLVM's MIBEntryDef.inc.
type Schema uint32

const (
	// FullSchema has all fields (LLVM 17 and later).
	FullSchema Schema = 1<<numFields - 2
	// fullSchema16 is LLVM 16's full schema, which has no histogram.
	fullSchema16 Schema = FullSchema &^ (1<<accessHistogramSize | 1<<accessHistogram)
	// rawSchema1 has the fields of raw version 1.
	rawSchema1 Schema = 1<<(dataTypeID+1) - 2
	// hotColdSchema has what compilers need to tell hot from cold contexts.
	hotColdSchema Schema = 1<<allocCount | 1<<totalSize | 1<<totalLifetime | 1<<totalLifetimeAccessDensity
)

func (s Schema) has(f field) bool { return s&(1<<f) != 0 }

// Fields returns LLVM's names of the fields, as "AllocCount", in ascending order of their numbers.
func (s Schema) Fields() []string {
	names := []string{}
	for f := range s.all() {
		names = append(names, f.String())
	}
	return names
}

func (s Schema) all() iter.Seq[field] {
	return func(yield func(field) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(field(bits.TrailingZeros32(uint32(s)))) {
				return
			}
		}
	}
}

// A MIB is a memory information block: the measurements of all blocks allocated in one context. Sizes
// are in bytes, times in milliseconds. AccessDensity is accesses per 100 bytes; LifetimeAccessDensity
// is AccessDensity per second of the block's lifetime, which counts as at least one second.
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
	// Histogram has the number of accesses to each 8 bytes of the blocks. Only raw profiles contain it.
	Histogram []uint64
}

// pointer returns a pointer to a field, a uint32 or uint64.
func (m *MIB) pointer(f field) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(m), fieldTraits[f].offset)
}

func (m *MIB) get(f field) uint64 {
	if f.size() == 8 {
		return *(*uint64)(m.pointer(f))
	}
	return uint64(*(*uint32)(m.pointer(f)))
}

// put sets a field, cut to its size.
func (m *MIB) put(f field, v uint64) {
	if f.size() == 8 {
		*(*uint64)(m.pointer(f)) = v
	} else {
		*(*uint32)(m.pointer(f)) = uint32(v)
	}
}

// set is put for a field that is known from then on.
func (m *MIB) set(f field, v uint64) {
	m.put(f, v)
	m.Fields |= 1 << f
}
