package perfdata

// The header of a file. A pipe has only its first 16 bytes.
//
//	00  magic       u64  "PERFILE2", reversed in a file of the other byte order
//	08  size        u64  104, or 72 without the features; of a pipe 16
//	10  attr size   u64  of an entry of the table of attributes: attribute, offset u64 and size u64 of its ids
//	18  attributes  offset u64, size u64
//	28  data        offset u64, size u64; the records. Size 0: perf was killed while it recorded
//	38  event types offset u64, size u64; obsolete
//	48  features    256 bits: bit n = feature n is present
//
// Behind the data there is an offset u64 and a size u64 for each bit, in ascending order.
const (
	magic        = "PERFILE2"
	magicSwapped = "2ELIFREP"
	magicOld     = "PERFFILE" // before Linux 2.6.32

	headerSize       = 104
	headerSizeNoBits = 72
	headerSizePipe   = 16

	attrSizeAt, attrsAt, dataAt, featuresAt = 16, 24, 40, 72

	sectionSize = 16 // offset, size
	featureBits = 256
)

// Feature sections (HEADER_…).
const (
	featureBuildID    = 2
	featureHostname   = 3
	featureRelease    = 4
	featureVersion    = 5
	featureArch       = 6
	featureCPU        = 8
	featureCmdline    = 11
	featureEvents     = 12
	featureDirectory  = 24
	featureCompressed = 27
)

// An attribute (perf_event_attr) grows with each release; readers go by its size.
//
//	00 type u32   04 size u32   08 config u64   16 period or frequency u64   24 sample type u64
//	32 read format u64   40 flags u64   72 branch sample type u64, from size 80
const (
	attrTypeAt, attrLenAt, attrConfigAt, attrPeriodAt = 0, 4, 8, 16
	attrSampleAt, attrReadAt, attrFlagsAt             = 24, 32, 40
	attrBranchAt                                      = 72

	attrSizeMin = 64 // PERF_ATTR_SIZE_VER0; its size may be given as 0
)

// Bits of the flags of an attribute that matter here.
const (
	flagFrequency   = 1 << 10
	flagSampleIDAll = 1 << 18
)

// Bits of the sample type (PERF_SAMPLE_…).
const (
	sampleIP = 1 << iota
	sampleTID
	sampleTime
	sampleAddr
	sampleRead
	sampleCallchain
	sampleID
	sampleCPU
	samplePeriod
	sampleStream
	sampleRaw
	sampleBranches
	_ // REGS_USER, STACK_USER, WEIGHT, DATA_SRC come behind the branches
	_
	_
	_
	sampleIdentifier
)

// Bits of the branch sample type (PERF_SAMPLE_BRANCH_…).
const (
	branchAny      = 1 << 3
	branchKinds    = 1<<4 | 1<<5 | 1<<6 | 1<<10 | 1<<11 | 1<<12 | 1<<13 // calls, returns, conditional ones …
	branchHWIndex  = 1 << 17
	branchCounters = 1 << 19
)

// Bits of the read format (PERF_FORMAT_…).
const (
	readEnabled = 1 << iota
	readRunning
	readID
	readGroup
	readLost
)

// A record is { type u32, misc u16, size u16 } and size-8 bytes.
const (
	recordHeader = 8
	typeAt       = 0
	miscAt       = 4
	sizeAt       = 6
)

// Types of records (PERF_RECORD_…). Those from 64 on are of perf, the others of the kernel.
const (
	recordMmap          = 1  // pid, tid u32; addr, len, pgoff u64; name
	recordLost          = 2  // id, number u64
	recordComm          = 3  // pid, tid u32; name
	recordExit          = 4  // as FORK
	recordFork          = 7  // pid, ppid, tid, ptid u32; time u64
	recordSample        = 9  // by the sample type
	recordMmap2         = 10 // as MMAP; major, minor u32, inode, generation u64, or a build id; prot, flags u32; name
	recordLostSamples   = 13 // number u64
	recordAttr          = 64 // attribute, ids u64
	recordTracingData   = 66 // size u32: that many bytes follow, padded to 8
	recordBuildID       = 67 // pid s32; 20 bytes, length u8, 3 bytes; name
	recordFinishedRound = 68
	recordAuxtrace      = 71 // size u64: that many bytes follow
	recordEventUpdate   = 78 // what u64, id u64; name
	recordFeature       = 80 // feature u64; contents
	recordCompressed    = 81 // zstd
	recordCompressed2   = 83 // size u64; zstd, padding
)

// Bits of misc.
const (
	miscMode        = 7
	miscData        = 1 << 13 // MMAP of data
	miscExec        = 1 << 13 // COMM by exec
	miscBuildID     = 1 << 14 // MMAP2 with a build id
	miscBuildIDSize = 1 << 15 // BUILD_ID with the length of the id
)

// contextDeferred stands in a call chain before a number, by which a later record has the rest
// (PERF_CONTEXT_USER_DEFERRED). That record is not read.
const contextDeferred = 0xffff_ffff_ffff_fd80

const (
	mmapSize  = 32 // before the name
	mmap2Size = 64
	taskSize  = 24

	buildIDAt, buildIDLenAt, buildIDNameAt = 4, 24, 28 // in BUILD_ID
	maxBuildID                             = 20

	updateName  = 2 // what EVENT_UPDATE changes
	branchSize  = 24
	protExec    = 4
	mapShared   = 1
	noTime      = 0 // records without time are passed on at once, as by perf
	featureHead = 8
)
