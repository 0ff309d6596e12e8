package instrument

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

type armProbes struct{}

// address prints instructions that load the address of a byte in the record
// into a register. They preserve the flags.
func (armProbes) address(t *asm.Text, p *probe, reg string, offset int) {
	pcOffset, add := "8", "add\t"+reg+", pc, "+reg
	if p.thumb {
		pcOffset, add = "4", "add\t"+reg+", pc"
	}
	p.anchors++
	anchor := p.label + "_" + strconv.Itoa(p.anchors)
	distance := "(" + p.at(offset) + "-(" + anchor + "+" + pcOffset + "))"
	t.Lines("movw\t"+reg+", #:lower16:"+distance, "movt\t"+reg+", #:upper16:"+distance)
	t.Line(anchor, ":")
	t.Lines(add)
}

// entryProbe saves the registers it uses. r12, free by the procedure call
// standard, holds gcc's static chain. Flags are free at entry.
func (a armProbes) entryProbe(t *asm.Text, p *probe) {
	if !p.counts {
		zero := "mov\tr1, #0"
		if p.thumb {
			zero = "movs\tr1, #0"
		}
		t.Lines("push\t{r0, r1}")
		a.address(t, p, "r0", 0)
		t.Lines(zero, "strb\tr1, [r0]", "pop\t{r0, r1}")
		return
	}
	saved, pass := "{r0, r1}", "bne\t" // not the first call
	if p.atomic {
		saved = "{r0, r1, r2, r3}" // r3 keeps the stack aligned
	}
	if p.samples {
		pass = "bmi\t" // not yet the call to sample
	}
	t.Lines("push\t" + saved)
	a.address(t, p, "r0", 0)
	if p.atomic {
		retry := p.label + "r"
		t.Line(retry, ":")
		t.Lines("ldrex\tr1, [r0]", "adds\tr1, r1, #1", "strex\tr2, r1, [r0]", "cmp\tr2, #0", "bne\t"+retry, "cmp\tr1, #0")
	} else {
		t.Lines("ldr\tr1, [r0]", "adds\tr1, r1, #1", "str\tr1, [r0]")
	}
	t.Lines(pass+p.label, "mov\tr1, lr", "bl\t"+p.helper())
	t.Line(p.label, ":")
	t.Lines("pop\t" + saved)
}

// blockProbe needs two registers, for the address and a zero. It uses the registers of p.scratch; if
// there are too few, it saves and restores others.
func (a armProbes) blockProbe(t *asm.Text, p *probe, offset int) {
	regs := p.scratch
	var saved []string
	for _, r := range []string{"r0", "r1"} {
		if len(regs) < 2 && !slices.Contains(regs, r) {
			regs = append(slices.Clip(regs), r)
			saved = append(saved, r)
		}
	}
	list := "{" + strings.Join(saved, ", ") + "}"
	if saved != nil {
		t.Lines("push\t" + list)
	}
	a.address(t, p, regs[0], offset)
	t.Lines("mov\t"+regs[1]+", #0", "strb\t"+regs[1]+", ["+regs[0]+"]")
	if saved != nil {
		t.Lines("pop\t" + list)
	}
}

// preV7 reports whether directives select an architecture without movw.
func preV7(f *asm.File) bool {
	for i := range f.Stmts {
		s := &f.Stmts[i]
		if s.Kind != asm.StmtDirective || s.Opaque != asm.Transparent {
			continue
		}
		word, rest := asm.SplitWord(f.Text(s))
		switch string(word) {
		case ".arch":
			digits := bytes.TrimPrefix(rest, []byte("armv"))
			if len(digits) > 0 && len(digits) < len(rest) && digits[0] < '7' {
				return !bytes.HasPrefix(digits, []byte("6t2"))
			}
		case ".cpu":
			if bytes.HasPrefix(rest, []byte("arm")) || bytes.HasPrefix(rest, []byte("cortex-m0")) || bytes.HasPrefix(rest, []byte("cortex-m1")) && len(rest) == len("cortex-m1") {
				return true
			}
		case ".eabi_attribute":
			const tagCPUArch, v6M, v6SM, v7 = "6", 11, 12, 10
			tag, value, _ := bytes.Cut(rest, []byte(","))
			if string(bytes.TrimSpace(tag)) == tagCPUArch {
				n, err := strconv.Atoi(string(bytes.TrimSpace(value)))
				if err == nil && (n < v7 || n == v6M || n == v6SM) {
					return true
				}
			}
		}
	}
	return false
}
