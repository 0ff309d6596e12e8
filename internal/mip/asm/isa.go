package asm

// FlowKind is what an instruction does to the flow of control.
type FlowKind byte

const (
	FlowNone     FlowKind = iota
	FlowBranch            // conditional: to the target or the next instruction
	FlowJump              // to the target
	FlowIndirect          // to an address in a register or in memory
	FlowCall              // to the next instruction, if the callee returns
	FlowLeave             // possibly not to the next instruction: system calls and the like
	FlowReturn
	FlowTrap // never goes on
)

type isa interface {
	flow(ins []byte, syntax X86Syntax) (kind FlowKind, target []byte)
	// staysFirst reports whether the instruction has to precede the entry
	// probe: landing markers and the sleds of patchable entries.
	staysFirst(ins []byte) bool
}

func (a Arch) isa() isa {
	switch a {
	case X86_64:
		return x86{}
	case AArch64:
		return aarch64{}
	}
	return armv7{}
}

// Flow classifies an instruction; syntax matters for x86_64 only. target is the operand
// of a direct branch, jump or call, or the whole operand of an indirect one.
func (a Arch) Flow(ins []byte, syntax X86Syntax) (kind FlowKind, target []byte) {
	return a.isa().flow(ins, syntax)
}

// Flow classifies an instruction of the file, see [Arch.Flow].
func (f *File) Flow(s *Stmt) (kind FlowKind, target []byte) {
	return f.isa.flow(f.Text(s), s.Syntax)
}
