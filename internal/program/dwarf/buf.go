package dwarf

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// A buf reads forward through a section. Reading past the end sets bad and returns
// zeros from then on, so callers check once, after decoding a whole structure. It
// is the inner loop of this package and therefore leaner than package cursor.
type buf struct {
	b   []byte
	off int
	big bool // big-endian
	bad bool
}

// at returns a reader at an offset of the section; bad is set if off is past its end.
func at(section []byte, off uint64, big bool) buf {
	if off > uint64(len(section)) {
		return buf{b: section, off: len(section), big: big, bad: true}
	}
	return buf{b: section, off: int(off), big: big}
}

// fail moves to the end, so that loops over what is left end, too.
func (r *buf) fail() { r.bad, r.off = true, len(r.b) }

func (r *buf) more() bool { return r.off < len(r.b) }

func (r *buf) skip(n uint64) {
	if n > uint64(len(r.b)-r.off) {
		r.fail()
		return
	}
	r.off += int(n)
}

func (r *buf) u8() uint8 {
	if r.off >= len(r.b) {
		r.bad = true
		return 0
	}
	v := r.b[r.off]
	r.off++
	return v
}

func (r *buf) u16() uint16 {
	if len(r.b)-r.off < 2 {
		r.fail()
		return 0
	}
	v := binary.LittleEndian.Uint16(r.b[r.off:])
	r.off += 2
	if r.big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

// u24 is for DW_FORM_strx3 and DW_FORM_addrx3.
func (r *buf) u24() uint32 {
	if len(r.b)-r.off < 3 {
		r.fail()
		return 0
	}
	a, b, c := uint32(r.b[r.off]), uint32(r.b[r.off+1]), uint32(r.b[r.off+2])
	r.off += 3
	if r.big {
		a, c = c, a
	}
	return a | b<<8 | c<<16
}

func (r *buf) u32() uint32 {
	if len(r.b)-r.off < 4 {
		r.fail()
		return 0
	}
	v := binary.LittleEndian.Uint32(r.b[r.off:])
	r.off += 4
	if r.big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (r *buf) u64() uint64 {
	if len(r.b)-r.off < 8 {
		r.fail()
		return 0
	}
	v := binary.LittleEndian.Uint64(r.b[r.off:])
	r.off += 8
	if r.big {
		v = bits.ReverseBytes64(v)
	}
	return v
}

func (r *buf) uint(size uint8) uint64 {
	switch size {
	case 1:
		return uint64(r.u8())
	case 2:
		return uint64(r.u16())
	case 4:
		return uint64(r.u32())
	case 8:
		return r.u64()
	}
	r.fail()
	return 0
}

// uleb reads an unsigned LEB128 number. Like other readers of DWARF it drops bits beyond 64.
func (r *buf) uleb() uint64 {
	if r.off < len(r.b) {
		// Most numbers have one byte.
		if b := r.b[r.off]; b < 0x80 {
			r.off++
			return uint64(b)
		}
	}
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b := r.u8()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b < 0x80 {
			return v
		}
	}
}

func (r *buf) sleb() int64 {
	var v int64
	for shift := uint(0); ; {
		b := r.u8()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		shift += 7
		if b < 0x80 {
			// The sign is bit 6 of the last byte.
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
}

func (r *buf) skipULEB() {
	for r.u8() >= 0x80 {
	}
}

func (r *buf) cstring() []byte {
	n := bytes.IndexByte(r.b[r.off:], 0)
	if n < 0 {
		r.fail()
		return nil
	}
	s := r.b[r.off : r.off+n]
	r.off += n + 1
	return s
}

func (r *buf) part(n uint64) buf {
	p := *r
	r.skip(n)
	p.b, p.bad = r.b[:r.off], r.bad
	return p
}

// unit reads the initial length of a unit of any section, returns a reader of the rest of the unit and skips it.
// offSize is the size of offsets in the unit: 8 in 64-bit DWARF, 4 otherwise.
func (r *buf) unit() (body buf, offSize uint8) {
	n := uint64(r.u32())
	offSize = 4
	switch {
	// DWARF 5, 7.4: the length of a unit in the 64-bit format follows this number.
	case n == 0xffffffff:
		n, offSize = r.u64(), 8
	case n >= 0xfffffff0: // reserved
		r.fail()
	}
	return r.part(n), offSize
}
