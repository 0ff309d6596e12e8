// Package decode finds out where machine instructions begin, how long they are, and how each passes control on, as LLVM's
// disassembler (MC) sees it. It names no operands. LLVM's view matters where it differs from a processor's: a lock prefix
// is an instruction of its own, and AArch64 code beyond the base architecture does not decode.
package decode

// A Class says where control goes after an instruction.
type Class uint8

// The classes of instructions. System calls and traps are of class Other.
const (
	Other        Class = iota // to the next instruction
	Call                      // direct, indirect and far calls
	Return                    // returns, from interrupts too
	Jump                      // unconditional direct jumps
	Branch                    // conditional jumps
	IndirectJump              // jumps to an address in a register or in memory, far ones too
)

// EndsRun reports whether a run of instructions ends with an instruction of the class. MC does not count indirect
// jumps as unconditional branches.
func (c Class) EndsRun() bool { return c == Call || c == Return || c == Jump }

// An Instruction is what [Decoder] finds at an address.
type Instruction struct {
	Size  int // in bytes; of bytes that do not decode, how many MC reads before it gives up, at least 1
	Valid bool
	Class Class

	Direct bool   // the target is in the instruction
	Target uint64 // of direct calls, jumps and branches
}

// A Decoder decodes the instruction at the start of code, which is at addr. code is not empty.
type Decoder func(code []byte, addr uint64) Instruction

// For returns the decoder of an architecture, by the names of [object.Image]; nil if there is none.
func For(arch string) Decoder {
	switch arch {
	case "x86_64":
		return decodeX86
	case "aarch64":
		return decodeARM64
	}
	return nil
}
