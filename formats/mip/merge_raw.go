package mip

import (
	"math/bits"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// Raw profiles of a module have the same records at the same offsets. So a Merger adds them as flat
// memory, without decoding them one by one, and distributes the sums to the functions in drainRaw.

// rawSums are the sums over the raw files since the last drain.
type rawSums struct {
	files  int
	zeros  []uint8 // by byte of the file: number of files in which it was zero
	counts []sums  // by function, unless the profile is of function coverage
}

// maxRawFiles is how many files the 8-bit sums can count. The 64-bit sums over so few
// files cannot overflow.
const maxRawFiles = 255

// AddRaw is [Merger.Add] for the raw profile held in data. After the first file it
// allocates memory only for errors and warnings.
func (m *Merger) AddRaw(name string, data []byte, weight uint64) error {
	if err := checkWeight(weight); err != nil {
		return flaw.InFile(err, name)
	}
	n, err := m.shape.checkRaw(name, data, m.opt.Warn)
	if err == nil {
		err = m.countNoise(n, weight)
	}
	if err != nil {
		return flaw.InFile(err, name)
	}
	whole := data
	data = data[:m.shape.rawSize]
	if m.raw.files == maxRawFiles || weight != 1 { // drainRaw applies one weight to all files
		m.drainRaw(1)
	}
	if m.countsCalls() {
		if m.raw.counts == nil {
			m.raw.counts = make([]sums, len(m.sums))
		}
		damaged, ranks := addCounts(m.raw.counts, m.shape.rawOffsets, data)
		if damaged {
			bad := subtractCounts(m.raw.counts, m.shape.rawOffsets, data)
			return flaw.InFile(badCounts(bad, m.shape.rawOffsets[bad], data), name)
		}
		if most := len(m.sums); ranks>>bits.Len(uint(2*most)) > 0 && m.opt.Warn != nil {
			m.opt.Warn(profile.Warning{File: name, Err: flaw.InFile(badRank(m.shape.rawOffsets, data, most), name)})
		}
	}
	if m.hasCoverage() {
		if m.raw.zeros == nil {
			m.raw.zeros = make([]uint8, len(data)) // bounded by the size of the file
		}
		addZeros(m.raw.zeros, data)
	}
	m.raw.files++
	if weight != 1 {
		m.drainRaw(weight)
	}
	if m.shape.base.Type.Has(ReturnAddress) {
		ret, at := m.shape.retPart(whole)
		if err := m.addRet(name, ret, int64(at), weight); err != nil {
			return flaw.InFile(err, name)
		}
	}
	return nil
}

func (m *Merger) countsCalls() bool { return !m.shape.base.Type.Has(FunctionCoverage) }
func (m *Merger) hasCoverage() bool {
	return m.shape.base.Type&(FunctionCoverage|BlockCoverage) != 0
}

// drainRaw adds the weighted sums over raw files to the functions and blocks, and clears them.
func (m *Merger) drainRaw(weight uint64) {
	if m.raw.files == 0 {
		return
	}
	for i, s := range m.raw.counts {
		if s.merges > 0 {
			m.addSums(i, s, weight)
		}
	}
	if m.hasCoverage() {
		for i, off := range m.shape.rawOffsets {
			m.drainZeros(i, m.raw.zeros[off:], weight)
		}
	}
	m.raw.files = 0
	clear(m.raw.counts)
	clear(m.raw.zeros)
}

// drainZeros adds the sums of function i, whose record begins with record.
func (m *Merger) drainZeros(i int, record []uint8, weight uint64) {
	t := m.shape.base.Type
	if n := uint64(record[0]); n > 0 && t.Has(FunctionCoverage) {
		m.addSums(i, sums{merges: n, calls: 1}, weight)
	}
	if !t.Has(BlockCoverage) {
		return
	}
	covered := m.blocks[m.shape.firstBlock[i]:m.shape.firstBlock[i+1]]
	record = record[t.rawEntrySize():][:len(covered)]
	for b, n := range record {
		covered[b] = covered[b] || n > 0
	}
}

// called splits a record into count and timestamp, without branches, which would be unpredictable. mask
// is all ones if the function was called and 0 otherwise; damaged is 1 if the two fields disagree about
// that. As in the reference a count of 0, which no program writes, is no call.
func called(record uint64) (count, timestamp, mask, damaged uint64) {
	count, timestamp = uint64(uint32(record)), record>>32
	noCount, noTimestamp := (count+1)>>32, (timestamp+1)>>32 // 1 for 0xffffffff
	return count, timestamp, (noCount | (count-1)>>63) - 1, noCount ^ noTimestamp
}

// addCounts adds the count and timestamp at each offset of raw. It reports whether a record is damaged;
// then the caller must undo it with subtractCounts. ranks has the bits of all timestamps.
func addCounts(to []sums, offsets []uint32, raw []byte) (anyDamaged bool, ranks uint64) {
	to = to[:len(offsets)]
	bad := uint64(0)
	for i, off := range offsets {
		count, timestamp, mask, damaged := called(le.Uint64(raw[off:]))
		bad |= damaged
		s := &to[i]
		s.merges += mask & 1
		s.calls += count & mask
		s.timestamps += timestamp & mask
		ranks |= timestamp & mask
	}
	return bad != 0, ranks
}

// badRank returns the error about the first record with a timestamp far above the number of functions.
// Threads that call a function for the first time at the same moment may count it more than once.
func badRank(offsets []uint32, raw []byte, functions int) error {
	for i, off := range offsets {
		if _, timestamp, mask, _ := called(le.Uint64(raw[off:])); (timestamp&mask)>>bits.Len(uint(2*functions)) > 0 {
			return flaw.At("records", int64(off)+4).InRecord(i).Field("rank of the first call").Got(timestamp).
				Wantf("1 to %d, the number of functions", functions).Corrupt()
		}
	}
	return nil
}

// subtractCounts undoes addCounts and returns the first damaged record.
func subtractCounts(to []sums, offsets []uint32, raw []byte) (first int) {
	first = -1
	for i, off := range offsets {
		count, timestamp, mask, damaged := called(le.Uint64(raw[off:]))
		if damaged != 0 && first < 0 {
			first = i
		}
		s := &to[i]
		s.merges -= mask & 1
		s.calls -= count & mask
		s.timestamps -= timestamp & mask
	}
	return first
}

// addZeros adds 1 to to[i] for every byte raw[i] that is zero, eight bytes at a time: in
// each byte x of a word, (x & 0x7f) + 0x7f | x has a clear top bit exactly if x is zero,
// and the sum does not carry into the next byte.
func addZeros(to, raw []byte) {
	const low7, ones = 0x7f7f7f7f7f7f7f7f, 0x0101010101010101
	to = to[:len(raw)]
	for len(raw) >= 8 && len(to) >= 8 {
		x := le.Uint64(raw)
		zero := ^((x&low7 + low7) | x) >> 7 & ones
		le.PutUint64(to, le.Uint64(to)+zero)
		raw, to = raw[8:], to[8:]
	}
	addZerosPlain(to, raw)
}

// addZerosPlain is addZeros byte by byte.
func addZerosPlain(to, raw []byte) {
	for i, b := range raw {
		if b == 0 {
			to[i]++
		}
	}
}
