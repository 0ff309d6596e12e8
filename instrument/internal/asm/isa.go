package asm

// FlowKind is what an instruction does to the flow of control.
type FlowKind byte

const (
	FlowNone     FlowKind = iota
	FlowBranch            // conditional: to the target or the next instruction
	FlowJump              // to the target
	FlowIndirect          // to a place that the operand holds
	FlowCall              // to the next instruction, if the callee returns
	FlowLeave             // perhaps to the next instruction: system calls and the like
	FlowReturn
	FlowTrap // to none
)

// isa is an instruction set.
type isa interface {
	// Flow classifies an instruction. target is the operand of a direct branch,
	// jump or call, and the whole operand of an indirect one.
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
