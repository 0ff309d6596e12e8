package decode

import "encoding/binary"

// The tables have a letter for each opcode, which says what follows it:
//
//	.  nothing                    p  (a prefix)
//	m  ModRM                      r  (a REX prefix)
//	n  ModRM and imm8             s  (handled by the code)
//	q  ModRM and imm16 or imm32   x  (does not decode)
//	b  imm8                       j  a distance of 16 or 32 bits
//	w  imm16                      e  imm16 and imm8
//	z  imm16 or imm32             o  an address
//	v  imm16, imm32 or imm64      t  ModRM and, if its reg field is 0, an immediate as of opcode 80 or 81
const (
	oneByte = "mmmmbzxxmmmmbzxs" + "mmmmbzxxmmmmbzxx" + "mmmmbzpxmmmmbzpx" + "mmmmbzpxmmmmbzpx" +
		"rrrrrrrrrrrrrrrr" + "................" + "xxxmppppzqbn...." + "bbbbbbbbbbbbbbbb" +
		"nqxnmmmmmmmmmmmm" + "..........x....." + "oooo....bz......" + "bbbbbbbbvvvvvvvv" +
		"nnw.xxnqe.w..bx." + "mmmmxxx.mmmmmmmm" + "bbbbbbbbjjxb...." + "pxpp..tt......mm"
	twoByte = "mmmmx.....x.xm.n" + "mmmmmmmmmmmmmmmm" + "mmmmxxxxmmmmmmmm" + "......x.sxsxxxxx" +
		"mmmmmmmmmmmmmmmm" + "mmmmmmmmmmmmmmmm" + "mmmmmmmmmmmmmmmm" + "nnnnmmm.mmxxmmmm" +
		"jjjjjjjjjjjjjjjj" + "mmmmmmmmmmmmmmmm" + "...mnmmm...mnmmm" + "mmmmmmmmmmnmmmmm" +
		"mmnmnnnm........" + "mmmmmmmmmmmmmmmm" + "mmmmmmmmmmmmmmmm" + "mmmmmmmmmmmmmmmm"
)

// x86 is one instruction of 64-bit mode while it is decoded.
type x86 struct {
	code []byte
	at   int // of the next byte
	cut  bool

	opSize, addrSize, wide bool // prefixes 66, 67, and W of REX and its like
	repeat                 byte // F2 or F3; 0 if there is none
	first                  byte // ModRM
	firstAt                int  // where it is
}

func (d *x86) u8() byte {
	if d.at >= len(d.code) {
		d.cut = true
		return 0
	}
	d.at++
	return d.code[d.at-1]
}

func (d *x86) peek() byte {
	if d.at < len(d.code) {
		return d.code[d.at]
	}
	return 0
}

func decodeX86(code []byte, addr uint64) Instruction {
	d := x86{code: code}
	i := d.decode()
	if d.cut || !i.Valid {
		return Instruction{Size: max(1, min(d.at, len(code)))}
	}
	i.Size = d.at
	i.Target += addr + uint64(d.at)
	if !i.Direct {
		i.Target = 0
	}
	return i
}

var invalid Instruction

// decode returns the instruction without its size. Its target is relative to the end of the instruction.
func (d *x86) decode() Instruction {
	op, alone := d.prefixes()
	if alone {
		return Instruction{Valid: true}
	}
	switch {
	case op == 0x0f:
		return d.legacyTwoByte()
	case op == 0xc5:
		p := d.u8()
		return d.vector(1, p&3)
	case op == 0xc4:
		b, p := d.u8(), d.u8()
		d.wide = p&0x80 != 0
		return d.vector(b&0x1f, p&3)
	case op == 0x62:
		b, p, _ := d.u8(), d.u8(), d.u8()
		d.wide = p&0x80 != 0
		return d.evex(b&7, p&3)
	case op == 0x8f && d.peek()&0x38 != 0:
		return d.xop()
	case op == 0xd5: // REX2
		b := d.u8()
		d.wide = b&8 != 0
		if b&0x80 != 0 {
			return d.inTwoByte(d.u8())
		}
		if op = d.u8(); op == 0xa1 { // JMPABS
			d.imm(8)
			return Instruction{Valid: true, Class: Jump}
		}
	}
	return d.inOneByte(op)
}

// prefixes reads the prefixes and the byte after them. alone: MC takes the prefix as an instruction.
func (d *x86) prefixes() (op byte, alone bool) {
	for !d.cut {
		b := d.u8()
		next := d.peek()
		switch b {
		case 0xf0:
			if d.at == 1 {
				return b, true
			}
		case 0xf2, 0xf3:
			// XACQUIRE and XRELEASE before what can take them.
			exchange := next == 0xf0 || next&0xfe == 0x86 || next&0xf8 == 0x90
			store := b == 0xf3 && (next == 0x88 || next == 0x89 || next == 0xc6 || next == 0xc7)
			if store || exchange && !(b == 0xf3 && next == 0x90) {
				return b, true
			}
			d.repeat = b
		case 0x66:
			d.opSize = true
		case 0x67:
			d.addrSize = true
		case 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65:
		default:
			if b&0xf0 != 0x40 {
				return b, false
			}
			// Another prefix behind REX voids it.
			d.wide = b&8 != 0 && !isPrefix(next)
			continue
		}
		d.wide = false
	}
	return 0, false
}

func isPrefix(b byte) bool { return oneByte[b] == 'p' || oneByte[b] == 'r' }

func (d *x86) inOneByte(op byte) Instruction {
	reg, ok := d.operands(oneByte[op], op)
	if !ok {
		return invalid
	}
	i := Instruction{Valid: true}
	switch {
	case op&0xf8 == 0xd8 && !validX87(d.first, op), op == 0x8d && d.first >= 0xc0:
		return d.without()
	case op&0xf0 == 0x70, op&0xfc == 0xe0:
		d.relative(&i, Branch, 1)
	case op == 0xeb:
		d.relative(&i, Jump, 1)
	case op == 0xe8:
		d.relative(&i, Call, 4)
	case op == 0xe9:
		d.relative(&i, Jump, d.distance())
	case op == 0xc2, op == 0xc3, op == 0xca, op == 0xcb, op == 0xcf:
		i.Class = Return
	case op == 0xff && (reg == 2 || reg == 3):
		i.Class = Call
	case op == 0xff && (reg == 4 || reg == 5):
		i.Class = IndirectJump
	case op == 0xff && reg == 7, op == 0xfe && reg > 1, op == 0x8e && reg > 5, op == 0x8c && reg > 5:
		return d.without()
	case op&0xfe == 0xc6 && reg != 0:
		// XABORT and XBEGIN
		if d.first != 0xf8 {
			return d.without()
		}
		if op == 0xc7 {
			d.relative(&i, Branch, d.distance())
		}
	}
	return i
}

// without returns an instruction that does not decode. MC reads it up to ModRM.
func (d *x86) without() Instruction {
	d.at = d.firstAt + 1
	return invalid
}

// validX87 reports whether a floating point instruction of the old kind exists. The strings have the forms that do not,
// by opcode: the numbers of the forms in memory, and the first and the last ModRM bytes of forms with registers.
func validX87(modRM, op byte) bool {
	if modRM < 0xc0 {
		reg := modRM >> 3 & 7
		return !(op == 0xd9 && reg == 1 || op == 0xdb && (reg == 4 || reg == 6) || op == 0xdd && reg == 5)
	}
	gaps := [8]string{
		1: "\xd1\xdf\xe2\xe3\xe6\xe7\xef\xef", 2: "\xe0\xe8\xea\xff", 3: "\xe0\xe1\xe4\xe7\xf8\xff", 4: "\xd0\xdf",
		5: "\xc8\xcf\xf0\xff", 6: "\xd0\xd8\xda\xdf", 7: "\xc8\xdf\xe1\xe7\xf8\xff",
	}[op&7]
	for ; len(gaps) > 0; gaps = gaps[2:] {
		if gaps[0] <= modRM && modRM <= gaps[1] {
			return false
		}
	}
	return true
}

func (d *x86) legacyTwoByte() Instruction {
	op := d.u8()
	switch op {
	case 0x38:
		d.u8()
		d.operands('m', 0)
		return Instruction{Valid: true}
	case 0x3a:
		d.u8()
		d.operands('n', 0)
		return Instruction{Valid: true}
	}
	return d.inTwoByte(op)
}

func (d *x86) inTwoByte(op byte) Instruction {
	if op&0xfc == 0x20 { // moves of control registers have register operands whatever mod says
		if d.u8() < 0xc0 {
			return invalid
		}
		return Instruction{Valid: true}
	}
	reg, ok := d.operands(twoByte[op], 0)
	switch {
	case !ok:
		return invalid
	case op == 0xff, op == 0xb8 && d.repeat != 0xf3, op == 0xba && reg < 4:
		return d.without()
	case op == 0x78 && (d.opSize || d.repeat == 0xf2): // EXTRQ, INSERTQ
		d.imm(2)
	}
	i := Instruction{Valid: true}
	if op&0xf0 == 0x80 {
		d.relative(&i, Branch, d.distance())
	}
	return i
}

// vector reads what follows a VEX prefix.
func (d *x86) vector(table, pp byte) Instruction {
	d.opSize = pp == 1
	op := d.u8()
	switch table {
	case 1:
		switch op {
		case 0x77:
			return Instruction{Valid: true}
		case 0x70, 0x71, 0x72, 0x73, 0xc2, 0xc4, 0xc5, 0xc6:
			d.operands('n', 0)
		default:
			d.operands('m', 0)
		}
	case 2, 5, 6:
		d.operands('m', 0)
	case 3:
		d.operands('n', 0)
	case 7:
		d.operands('m', 0)
		d.imm(4)
	default:
		return invalid
	}
	return Instruction{Valid: true}
}

// evex reads what follows an EVEX prefix. Table 4 has instructions of general registers.
func (d *x86) evex(table, pp byte) Instruction {
	if table != 4 {
		return d.vector(table, pp)
	}
	d.opSize = pp == 1
	op := d.u8()
	kind := byte('m')
	switch op {
	case 0x24, 0x2c, 0x80, 0x83, 0xc0, 0xc1, 0x6b:
		kind = 'n'
	case 0x81, 0x69:
		kind = 'q'
	case 0xf6, 0xf7:
		kind = 't'
	}
	d.operands(kind, op)
	return Instruction{Valid: true}
}

// xop reads what follows the first byte of AMD's XOP prefix.
func (d *x86) xop() Instruction {
	table := d.u8() & 0x1f
	d.u8()
	d.u8()
	switch table {
	case 8:
		d.operands('n', 0)
	case 9:
		d.operands('m', 0)
	case 10:
		d.operands('m', 0)
		d.imm(4)
	default:
		return invalid
	}
	return Instruction{Valid: true}
}

// operands reads the ModRM byte with what belongs to it, and the immediate. reg is the middle field of ModRM.
func (d *x86) operands(kind, op byte) (reg byte, ok bool) {
	switch kind {
	case '.':
	case 'm':
		reg = d.memory()
	case 'n':
		reg = d.memory()
		d.imm(1)
	case 'q':
		reg = d.memory()
		d.imm(d.word())
	case 't':
		if reg = d.peek() >> 3 & 7; reg == 1 {
			d.u8()
			return reg, false
		}
		d.memory()
		if reg == 0 && op&1 == 0 {
			d.imm(1)
		} else if reg == 0 {
			d.imm(d.word())
		}
	case 'b':
		d.imm(1)
	case 'w':
		d.imm(2)
	case 'e':
		d.imm(3)
	case 'z':
		d.imm(d.word())
	case 'v':
		if d.wide {
			d.imm(8)
		} else {
			d.imm(d.word())
		}
	case 'o':
		if d.addrSize {
			d.imm(4)
		} else {
			d.imm(8)
		}
	case 'j':
		if op == 0xe8 {
			d.imm(4)
		} else {
			d.imm(d.distance())
		}
	default:
		return 0, false
	}
	return reg, true
}

// word returns the size of immediates that the operand size governs.
func (d *x86) word() int {
	if d.opSize && !d.wide {
		return 2
	}
	return 4
}

// distance returns the size of the distance of jumps and branches that are not short.
func (d *x86) distance() int { return d.word() }

// memory reads a ModRM byte, and the SIB byte and displacement that it asks for.
func (d *x86) memory() (reg byte) {
	m := d.u8()
	d.first, d.firstAt = m, d.at-1
	mod, rm := m>>6, m&7
	if mod == 3 {
		return m >> 3 & 7
	}
	if rm == 4 {
		rm = d.u8() & 7
	}
	switch {
	case mod == 1:
		d.imm(1)
	case mod == 2, rm == 5:
		d.imm(4)
	}
	return m >> 3 & 7
}

// imm reads n bytes, at most 8, as a little-endian number.
func (d *x86) imm(n int) uint64 {
	if n > len(d.code)-d.at {
		d.cut, d.at = true, len(d.code)
		return 0
	}
	var b [8]byte
	copy(b[:], d.code[d.at:d.at+n])
	d.at += n
	return binary.LittleEndian.Uint64(b[:])
}

// relative takes the n bytes just read as the distance of the target from the end of the instruction.
func (d *x86) relative(i *Instruction, c Class, n int) {
	i.Class = c
	if d.cut {
		return
	}
	var b [8]byte
	copy(b[8-n:], d.code[d.at-n:d.at])
	i.Direct, i.Target = true, uint64(int64(binary.LittleEndian.Uint64(b[:]))>>(64-8*n))
}
