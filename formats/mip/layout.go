package mip

import "encoding/binary"

var le = binary.LittleEndian

// Header, at the start of every file. Both generations have version number 8; the tests of
// generation A have 7.
//
//	off  generation B                   off  generation A
//	 0   u32 magic                       0   u32 magic
//	 4   u16 Version                     4   u16 Version
//	 6   u16 FileType                    6   u16 FileType
//	 8   u32 ProfileType                 8   u32 ProfileType
//	12   u32 ModuleHash                 12   u32 ModuleHash
//	16   i64 RawSectionOffset (maps)    16   u32 Reserved
//	     (32-bit: i32 and 4 zero bytes) 20   u32 OffsetToData = 0x18
//	24   u32 Reserved
//	28   u32 OffsetToData = 0x20
//
// RawSectionOffset is the address of the raw section minus the address of the map's header.
const (
	magic = 0x50494dfb // "\xfbMIP"

	versionMax = 8 // the newest version that the package reads, and the one that it writes

	headerSizeA = 0x18
	headerSizeB = 0x20
	// offsetToDataA is the offset of OffsetToData in generation A. Generation B has the upper half of
	// RawSectionOffset there, which is 0 or all ones for a section within 4 GiB.
	offsetToDataA = 20
	fileTypeAt    = 6
	reservedAt    = 24 // of generation B
)

// FileType of the header. Generation B has a bit for each type and two for the width of
// the target's addresses; generation A numbers the types.
const (
	fileTypeKindBits = 0x0f
	fileType64       = 0x10
	fileType32       = 0x20

	fileTypeBRaw = 1
	fileTypeBRet = 2
	fileTypeBMap = 4
	fileTypeBMIP = 8

	fileTypeARaw = 1
	fileTypeAMap = 2
	fileTypeAMIP = 3
	fileTypeARet = 4
)

// Raw profiles (.mipraw): the header, then the records in link order, without framing; the
// map has the offset of each. A record has one of two forms, by the profile's type; n is
// the function's number of blocks without the entry.
//
//	function coverage           u8 entry | u8 block[n]
//	call counts and timestamps  u32 count | u32 timestamp | u8 block[n], aligned to 4
//
// A byte is 0xff until its block runs, then 0x00. Count and timestamp are both
// 0xffffffff until the first call; then the count is at least 1 and the
// timestamp is the rank, from 1, among the first calls of all functions.
const (
	rawCovered   = 0x00
	rawUntouched = 0xff
	rawNotCalled = 1<<32 - 1

	rawEntryCoverage = 1 // bytes of a record before the blocks
	rawEntryCounts   = 8

	// rawOffsetLimit bounds the offset of a record: instrumented code addresses the
	// raw section with 32-bit displacements.
	rawOffsetLimit = 1 << 31
)

// Samples of return addresses (.mipret): the header, then up to the end of the file
//
//	u32 callee | i32 return address | u32 weight
//
// where callee is the offset of the callee's raw record, and return address is relative to the raw
// section, 0 for an address outside of the image. Weight is the number of calls that the sample stands
// for. The last record has callee 0; its weight is the number of calls that did not fit the table. A
// program writes the samples after its raw records, aligned to 8.
//
// The document has the type of the file only. The reference's sources have records of the
// first two words, but do not write or read them.
const (
	retSize  = 12
	retAlign = 8
)

// Map records (.mipmap), generation B, up to the end of the file, each aligned
// to the width W of the target's addresses, 4 or 8; the last one is not padded:
//
//	W      RawProfilePCOffset         address of the raw record − of this field
//	W      FunctionPCOffset           address of the function − of the field above
//	u32    FunctionSize               bytes
//	u32    ControlFlowGraphSignature
//	u32    NonEntryBlockCount n
//	u32×n  Offset                     block − function, bytes; 0 for a block without a probe
//	u32    FunctionNameLength L
//	L      FunctionName
//
// Generation A, aligned to 8; the first three fields are 32-bit differences to one place,
// so only the differences between them matter:
//
//	u32 raw section | u32 raw record | u32 function | u32 FunctionSize | … as above
const mapAlignA = 8

// Profiles (.mip): u64 ProfileCount, the records, then the names.
//
//	u64      FunctionSignature
//	u64/u32  RawProfileDataOffset   u64 as the code of generation B writes it,
//	i64/i32  FunctionStartOffset    u32 in the document and in generation A
//	u32      FunctionSize           bytes
//	u32      ControlFlowGraphSignature
//	u32      NonEntryBlockCount n
//	u32      MergeCount
//	u64      CallCount
//	u64      TimestampSum
//	5×n      { u32 Offset | u8 IsCovered }
//	u32      CallEdgeCount e
//	12×e     { i32 SectionRelativeSourceAddress | u64 Weight }
//
// The document reserves call edges, and the code of the reference refuses files that have
// call edges; the fields follow the reference's YAML.
//
// Names: u64, then the distinct names in byte order. The code of both generations writes
// the number of names and terminates each with a zero byte; in the document the u64 is
// the length in bytes, and zero bytes separate the names.
const (
	mipFixedWide   = 8 + 8 + 8 + 4*4 + 2*8 // without CallEdgeCount
	mipFixedNarrow = 8 + 4 + 4 + 4*4 + 2*8
	mipBlockSize   = 5
	mipEdgeCount   = 4
	mipEdgeSize    = 12
)
