package memprof

// Field is one field of a [MIB], by its number in the file formats (Meta of
// LLVM's MIBEntryDef.inc).
type Field int

// The fields with LLVM's names, in the order of the raw format.
const (
	AllocCount Field = iota + 1
	TotalAccessCount
	MinAccessCount
	MaxAccessCount
	TotalSize
	MinSize
	MaxSize
	AllocTimestamp
	DeallocTimestamp
	TotalLifetime
	MinLifetime
	MaxLifetime
	AllocCPUID
	DeallocCPUID
	NumMigratedCPU
	NumLifetimeOverlaps
	NumSameAllocCPU
	NumSameDeallocCPU
	DataTypeID
	TotalAccessDensity
	MinAccessDensity
	MaxAccessDensity
	TotalLifetimeAccessDensity
	MinLifetimeAccessDensity
	MaxLifetimeAccessDensity
	AccessHistogramSize
	AccessHistogram

	// numFields is one more than the largest number of a field.
	numFields = int(AccessHistogram) + 1
)

// fieldTraits are name and size in bytes of every field, as in the formats.
var fieldTraits = [numFields]struct {
	name string
	size int
}{
	AllocCount:                 {"AllocCount", 4},
	TotalAccessCount:           {"TotalAccessCount", 8},
	MinAccessCount:             {"MinAccessCount", 8},
	MaxAccessCount:             {"MaxAccessCount", 8},
	TotalSize:                  {"TotalSize", 8},
	MinSize:                    {"MinSize", 4},
	MaxSize:                    {"MaxSize", 4},
	AllocTimestamp:             {"AllocTimestamp", 4},
	DeallocTimestamp:           {"DeallocTimestamp", 4},
	TotalLifetime:              {"TotalLifetime", 8},
	MinLifetime:                {"MinLifetime", 4},
	MaxLifetime:                {"MaxLifetime", 4},
	AllocCPUID:                 {"AllocCpuId", 4},
	DeallocCPUID:               {"DeallocCpuId", 4},
	NumMigratedCPU:             {"NumMigratedCpu", 4},
	NumLifetimeOverlaps:        {"NumLifetimeOverlaps", 4},
	NumSameAllocCPU:            {"NumSameAllocCpu", 4},
	NumSameDeallocCPU:          {"NumSameDeallocCpu", 4},
	DataTypeID:                 {"DataTypeId", 8},
	TotalAccessDensity:         {"TotalAccessDensity", 8},
	MinAccessDensity:           {"MinAccessDensity", 4},
	MaxAccessDensity:           {"MaxAccessDensity", 4},
	TotalLifetimeAccessDensity: {"TotalLifetimeAccessDensity", 8},
	MinLifetimeAccessDensity:   {"MinLifetimeAccessDensity", 4},
	MaxLifetimeAccessDensity:   {"MaxLifetimeAccessDensity", 4},
	AccessHistogramSize:        {"AccessHistogramSize", 4},
	AccessHistogram:            {"AccessHistogram", 8},
}

// String returns LLVM's name of the field.
func (f Field) String() string {
	if f < AllocCount || f > AccessHistogram {
		return "unknown field"
	}
	return fieldTraits[f].name
}

// Size returns the number of bytes of the field in the formats, 4 or 8.
func (f Field) Size() int { return fieldTraits[f].size }

// Schema is a set of fields, bit n for field n.
type Schema uint32

const (
	// FullSchema has all fields (LLVM 17 and later).
	FullSchema Schema = 1<<numFields - 2
	// fullSchema16 is LLVM 16's full schema, which has no histogram.
	fullSchema16 Schema = FullSchema &^ (1<<AccessHistogramSize | 1<<AccessHistogram)
	// rawSchema1 has the fields of raw version 1.
	rawSchema1 Schema = 1<<(DataTypeID+1) - 2
	// HotColdSchema has what compilers need to tell hot from cold contexts.
	HotColdSchema Schema = 1<<AllocCount | 1<<TotalSize | 1<<TotalLifetime | 1<<TotalLifetimeAccessDensity
)

// Has reports whether the schema has field f.
func (s Schema) Has(f Field) bool { return s&(1<<f) != 0 }

// Fields returns the fields in ascending order.
func (s Schema) Fields() []Field {
	var out []Field
	for f := AllocCount; f <= AccessHistogram; f++ {
		if s.Has(f) {
			out = append(out, f)
		}
	}
	return out
}

// MIB is a memory information block: what was measured of all blocks
// allocated in one context. Sizes are in bytes, times in milliseconds;
// AccessDensity is accesses per 100 bytes, LifetimeAccessDensity that per
// second of the block's life, at least one.
type MIB struct {
	TotalAccessCount           uint64
	MinAccessCount             uint64
	MaxAccessCount             uint64
	TotalSize                  uint64
	TotalLifetime              uint64
	DataTypeID                 uint64 // DataTypeId
	TotalAccessDensity         uint64
	TotalLifetimeAccessDensity uint64
	// AccessHistogram is where the histogram was in the process that wrote the
	// profile, or in LLVM's tool: meaningless, kept to copy files exactly.
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
	AccessHistogramSize      uint32 // buckets in the process; Histogram may be gone

	// Fields says which fields are known; the others are zero.
	Fields Schema
	// Histogram has the accesses by 8 bytes of the block. It is known from raw
	// profiles only: no other format holds it.
	Histogram []uint64
}

// Get returns the value of a field.
func (m *MIB) Get(f Field) uint64 {
	if p := m.wide(f); p != nil {
		return *p
	}
	if p := m.narrow(f); p != nil {
		return uint64(*p)
	}
	return 0
}

// Set sets a field, cut to its size, and marks it known.
func (m *MIB) Set(f Field, v uint64) {
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
	case MinAccessCount:
		return &m.MinAccessCount
	case MaxAccessCount:
		return &m.MaxAccessCount
	case TotalSize:
		return &m.TotalSize
	case TotalLifetime:
		return &m.TotalLifetime
	case DataTypeID:
		return &m.DataTypeID
	case TotalAccessDensity:
		return &m.TotalAccessDensity
	case TotalLifetimeAccessDensity:
		return &m.TotalLifetimeAccessDensity
	case AccessHistogram:
		return &m.AccessHistogram
	}
	return nil
}

func (m *MIB) narrow(f Field) *uint32 {
	switch f {
	case AllocCount:
		return &m.AllocCount
	case MinSize:
		return &m.MinSize
	case MaxSize:
		return &m.MaxSize
	case AllocTimestamp:
		return &m.AllocTimestamp
	case DeallocTimestamp:
		return &m.DeallocTimestamp
	case MinLifetime:
		return &m.MinLifetime
	case MaxLifetime:
		return &m.MaxLifetime
	case AllocCPUID:
		return &m.AllocCPUID
	case DeallocCPUID:
		return &m.DeallocCPUID
	case NumMigratedCPU:
		return &m.NumMigratedCPU
	case NumLifetimeOverlaps:
		return &m.NumLifetimeOverlaps
	case NumSameAllocCPU:
		return &m.NumSameAllocCPU
	case NumSameDeallocCPU:
		return &m.NumSameDeallocCPU
	case MinAccessDensity:
		return &m.MinAccessDensity
	case MaxAccessDensity:
		return &m.MaxAccessDensity
	case MinLifetimeAccessDensity:
		return &m.MinLifetimeAccessDensity
	case MaxLifetimeAccessDensity:
		return &m.MaxLifetimeAccessDensity
	case AccessHistogramSize:
		return &m.AccessHistogramSize
	}
	return nil
}
