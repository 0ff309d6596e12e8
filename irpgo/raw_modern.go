package irpgo

import "encoding/binary"

// The data records that LLVM has made since release 20, of 64-bit little-endian
// programs, are what nearly all profiles have. What is done for every record of
// every profile has a way of its own for these, with the places of the fields
// in the code; the other is for any layout, and has the words for what is wrong.

// Places in these records, see [rawProfile.modern], in bytes.
const (
	modernRecord      = 64 // size
	modernCounterPtr  = 16
	modernFuncPtr     = 32
	modernNumCounters = 48
	modernValueSites  = 52
	modernBitmapBytes = 60
)

// modern reports whether the profile has such records, and counts.
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

// matchModern is [rawShape.matchRecords] for modern records, also those of LLVM
// 18 and 19, which differ in the number of value kinds only. The addresses of
// functions without one are 0 in all runs.
func matchModern(is, was []byte) (slide uint64, ok bool) {
	for i := modernFuncPtr; i < len(was); i += modernRecord {
		if addr := le.Uint64(was[i:]); addr != 0 {
			slide = le.Uint64(is[i:]) - addr
			break
		}
	}
	diff := uint64(0)
	for len(is) >= modernRecord && len(was) >= modernRecord {
		a, b := (*[modernRecord]byte)(is), (*[modernRecord]byte)(was)
		diff |= (le.Uint64(a[0:]) ^ le.Uint64(b[0:])) | (le.Uint64(a[8:]) ^ le.Uint64(b[8:])) |
			(le.Uint64(a[16:]) ^ le.Uint64(b[16:])) | (le.Uint64(a[24:]) ^ le.Uint64(b[24:])) |
			(le.Uint64(a[48:]) ^ le.Uint64(b[48:])) | (le.Uint64(a[56:]) ^ le.Uint64(b[56:]))
		x, y := le.Uint64(a[modernFuncPtr:]), le.Uint64(b[modernFuncPtr:])
		if x == 0 || y == 0 {
			diff |= x | y
		} else {
			diff |= x - y - slide
		}
		is, was = is[modernRecord:], was[modernRecord:]
	}
	return slide, diff == 0
}
