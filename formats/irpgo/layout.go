package irpgo

import "encoding/binary"

// Raw profiles.
//
// Magic, eight bytes in the byte order of the writer; it gives pointer width
// and byte order of everything that follows:
//
//	64-bit  0xff 'l' 'p' 'r' 'o' 'f' 'r' 0x81
//	32-bit  0xff 'l' 'p' 'r' 'o' 'f' 'R' 0x81
//
// Sections, from the start of each profile in the file:
//
//	header
//	binary ids                                      v7+
//	data records                NumData × record
//	PadBeforeCnts               v5+
//	counters                    NumCounters × 8, or × 1 under SingleByte
//	PadAfterCnts                v5+
//	bitmap                      NumBitmapBytes      v9+
//	PadAfterBitmap              v9+
//	uniform counters            NumUniform × 8      v11
//	PadAfterUniform             v11
//	names                       NamesSize, padded to 8 (v1: with 1 to 8 bytes)
//	vtable records              NumVTables × record, padded to 8   v10+
//	vtable names                VNamesSize, padded to 8            v10+
//	value data                  one blob per record that has value sites
const (
	rawMagic64 = 0xff<<56 | 'l'<<48 | 'p'<<40 | 'r'<<32 | 'o'<<24 | 'f'<<16 | 'r'<<8 | 0x81
	rawMagic32 = 0xff<<56 | 'l'<<48 | 'p'<<40 | 'r'<<32 | 'o'<<24 | 'f'<<16 | 'R'<<8 | 0x81

	// RawVersionMax is the newest raw version read. Version 11 (LLVM 23) is
	// read by its documented layout, not verified against a real producer.
	RawVersionMax = 11
	// rawVersionLLVM22 is the one raw version that llvm-profdata 22 reads.
	rawVersionLLVM22 = 10
)

// rawField names one u64 of the raw header after magic and version.
type rawField int

const (
	fBinaryIDsSize   rawField = iota // bytes
	fNumData                         // records (DataSize before v8)
	fPadBeforeCnts                   // bytes (PaddingBytesBeforeCounters)
	fNumCounters                     // entries of the counter section (CountersSize before v8)
	fPadAfterCnts                    // bytes (PaddingBytesAfterCounters)
	fNumBitmapBytes                  // bytes
	fPadAfterBitmap                  // bytes (PaddingBytesAfterBitmapBytes)
	fNumUniform                      // entries (NumUniformCounters)
	fPadAfterUniform                 // bytes
	fUniformDelta                    // bytes from data to uniform section
	fNamesSize                       // bytes
	fCountersDelta                   // v1–7: address of the counters; v8+: address of counters − of data
	fBitmapDelta                     // address of bitmap − of data
	fNamesDelta                      // address of the names
	fNumVTables                      // records
	fVNamesSize                      // bytes
	fValueKindLast                   // highest int the writer knows (IPVK_Last)
	fValueDataSize                   // bytes of value data; v2, v3 only
	fValueDataDelta                  // address of the value data; v2, v3 only
	numRawFields
)

var rawFieldNames = [numRawFields]string{
	"BinaryIdsSize", "NumData", "PaddingBytesBeforeCounters", "NumCounters",
	"PaddingBytesAfterCounters", "NumBitmapBytes", "PaddingBytesAfterBitmapBytes",
	"NumUniformCounters", "PaddingBytesAfterUniformCounters", "UniformCountersDelta",
	"NamesSize", "CountersDelta", "BitmapDelta", "NamesDelta", "NumVTables",
	"VNamesSize", "ValueKindLast", "ValueDataSize", "ValueDataDelta",
}

var (
	rawHeaderV1 = []rawField{fNumData, fNumCounters, fNamesSize, fCountersDelta, fNamesDelta}
	rawHeaderV2 = append(rawHeaderV1[:5:5], fValueKindLast, fValueDataSize, fValueDataDelta)
	rawHeaderV5 = []rawField{
		fNumData, fPadBeforeCnts, fNumCounters, fPadAfterCnts, fNamesSize,
		fCountersDelta, fNamesDelta, fValueKindLast,
	}
	rawHeaderV7 = append([]rawField{fBinaryIDsSize}, rawHeaderV5...)
	rawHeaderV9 = []rawField{
		fBinaryIDsSize, fNumData, fPadBeforeCnts, fNumCounters, fPadAfterCnts,
		fNumBitmapBytes, fPadAfterBitmap, fNamesSize,
		fCountersDelta, fBitmapDelta, fNamesDelta, fValueKindLast,
	}
)

// rawHeaders are the headers by version, after magic and version word. Version 6 existed for some weeks between
// LLVM 12 and 13 with the binary ids elsewhere.
var rawHeaders = map[uint32][]rawField{
	1: rawHeaderV1, 2: rawHeaderV2, 3: rawHeaderV2, 4: append(rawHeaderV1[:5:5], fValueKindLast), 5: rawHeaderV5,
	7: rawHeaderV7, 8: rawHeaderV7, 9: rawHeaderV9, 10: append(rawHeaderV9[:11:11], fNumVTables, fVNamesSize, fValueKindLast),
	11: {
		fBinaryIDsSize, fNumData, fPadBeforeCnts, fNumCounters, fPadAfterCnts,
		fNumBitmapBytes, fPadAfterBitmap, fNumUniform, fPadAfterUniform, fUniformDelta,
		fNamesSize, fCountersDelta, fBitmapDelta, fNamesDelta,
		fNumVTables, fVNamesSize, fValueKindLast,
	},
}

// recordLayout holds the offsets of a raw data record's fields (__llvm_profile_data), -1 where a version has no
// such field. Fields are aligned as in C and the record is padded to a multiple of eight bytes.
//
//	v1     u32 NameSize | u32 NumCounters | u64 FuncHash | ptr NamePtr | ptr CounterPtr
//	v2     v1 | ptr FunctionPointer | ptr Values | u16 NumValueSites[K]
//	v3–8   u64 NameRef | u64 FuncHash | ptr CounterPtr | ptr FunctionPointer | ptr Values |
//	       u32 NumCounters | u16 NumValueSites[K]
//	v9–10  u64 NameRef | u64 FuncHash | ptr CounterPtr | ptr BitmapPtr | ptr FunctionPointer |
//	       ptr Values | u32 NumCounters | u16 NumValueSites[K] | u32 NumBitmapBytes
//	v11    v9 with ptr UniformCounterPtr after CounterPtr and u16 OffloadDeviceWaveSize
//	       after NumValueSites
//
// K, the number of value kinds, is ValueKindLast + 1.
type recordLayout struct {
	size                                 int
	nameRef, hash                        int
	nameSize, namePtr                    int // v1, v2
	counterPtr, bitmapPtr, funcPtr       int
	uniformPtr                           int // v11
	numCounters, valueSites, bitmapBytes int
	kinds                                int // K
}

func newRecordLayout(version uint32, ptr, kinds int) recordLayout {
	pos := 0
	field := func(size int) int {
		pos = (pos + size - 1) / size * size
		at := pos
		pos += size
		return at
	}
	l := recordLayout{
		nameRef: -1, nameSize: -1, namePtr: -1, bitmapPtr: -1,
		funcPtr: -1, valueSites: -1, bitmapBytes: -1, uniformPtr: -1,
	}
	if version <= 2 {
		l.nameSize, l.numCounters, l.hash = field(4), field(4), field(8)
		l.namePtr, l.counterPtr = field(ptr), field(ptr)
		if version == 2 {
			l.funcPtr = field(ptr)
			field(ptr) // Values: an address, meaningless outside the process
		}
	} else {
		l.nameRef, l.hash, l.counterPtr = field(8), field(8), field(ptr)
		if version >= 11 {
			l.uniformPtr = field(ptr)
		}
		if version >= 9 {
			l.bitmapPtr = field(ptr)
		}
		l.funcPtr = field(ptr)
		field(ptr) // Values
		l.numCounters = field(4)
	}
	if version >= 2 && kinds > 0 {
		l.kinds = kinds
		l.valueSites = field(2)
		pos += 2 * (kinds - 1)
	}
	if version >= 11 {
		field(2) // OffloadDeviceWaveSize: lanes of a wave, 0 for hosts; no other format has it
	}
	if version >= 9 {
		l.bitmapBytes = field(4)
	}
	l.size = (pos + 7) &^ 7
	return l
}

// vtableRecordSize is the size of VTableProfileData (v10+):
// u64 VTableNameHash | ptr VTablePointer | u32 VTableSize | padding to 8.
func vtableRecordSize(ptr int) int {
	if ptr == 4 {
		return 16
	}
	return 24
}

// Indexed profiles, always little-endian:
//
//	u64 magic "\xfflprofi\x81" | u64 version and variant | u64 unused |
//	u64 HashType | u64 HashOffset | u64 MemProfOffset (v8+) |
//	u64 BinaryIdOffset (v9+) | u64 TemporalProfTracesOffset (v10+) |
//	u64 VTableNamesOffset (v12+)
//	summary (v4+), and a second one for CS records if the variant says so
//	on-disk chained hash table: key name, data records
//	memprof section | binary ids | vtable names | temporal traces
const (
	indexedMagic = 0xff | 'l'<<8 | 'p'<<16 | 'r'<<24 | 'o'<<32 | 'f'<<40 | 'i'<<48 | 0x81<<56

	indexedVersionMin = 1
	// IndexedVersionMax is the newest indexed version read and written. Version 14 (LLVM 23) is read and
	// written by its documented layout, not verified against a real producer.
	IndexedVersionMax = 14
	// indexedVersionLLVM22 is the newest version that LLVM 22 reads, and the newest that is written unasked
	// where the inputs are not of LLVM 23.
	indexedVersionLLVM22 = 13
	// IndexedVersionMinWritten is the oldest indexed version written (LLVM 3.9 to 5).
	IndexedVersionMinWritten = 4

	// packedBitmaps is the first indexed version that has bitmaps by bytes, and uniformity bits behind them.
	packedBitmaps = 14

	hashTypeMD5 = 0
)

func hasIndexedMagic(data []byte) bool {
	return len(data) >= 8 && binary.LittleEndian.Uint64(data) == indexedMagic
}

// rawMagic recognises a raw profile and returns its pointer width and byte order.
func rawMagic(data []byte) (ptr int, order binary.ByteOrder, ok bool) {
	if len(data) < 8 {
		return 0, nil, false
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		switch order.Uint64(data) {
		case rawMagic64:
			return 8, order, true
		case rawMagic32:
			return 4, order, true
		}
	}
	return 0, nil, false
}

func hasRawMagic(data []byte) bool {
	_, _, ok := rawMagic(data)
	return ok
}
