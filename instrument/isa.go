package instrument

// flowKind is what an instruction does to the flow of control.
type flowKind byte

const (
	flowNone     flowKind = iota
	flowBranch            // conditional: target or next
	flowJump              // target only
	flowIndirect          // anywhere, the operand tells
	flowCall              // next, if the callee returns
	flowLeave             // next, perhaps: system calls and the like
	flowReturn
	flowTrap // nowhere
)

// isa is an instruction set.
type isa interface {
	// flow classifies an instruction. target is the operand of a direct
	// branch, jump or call, and the whole operand of an indirect one.
	flow(ins []byte, syntax x86Syntax) (kind flowKind, target []byte)
	// staysFirst reports whether the instruction has to precede the entry
	// probe: landing markers and the sleds of patchable entries.
	staysFirst(ins []byte) bool
	// entryProbe appends the probe of the function at the start of its code.
	entryProbe(dst []byte, p *probe) []byte
	// blockProbe appends a store of zero to the byte at record+offset.
	blockProbe(dst []byte, p *probe, offset int) []byte
}

// probe is where and for what a probe is printed.
type probe struct {
	target Target
	record string // symbol of the raw record
	label  string // free for a label inside of the probe
	counts bool
	// samples is set where some of the calls counted are looked at.
	samples bool
	atomic  bool
	threads bool // see Options
	syntax  x86Syntax
	thumb   bool
	// scratch are registers that the probe may overwrite.
	scratch []string
	anchors int // labels made so far, of ARM probes
}

func (t Target) isa() isa {
	switch t.Arch {
	case X86_64:
		return x86{}
	case AArch64:
		return aarch64{}
	}
	return arm{}
}

// helper is the symbol of the runtime's function for the calls that are not
// only counted.
func (p *probe) helper() string {
	name := FirstCallHelper
	if p.samples {
		name = SampleHelper
	}
	if p.target.Format == MachO {
		return "_" + name
	}
	return name
}
