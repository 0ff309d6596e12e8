package irpgo

import (
	"hash/crc32"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// The hash of a function under IR instrumentation, as LLVM 11 and later make it
// (PGOInstrumentation.cpp, computeCFGHash), is
//
//	shape << 28 + edges, with the upper 4 bits kept for other uses
//
// edges is the CRC-32 of the target blocks of the control flow's edges. shape is the CRC-32 of four
// 64-bit numbers: the numbers of profiled select instructions, of indirect call sites, of memory
// operation sites, and of edges. Neither CRC is inverted at the end. A record tells the second and the
// third number, and for each first number and shape exactly one fourth number exists. So the upper 28
// bits of a hash are right if the fourth number fits the number of counters.

// crcBefore returns the index in the table of CRC-32 of the entry with an upper byte.
var crcBefore = func() (index [256]byte) {
	for i, entry := range crc32.IEEETable {
		index[entry>>24] = byte(i)
	}
	return index
}()

// crcNumber continues a CRC-32 with a 64-bit number.
func crcNumber(state uint32, number uint64) uint32 {
	for range 8 {
		state = crc32.IEEETable[byte(state)^byte(number)] ^ state>>8
		number >>= 8
	}
	return state
}

// crcWithout returns the CRC state that eight zero bytes turn into the given state. To undo other bytes,
// add the first four of them to the result.
func crcWithout(state uint32) uint32 {
	for range 8 {
		i := crcBefore[state>>24]
		state = (state^crc32.IEEETable[i])<<8 | uint32(i)
	}
	return state
}

// hash tests the hash of a record.
func (p *plausible) hash(r *Record, i int, variant Variant) {
	if p.hashes.usual() {
		return
	}
	if fitsHash(r, variant) {
		p.hashes.kept++
		return
	}
	p.hashes.add(flaw.In("records").InRecord(i).Field("function hash").
		Gotf("%#x", r.Hash).Wantf("one of a function with the counters and value sites of %s", r.Name).Corrupt())
}

// unknownSites limits the numbers of sites that are tried for a record without values: some kinds of
// profiling record none.
const unknownSites = 8

func fitsHash(r *Record, variant Variant) bool {
	calls, sizes := len(r.Values[IndirectCallTarget]), len(r.Values[MemOPSize])
	if shapeFits(r, variant, calls, sizes) {
		return true
	}
	if calls+sizes > 0 {
		return false
	}
	for calls := range unknownSites {
		for sizes := range unknownSites {
			if shapeFits(r, variant, calls, sizes) {
				return true
			}
		}
	}
	return false
}

// shapeFits reports whether a function with these numbers of call sites and memory operation sites can
// have the hash.
func shapeFits(r *Record, variant Variant, calls, sizes int) bool {
	n := uint64(len(r.Counts))
	// Edges have a counter unless they are in a spanning tree. The bound is far above
	// what programs have, and far below 2^32.
	most := 64 + 16*n
	if variant.Has(EntryOnly) {
		most = 1 << 16
	}
	var befores [16]uint32
	for carry := range befores { // the upper 4 bits of edges are in the sum
		befores[carry] = crcWithout(uint32(r.Hash>>28) - uint32(carry))
	}
	for selects := range n {
		state := crcNumber(crcNumber(crcNumber(1<<32-1, selects), uint64(calls)), uint64(sizes))
		for _, before := range befores {
			if edges := uint64(state ^ before); edges+selects >= n && edges <= most {
				return true
			}
		}
	}
	return false
}
