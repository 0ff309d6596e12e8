package memprof

// The memprof section of an indexed profile, little-endian and unaligned. All offsets are from the
// start of the file, whose header has the offset of the section. The section ends with its last part.
//
//	version   u64 Version (absent in version 0)
//	offsets   v0, v1  u64 RecordTable | u64 FramePayload | u64 FrameTable
//	          v2      and u64 StackPayload | u64 StackTable
//	          v3      u64 StackArray | u64 RecordPayload | u64 RecordTable
//	          v4      and u64 DataAccess (0: none)
//	summary   v4      u32 number of fields | u64 per field
//	schema            u64 number of fields | u64 number of each field
//	parts     v0, v1  record table, frame table
//	          v2      record table, frame table, stack table
//	          v3      frame array, stack array, record table
//	          v4      and data-access block
//
// Tables are on-disk chained hash tables; the stack table omits the length of keys.
// Keys and hashes are GUIDs (record table), frame ids and stack ids.
//
//	record    u64 number of alloc sites | alloc sites |
//	          u64 number of call sites | call sites
//	alloc site  STACK | the fields of the schema
//	call site   STACK | v4: u64 number of callees | u64 GUID of each
//	STACK     v0, v1  u64 number of frames | u64 frame id of each, leaf first
//	          v2      u64 stack id
//	          v3, v4  u32 index in the stack array
//	frame     u64 GUID | u32 LineOffset | u32 Column | u8 IsInlineFrame
//	stack     v2: u64 frame id of each, leaf first
//
// The stack array has u32 elements. At its index a stack has the number of its frames, then the frames,
// leaf first, as indices in the frame array. An element of 2^31 or more, as a negative number, is a
// jump: the stack continues that many elements further on, where another stack has the same callers.
//
// The data-access block:
//
//	u64 number of strings | u64 number of cold symbols | u64 size of the blob |
//	blob: ULEB128 size | ULEB128 compressed size, 0 = stored | text; padded to 8 |
//	u64 number of cold hashes | u64 each |
//	u64 number of records | records
//
//	record    u64 index of the symbol, or hash of a string literal |
//	          u8 IsStringLiteral | u64 AccessCount |
//	          u64 number of locations | locations
//	location  u64 index of the file name | u32 Line
//
// The text is strings joined by 0x01: symbols, file names and cold symbols in
// the order of their first use, then the cold symbols again.
const (
	// SectionVersionMax is the newest version of the memprof section of indexed profiles
	// that the package reads and writes.
	SectionVersionMax = 4

	// minHeaderSize0 is the size of version 0's header, and so the least value of its first word, an offset.
	minHeaderSize0 = 24

	frameSize        = 8 + 4 + 4 + 1
	numSummaryFields = 6
	stackJump        = 1 << 31 // elements from here on are jumps

	stringSeparator = "\x01"
)

// headerOffsets is the number of offsets in the header of each version.
var headerOffsets = [SectionVersionMax + 1]int{3, 3, 5, 3, 4}

// headerSize is the number of bytes of a section up to the end of its schema.
func headerSize(version, fields int) int {
	n := 8 * headerOffsets[version]
	if version >= 1 {
		n += 8
	}
	if version >= 4 {
		n += 4 + 8*numSummaryFields
	}
	return n + 8 + 8*fields
}

func mibSize(fields []field) int {
	n := 0
	for _, f := range fields {
		n += f.size()
	}
	return n
}
