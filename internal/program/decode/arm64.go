package decode

import (
	"encoding/binary"

	"golang.org/x/arch/arm64/arm64asm"
)

const arm64Size = 4

func decodeARM64(code []byte, addr uint64) Instruction {
	if len(code) < arm64Size {
		return Instruction{Size: len(code)}
	}
	w := binary.LittleEndian.Uint32(code)
	i := Instruction{Size: arm64Size, Valid: true}
	// The distance of the target is a field of bits, in instructions.
	relative := func(c Class, from, width uint) {
		i.Class, i.Direct = c, true
		i.Target = addr + uint64(int64(w)<<(64-from-width)>>(64-width))<<2
	}
	switch {
	case w>>26 == 0x05:
		relative(Jump, 0, 26)
	case w>>26 == 0x25:
		relative(Call, 0, 26)
	case w&0xff000010 == 0x54000000, w&0x7e000000 == 0x34000000:
		relative(Branch, 5, 19)
	case w&0x7e000000 == 0x36000000:
		relative(Branch, 5, 14)
	case w&0xfffffc1f == 0xd61f0000:
		i.Class = IndirectJump
	case w&0xfffffc1f == 0xd63f0000:
		i.Class = Call
	case w&0xfffffc1f == 0xd65f0000, w == 0xd69f03e0, w == 0xd6bf03e0:
		i.Class = Return
	default:
		i.Valid = validARM64(w, code)
	}
	return i
}

// validARM64 reports whether MC decodes the word for a processor of the base architecture, with floating point and
// vectors. The first cases are frequent, and where package arm64asm differs.
func validARM64(w uint32, code []byte) bool {
	switch {
	case w&0x1f800000 == 0x11000000, w&0x1f000000 == 0x10000000: // ADD and SUB of immediates, ADR
		return true
	case w&0x3b000000 == 0x39000000 && w&0x04000000 == 0: // LDR, STR of general registers
		return w>>31 == 0 || w>>22&3 < 3
	case w&0x1f800000 == 0x12800000: // MOVN, MOVZ, MOVK
		return w>>29&3 != 1 && (w>>31 == 1 || w>>22&1 == 0)
	case w&0x1f000000 == 0x0a000000: // AND, ORR, EOR of shifted registers
		return w>>31 == 1 || w>>15&1 == 0
	case w&0x1fe00000 == 0x0b200000: // ADD, SUB of extended registers
		return w>>10&7 <= 4 && w>>22&3 == 0
	case w&0xffc00000 == 0xd5000000: // system instructions
		return true
	case w>>16 == 0, w&0xffe0001c == 0xd4000000 && w&3 != 0: // UDF; SVC, HVC, SMC
		return true
	case w&0x1f800000 == 0x12000000 && onesMask(w): // logical immediates
		return false
	case w&0x7fe0e000 == 0x1ac04000, // CRC32
		w&0xffe08c00 == 0x5e000000, w&0xfffe0c00 == 0x5e280800, // SHA
		w&0xfffe0c00 == 0x4e280800, w&0xbfe0fc00 == 0x0ee0e000: // AES, PMULL of 64 bits
		return false
	}
	_, err := arm64asm.Decode(code[:arm64Size])
	return err == nil
}

// onesMask reports whether a logical immediate would be all ones, which is no immediate.
func onesMask(w uint32) bool {
	size := uint32(0x20)
	ones := w >> 10 & 0x3f
	if w>>22&1 == 0 { // the element is as large as the leading ones of imms say
		for size > 1 && ones&size != 0 {
			size >>= 1
		}
		return ones&(size-1) == size-1
	}
	return ones == 0x3f
}
