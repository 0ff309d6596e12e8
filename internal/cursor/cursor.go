// Package cursor walks the bytes of one section of a profile.
//
// A [Cursor] holds the section's name, its offset in the file, its byte order and the first failure. After that
// failure every get returns zero and the error stays, so the caller decodes a record straight through, in the order
// of the layout, and checks for an error once.
package cursor

import (
	"encoding/binary"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Cursor reads forward through a section. It never allocates from a size found in the input: see [Cursor.Count].
type Cursor struct {
	Section string
	Record  int // index of the record being read, for errors; -1 when in none

	base  int64
	buf   []byte
	pos   int
	order binary.ByteOrder
	err   error
}

// New returns a cursor over buf, which begins at file offset base.
func New(section string, base int64, buf []byte, order binary.ByteOrder) *Cursor {
	return &Cursor{Section: section, Record: -1, base: base, buf: buf, order: order}
}

// Err returns the first failure, a *[profile.FormatError], or nil.
func (c *Cursor) Err() error { return c.err }

// Offset returns the absolute file offset of the next byte.
func (c *Cursor) Offset() int64 { return c.base + int64(c.pos) }

// Pos returns the position within the section.
func (c *Cursor) Pos() int { return c.pos }

// Len returns the number of bytes left.
func (c *Cursor) Len() int { return len(c.buf) - c.pos }

// Rest returns the bytes left without copying or passing over them.
func (c *Cursor) Rest() []byte { return c.buf[c.pos:] }

// Order returns the byte order.
func (c *Cursor) Order() binary.ByteOrder { return c.order }

// At returns the place at an absolute offset, in the record being read.
func (c *Cursor) At(off int64) flaw.Position {
	return flaw.At(c.Section, off).InRecord(c.Record)
}

// Fail records a failure, unless there is one already. err is one that a place of [Cursor.At] began.
func (c *Cursor) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Bytes returns the next n bytes without copying them.
func (c *Cursor) Bytes(n uint64, field string) []byte {
	if c.err != nil {
		return nil
	}
	if n > uint64(c.Len()) {
		c.Fail(c.At(c.Offset()).Field("length of the "+field).Gotf("%d bytes", n).
			Wantf("at most the %d bytes left", c.Len()).Truncated())
		return nil
	}
	b := c.buf[c.pos : c.pos+int(n) : c.pos+int(n)]
	c.pos += int(n)
	return b
}

// fixed returns the next n bytes, which hold one value of fixed size.
func (c *Cursor) fixed(n int, field string) []byte {
	if c.err == nil && n > c.Len() {
		c.Fail(c.At(c.Offset()).Field(field).Gotf("cut off after %d bytes", c.Len()).Wantf("%d bytes", n).Truncated())
	}
	if c.err != nil {
		return nil
	}
	c.pos += n
	return c.buf[c.pos-n : c.pos]
}

// Skip passes over n bytes.
func (c *Cursor) Skip(n uint64, field string) { c.Bytes(n, field) }

// Align passes over padding up to the next multiple of n from the section's start.
func (c *Cursor) Align(n int, field string) {
	if r := c.pos % n; r != 0 {
		c.Skip(uint64(n-r), field)
	}
}

// U8 reads one byte.
func (c *Cursor) U8(field string) uint8 {
	if b := c.fixed(1, field); b != nil {
		return b[0]
	}
	return 0
}

// U16 reads a 16-bit unsigned integer.
func (c *Cursor) U16(field string) uint16 {
	if b := c.fixed(2, field); b != nil {
		return c.order.Uint16(b)
	}
	return 0
}

// U32 reads a 32-bit unsigned integer.
func (c *Cursor) U32(field string) uint32 {
	if b := c.fixed(4, field); b != nil {
		return c.order.Uint32(b)
	}
	return 0
}

// U64 reads a 64-bit unsigned integer.
func (c *Cursor) U64(field string) uint64 {
	if b := c.fixed(8, field); b != nil {
		return c.order.Uint64(b)
	}
	return 0
}

// Ptr reads an address of the given width in bytes, 4 or 8, zero-extended.
func (c *Cursor) Ptr(width int, field string) uint64 {
	if width == 4 {
		return uint64(c.U32(field))
	}
	return c.U64(field)
}

// Count checks an element count against the bytes left: n elements of at
// least elemSize bytes must fit. What it returns is safe to allocate with.
func (c *Cursor) Count(n uint64, elemSize int, field string) int {
	if c.err != nil {
		return 0
	}
	if limit := uint64(c.Len() / elemSize); n > limit {
		c.Fail(c.At(c.Offset()).Field(field).Got(n).Wantf("at most %d in the %d bytes left", limit, c.Len()).
			Truncated())
		return 0
	}
	return int(n)
}

// ULEB reads an unsigned LEB128 number of at most 64 bits.
func (c *Cursor) ULEB(field string) uint64 {
	if c.err == nil && c.pos < len(c.buf) {
		if b := c.buf[c.pos]; b < 0x80 { // most numbers
			c.pos++
			return uint64(b)
		}
	}
	return c.longULEB(field)
}

// Short reads the next unsigned LEB128 number if it has one byte; otherwise it reads nothing and ok is
// false. It is for loops over numbers that are mostly short.
func (c *Cursor) Short() (n uint64, ok bool) {
	if c.err != nil || c.pos >= len(c.buf) || c.buf[c.pos] >= 0x80 {
		return 0, false
	}
	c.pos++
	return uint64(c.buf[c.pos-1]), true
}

// ULEBs reads four numbers. fields are their names.
func (c *Cursor) ULEBs(fields *[4]string) (n0, n1, n2, n3 uint64) {
	if c.err == nil && c.Len() >= 8 {
		eight := binary.LittleEndian.Uint64(c.buf[c.pos:])
		n0, n1, n2, n3 = eight&0x7f, eight>>8&0x7f, eight>>16&0x7f, eight>>24&0x7f
		switch {
		case eight&0x80808080 == 0: // of one byte each
			c.pos += 4
			return n0, n1, n2, n3
		case eight&0x80_80808080_808080 == 0x00_80808080_000000: // the last of five
			c.pos += 8
			return n0, n1, n2, n3 | eight>>32&0x7f<<7 | eight>>40&0x7f<<14 | eight>>48&0x7f<<21 | eight>>56<<28
		}
	}
	return c.ULEB(fields[0]), c.ULEB(fields[1]), c.ULEB(fields[2]), c.ULEB(fields[3])
}

func (c *Cursor) longULEB(field string) uint64 {
	start := c.Offset()
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b := c.U8(field)
		if c.err != nil {
			return 0
		}
		if shift == 63 && b > 1 || shift > 63 {
			c.Fail(c.At(start).Field(field).Got("a ULEB128 of more than 64 bits").Want("at most 64 bits").Corrupt())
			return 0
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
}

// SLEB reads a signed LEB128 number of at most 64 bits.
func (c *Cursor) SLEB(field string) int64 {
	start := c.Offset()
	var v int64
	for shift := uint(0); ; shift += 7 {
		b := c.U8(field)
		if c.err != nil {
			return 0
		}
		if shift > 63 || shift == 63 && b != 0 && b != 0x7f {
			c.Fail(c.At(start).Field(field).Got("a SLEB128 of more than 64 bits").Want("at most 64 bits").Corrupt())
			return 0
		}
		v |= int64(b&0x7f) << shift
		if b < 0x80 {
			if shift < 57 && b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
}

// AppendULEB appends v as unsigned LEB128.
func AppendULEB(b []byte, v uint64) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// PadTo returns how many bytes bring n up to a multiple of align.
func PadTo(n uint64, align uint64) uint64 { return -n & (align - 1) }
