package instrument

import (
	"strconv"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

type prober interface {
	// entryProbe prints the probe of the function at the start of its code.
	entryProbe(t *asm.Text, p *probe)
	// blockProbe prints a store to the byte at record+offset.
	blockProbe(t *asm.Text, p *probe, offset int)
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

// probe says where a probe is printed and what it does.
type probe struct {
	target asm.Target
	record string // symbol of the raw record, or of its words in the section of hits
	hits   bool   // the latter
	width  int    // bytes for each byte of the raw record
	label  string // name for a label inside the probe
	counts bool
	// samples is set if the probe calls the sampler for some of the calls.
	samples bool
	atomic  bool
	threads bool // see Options
	syntax  asm.X86Syntax
	thumb   bool
	// scratch are registers that the probe may overwrite.
	scratch []string
	anchors int // labels made so far, of ARM probes
}

// helper returns the runtime function for calls that need more than a count: the
// first one, or those to sample.
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

// at returns the expression for an offset in the raw record.
func (p *probe) at(offset int) string {
	if offset == 0 {
		return p.record
	}
	return p.record + "+" + strconv.Itoa(offset*p.width)
}
