package instrument

import (
	"strconv"

	"github.com/profuse-pgo/profuse/instrument/internal/asm"
)

// prober prints the probes of an instruction set.
type prober interface {
	// entryProbe appends the probe of the function at the start of its code.
	entryProbe(dst []byte, p *probe) []byte
	// blockProbe appends a store of zero to the byte at record+offset.
	blockProbe(dst []byte, p *probe, offset int) []byte
}

func proberFor(a asm.Arch) prober {
	switch a {
	case asm.X86_64:
		return x86Probes{}
	case asm.AArch64:
		return aarch64Probes{}
	}
	return armProbes{}
}

// probe is where and for what a probe is printed.
type probe struct {
	target asm.Target
	record string // symbol of the raw record
	label  string // free for a label inside of the probe
	counts bool
	// samples is set where some of the calls counted are looked at.
	samples bool
	atomic  bool
	threads bool // see Options
	syntax  asm.X86Syntax
	thumb   bool
	// scratch are registers that the probe may overwrite.
	scratch []string
	anchors int // labels made so far, of ARM probes
}

// helper is the symbol of the runtime's function for the calls that are not
// only counted.
func (p *probe) helper() string {
	name := firstCallHelper
	if p.samples {
		name = sampleHelper
	}
	if p.target.Format == asm.MachO {
		return "_" + name
	}
	return name
}

// at returns the place in the raw record.
func (p *probe) at(offset int) string {
	if offset == 0 {
		return p.record
	}
	return p.record + "+" + strconv.Itoa(offset)
}

// appendLines appends instructions, each on a line.
func appendLines(dst []byte, lines ...string) []byte {
	for _, line := range lines {
		dst = append(append(append(dst, '\t'), line...), '\n')
	}
	return dst
}
