package ctxprof

// A binary profile is an LLVM bitstream without a wrapper: 32-bit words, bits from the least significant one.
//
//	"CTXP"
//	block 0 (BLOCKINFO)                  names for llvm-bcanalyzer
//	block 8 (Metadata)
//	    record 1: [version]
//	    block 9 (Contexts)               if there are roots
//	        block 10 (Root) *
//	            record 2: [GUID]
//	            record 5: [all entries]
//	            record 4: [counter, …]
//	            block 14 (Unhandled)
//	                block 13 (Flat) *
//	                    record 2: [GUID]
//	                    record 4: [counter, …]
//	            block 11 (Context) *
//	                record 2: [GUID]
//	                record 3: [call site]
//	                record 4: [counter, …]
//	                block 11 (Context) *
//	    block 12 (FlatProfiles)          if there are flat functions
//	        block 13 (Flat) *
//
// A real profile may follow another.
const (
	magic   = "CTXP"
	version = 4
)

// The blocks (PGOCtxProfileBlockIDs).
const (
	blockInfoBlock = 0
	metadataBlock  = 8
	contextsBlock  = 9
	rootBlock      = 10
	contextBlock   = 11
	flatsBlock     = 12
	flatBlock      = 13
	unhandledBlock = 14
)

// The records (PGOCtxProfileRecords).
const (
	versionRecord  = 1
	guidRecord     = 2
	siteRecord     = 3
	countersRecord = 4
	totalRecord    = 5
)

// blockNames are the names in BLOCKINFO, in their order there.
var blockNames = []struct {
	id      uint64
	name    string
	records []namedRecord
}{
	{metadataBlock, "Metadata", []namedRecord{{versionRecord, "Version"}}},
	{contextsBlock, "Contexts", nil},
	{rootBlock, "Root", []namedRecord{{guidRecord, "GUID"}, {totalRecord, "TotalRootEntryCount"}, {countersRecord, "Counters"}}},
	{unhandledBlock, "Unhandled", nil},
	{contextBlock, "Context", []namedRecord{{guidRecord, "GUID"}, {siteRecord, "CalleeIndex"}, {countersRecord, "Counters"}}},
	{flatsBlock, "FlatProfiles", nil},
	{flatBlock, "Flat", []namedRecord{{guidRecord, "GUID"}, {countersRecord, "Counters"}}},
}

type namedRecord struct {
	code uint64
	name string
}

// The parts of every bitstream.
const (
	endBlock, enterBlock, defineAbbreviation, unabbreviated = 0, 1, 2, 3 // the first abbreviation ids

	wordBits   = 32
	topWidth   = 2 // width of abbreviation ids outside of all blocks, and in all blocks that LLVM writes here
	blockVBR   = 8
	widthVBR   = 4
	recordVBR  = 6
	abbrevVBR  = 5
	literalVBR = 8

	// The records of BLOCKINFO.
	setBlock, nameOfBlock, nameOfRecord = 1, 2, 3
)

// The encodings of operands in abbreviations.
const (
	fixedEncoding = iota + 1
	vbrEncoding
	arrayEncoding
	char6Encoding
	blobEncoding
)
