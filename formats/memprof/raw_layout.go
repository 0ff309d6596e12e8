package memprof

import (
	"encoding/binary"
	"slices"
)

// Raw profiles.
//
// A file is one or more dumps, back to back: the runtime appends one for each
// call of __memprof_profile_dump and one when the process ends. Everything is
// little-endian and packed. A dump, offsets counted from its start:
//
//	0   u64  Magic           0xff 'm' 'p' 'r' 'o' 'f' 'r' 0x81
//	8   u64  Version
//	16  u64  TotalSize       bytes of the dump, a multiple of 8
//	24  u64  SegmentOffset   48
//	32  u64  MIBOffset
//	40  u64  StackOffset
//	48       sections: segments, MIBs, stacks
//
// A section is a u64 count, that many entries, and up to 7 bytes of padding of any value:
//
//	segment  u64 Start | u64 End | u64 Offset | BuildId[32]                     v1, v2
//	         u64 Start | u64 End | u64 Offset | u64 BuildIdSize | BuildId[32]   v3+
//	MIB      u64 StackId | MIB                                                  v1–v3
//	         u64 StackId | MIB | AccessHistogramSize × u64                      v4
//	         u64 StackId | MIB | AccessHistogramSize × u16                      v5
//	stack    u64 StackId | u64 NumPCs | NumPCs × u64
//
// The MIB is the first fields of [MIB], in their order and width: the fields up to DataTypeId in v1,
// the fields up to MaxLifetimeAccessDensity in v2 and v3, and all fields since v4.
const (
	rawMagic        = 0xff<<56 | 'm'<<48 | 'p'<<40 | 'r'<<32 | 'o'<<24 | 'f'<<16 | 'r'<<8 | 0x81
	rawMagicSwapped = 0x81<<56 | 'r'<<48 | 'f'<<40 | 'o'<<32 | 'r'<<24 | 'p'<<16 | 'm'<<8 | 0xff
	// accessMagic is the magic of raw profiles of data accesses, another format.
	accessMagic = 0xff<<56 | 'f'<<48 | 'b'<<40 | 'm'<<32 | 'b'<<24 | 'i'<<16 | 'n'<<8 | 0x81

	rawHeaderSize  = 48
	rawCountSize   = 8
	rawStackHeader = 16
	maxBuildID     = 32

	rawVersionMin = 1 // of LLVM 14
	// RawVersionMax is the newest raw version that ReadRaw reads, of LLVM 22.
	RawVersionMax = 5
)

// A rawLayout holds the properties of a raw version. Sizes are in bytes.
type rawLayout struct {
	buildIDSize bool // segments have the size of their build id
	segment     int  // size of a segment entry
	mib         int  // size of a MIB
	bucket      int  // size of a histogram bucket; 0 without histograms
}

var rawLayouts = [RawVersionMax + 1]rawLayout{
	1: {false, 56, 100, 0},
	2: {false, 56, 132, 0},
	3: {true, 64, 132, 0},
	4: {true, 64, 144, 8},
	5: {true, 64, 144, 2},
}

// Offsets in a MIB, in bytes: of TotalSize and AccessHistogramSize. AllocCount is at 0.
const (
	totalSizeAt     = 28
	histogramSizeAt = 132
)

var le = binary.LittleEndian

// appendHistogram decodes buckets. A bucket of version 5 is its low 12 bits, shifted left by its high 4 bits.
func appendHistogram(dst []uint64, b []byte, bucket int) []uint64 {
	dst = slices.Grow(dst, len(b)/bucket)
	for ; len(b) >= bucket; b = b[bucket:] {
		if v := uint64(le.Uint16(b)); bucket == 2 {
			dst = append(dst, v&0xfff<<(v>>12))
		} else {
			dst = append(dst, le.Uint64(b))
		}
	}
	return dst
}
