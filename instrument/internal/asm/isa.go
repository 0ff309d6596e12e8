package asm

// FlowKind is what an instruction does to the flow of control.
type FlowKind byte

const (
	FlowNone     FlowKind = iota
	FlowBranch            // conditional: target or next
	FlowJump              // target only
	FlowIndirect          // anywhere, the operand tells
	FlowCall              // next, if the callee returns
	FlowLeave             // next, perhaps: system calls and the like
	FlowReturn
	FlowTrap // nowhere
)

// isa is an instruction set.
type isa interface {
	// flow classifies an instruction. target is the operand of a direct
	// branch, jump or call, and the whole operand of an indirect one.
	Flow(ins []byte, syntax X86Syntax) (kind FlowKind, target []byte)
	// staysFirst reports whether the instruction has to precede the entry
	// probe: landing markers and the sleds of patchable entries.
	staysFirst(ins []byte) bool
}

func (t Target) isa() isa {
	switch t.Arch {
	case X86_64:
		return x86{}
	case AArch64:
		return Aarch64{}
	}
	return Arm{}
}
