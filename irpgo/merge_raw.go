package irpgo

import (
	"encoding/binary"
	"math/bits"
)

// Programs of one source tree have functions in common, mostly in one order,
// so most records of a raw profile find what they are to be added to where the
// last one did. Those that are nothing but counters are added from the bytes of
// the file, without a [Record] in between. All others go the general way.

// directly returns what adds records of the profile, whose index is given, and
// counts them in added and next, the number of the next record; nil if the
// profile is not one for this. It is for profiles that are sound.
func (m *Merger) directly(r *Reader, d *rawReader, index int, weight uint64, added *Added, next *uint64) func(i int) bool {
	p := d.cur
	if m.opt.LLVMCompat || m.opt.Rename != nil || !p.modern() || orWords(p.order, p.counters.data) >= largeCounter {
		return nil
	}
	delta := p.fields[fCountersDelta]
	return func(i int) bool {
		b := (*[modernRecord]byte)(p.records.data[i*modernRecord:])
		if le.Uint32(b[modernBitmapBytes:]) != 0 || modernSites(b) != 0 {
			return false
		}
		ref := le.Uint64(b[0:])
		f := m.functions.expected()
		if f == nil || f.ref != ref || f.name == "" {
			return false
		}
		dst := f.find(le.Uint64(b[8:]))
		n := int(le.Uint32(b[modernNumCounters:]))
		if dst == nil || len(dst.Counts) != n || len(dst.Bitmap) != 0 || !dst.Values.none() || dst.Pseudo() != 0 {
			return false
		}
		start := le.Uint64(b[modernCounterPtr:]) - delta + uint64(i*modernRecord)
		if start >= uint64(len(p.counters.data)) {
			return false // narrow pointers, see sectionOffset
		}
		at := d.at
		if d.nameOf(ref) != f.name {
			d.at = at // it is looked for once more
			return false
		}
		total, overflow := addRaw(dst.Counts, p.counters.data[start:start+uint64(8*n)], weight)
		if overflow && m.opt.Warn != nil {
			m.opt.Warn(Warning{File: r.Name(), Function: f.name, Err: &InstrError{Code: CodeCounterOverflow}})
		}
		seq := uint64(index)<<32 | *next
		f.seq, dst.seq = min(f.seq, seq), min(dst.seq, seq)
		m.functions.follow(f)
		added.Records++
		added.Count = addSaturating(added.Count, total)
		*next++
		return true
	}
}

// none reports whether there is no value site.
func (v *Values) none() bool {
	sites := 0
	for _, k := range v {
		sites += len(k)
	}
	return sites == 0
}

// addRaw is [addCounts] for little-endian counters. It also returns their
// unweighted sum.
func addRaw(dst []uint64, raw []byte, weight uint64) (total uint64, overflow bool) {
	for i := range dst {
		if len(raw) < 8 {
			break
		}
		c := le.Uint64(raw)
		raw = raw[8:]
		total = addSaturating(total, c)
		hi, lo := bits.Mul64(c, weight)
		sum, carry := bits.Add64(dst[i], lo, 0)
		if hi != 0 || carry != 0 || sum > maxCount {
			sum, overflow = maxCount, true
		}
		dst[i] = sum
	}
	return total, overflow
}

// Places in the records that [rawProfile.modern] is about.
const (
	modernCounterPtr  = 16
	modernNumCounters = 48
	modernValueSites  = 52
	modernBitmapBytes = 60
)

// modern reports whether the profile is of a little-endian 64-bit program,
// counts, and has the records that LLVM has made since release 20.
func (p *rawProfile) modern() bool {
	l := &p.layout
	return l.size == modernRecord && l.funcPtr == modernFuncPtr && l.nameRef == 0 && l.hash == 8 &&
		l.counterPtr == modernCounterPtr && l.numCounters == modernNumCounters &&
		l.valueSites == modernValueSites && l.kinds == NumValueKinds && l.bitmapBytes == modernBitmapBytes &&
		p.version >= 8 && p.ptr == 8 && p.order == binary.ByteOrder(le) && p.variant&(SingleByte|HasTemporal) == 0
}

// modernSites is not 0 if the record has value sites.
func modernSites(b *[modernRecord]byte) uint64 {
	return le.Uint64(b[modernValueSites:]) & (1<<(16*NumValueKinds) - 1)
}

// soundModern is what [rawReader.sound] does record by record, for modern
// ones. If it finds anything rare or wrong it leaves that to the general way.
func (r *rawReader) soundModern(named bool) (end int, ok bool) {
	p := r.cur
	limit, delta := uint64(len(p.counters.data)), p.fields[fCountersDelta]
	pos, place := int(p.valueData), uint64(0)
	for rest := p.records.data; len(rest) >= modernRecord; rest = rest[modernRecord:] {
		b := (*[modernRecord]byte)(rest)
		n := uint64(le.Uint32(b[modernNumCounters:]))
		start := le.Uint64(b[modernCounterPtr:]) - delta + place
		if n == 0 || start >= limit || n > (limit-start)/8 || le.Uint32(b[modernBitmapBytes:]) != 0 {
			return 0, false
		}
		if named && r.nameOf(le.Uint64(b[0:])) == "" {
			return 0, false
		}
		if modernSites(b) != 0 {
			var f shapeFunction
			for k := range f.sites {
				f.sites[k] = int32(le.Uint16(b[modernValueSites+2*k:]))
			}
			length, ok := f.matchBlob(p.order, r.data[pos:])
			if !ok {
				return 0, false
			}
			pos += length
		}
		place += modernRecord
	}
	return pos, true
}
