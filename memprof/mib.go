package memprof

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

// fieldTraits are name and size in bytes of every field, as in the formats.
var fieldTraits = [numFields]struct {
	name string
	size int
}{
	allocCount:                 {"AllocCount", 4},
	TotalAccessCount:           {"TotalAccessCount", 8},
	minAccessCount:             {"MinAccessCount", 8},
	maxAccessCount:             {"MaxAccessCount", 8},
	totalSize:                  {"TotalSize", 8},
	minSize:                    {"MinSize", 4},
	maxSize:                    {"MaxSize", 4},
	allocTimestamp:             {"AllocTimestamp", 4},
	deallocTimestamp:           {"DeallocTimestamp", 4},
	totalLifetime:              {"TotalLifetime", 8},
	minLifetime:                {"MinLifetime", 4},
	maxLifetime:                {"MaxLifetime", 4},
	allocCPUID:                 {"AllocCpuId", 4},
	deallocCPUID:               {"DeallocCpuId", 4},
	numMigratedCPU:             {"NumMigratedCpu", 4},
	numLifetimeOverlaps:        {"NumLifetimeOverlaps", 4},
	numSameAllocCPU:            {"NumSameAllocCpu", 4},
	numSameDeallocCPU:          {"NumSameDeallocCpu", 4},
	dataTypeID:                 {"DataTypeId", 8},
	totalAccessDensity:         {"TotalAccessDensity", 8},
	minAccessDensity:           {"MinAccessDensity", 4},
	maxAccessDensity:           {"MaxAccessDensity", 4},
	totalLifetimeAccessDensity: {"TotalLifetimeAccessDensity", 8},
	minLifetimeAccessDensity:   {"MinLifetimeAccessDensity", 4},
	maxLifetimeAccessDensity:   {"MaxLifetimeAccessDensity", 4},
	accessHistogramSize:        {"AccessHistogramSize", 4},
	accessHistogram:            {"AccessHistogram", 8},
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
func (s Schema) Fields() []Field {
	var out []Field
	for f := allocCount; f <= accessHistogram; f++ {
		if s.Has(f) {
			out = append(out, f)
		}
	}
	return out
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

// get returns the value of a field.
func (m *MIB) get(f Field) uint64 {
	if p := m.wide(f); p != nil {
		return *p
	}
	if p := m.narrow(f); p != nil {
		return uint64(*p)
	}
	return 0
}

// set sets a field, cut to its size, and marks it known.
func (m *MIB) set(f Field, v uint64) {
	if p := m.wide(f); p != nil {
		*p = v
	} else if p := m.narrow(f); p != nil {
		*p = uint32(v)
	} else {
		return
	}
	m.Fields |= 1 << f
}

func (m *MIB) wide(f Field) *uint64 {
	switch f {
	case TotalAccessCount:
		return &m.TotalAccessCount
	case minAccessCount:
		return &m.MinAccessCount
	case maxAccessCount:
		return &m.MaxAccessCount
	case totalSize:
		return &m.TotalSize
	case totalLifetime:
		return &m.TotalLifetime
	case dataTypeID:
		return &m.DataTypeID
	case totalAccessDensity:
		return &m.TotalAccessDensity
	case totalLifetimeAccessDensity:
		return &m.TotalLifetimeAccessDensity
	case accessHistogram:
		return &m.AccessHistogram
	}
	return nil
}

// narrow returns the place of a 32-bit field, or nil for a 64-bit field.
func (m *MIB) narrow(f Field) *uint32 {
	switch f {
	case allocCount:
		return &m.AllocCount
	case minSize:
		return &m.MinSize
	case maxSize:
		return &m.MaxSize
	case allocTimestamp:
		return &m.AllocTimestamp
	case deallocTimestamp:
		return &m.DeallocTimestamp
	case minLifetime:
		return &m.MinLifetime
	case maxLifetime:
		return &m.MaxLifetime
	case allocCPUID:
		return &m.AllocCPUID
	case deallocCPUID:
		return &m.DeallocCPUID
	case numMigratedCPU:
		return &m.NumMigratedCPU
	case numLifetimeOverlaps:
		return &m.NumLifetimeOverlaps
	case numSameAllocCPU:
		return &m.NumSameAllocCPU
	case numSameDeallocCPU:
		return &m.NumSameDeallocCPU
	case minAccessDensity:
		return &m.MinAccessDensity
	case maxAccessDensity:
		return &m.MaxAccessDensity
	case minLifetimeAccessDensity:
		return &m.MinLifetimeAccessDensity
	case maxLifetimeAccessDensity:
		return &m.MaxLifetimeAccessDensity
	case accessHistogramSize:
		return &m.AccessHistogramSize
	}
	return nil
}
