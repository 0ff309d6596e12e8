package instrument

import (
	"bytes"
	"strconv"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// armProbes prints probes for ARMv7 and later, in ARM and Thumb-2 code.
type armProbes struct{}

// address appends instructions that load the address of a byte in the record
// into a register. They preserve the flags.
func (armProbes) address(dst []byte, p *probe, reg string, offset int) []byte {
	pcOffset, add := "8", "add\t"+reg+", pc, "+reg
	if p.thumb {
		pcOffset, add = "4", "add\t"+reg+", pc"
	}
	p.anchors++
	anchor := p.label + "_" + strconv.Itoa(p.anchors)
	distance := "(" + p.at(offset) + "-(" + anchor + "+" + pcOffset + "))"
	dst = appendLines(dst, "movw\t"+reg+", #:lower16:"+distance, "movt\t"+reg+", #:upper16:"+distance)
	dst = append(append(dst, anchor...), ":\n"...)
	return appendLines(dst, add)
}

// entryProbe saves the registers it uses. r12, free by the procedure call
// standard, holds gcc's static chain. Flags are free at entry.
func (a armProbes) entryProbe(dst []byte, p *probe) []byte {
	if !p.counts {
		zero := "mov\tr1, #0"
		if p.thumb {
			zero = "movs\tr1, #0"
		}
		dst = appendLines(dst, "push\t{r0, r1}")
		dst = a.address(dst, p, "r0", 0)
		return appendLines(dst, zero, "strb\tr1, [r0]", "pop\t{r0, r1}")
	}
	saved, pass := "{r0, r1}", "bne\t" // not the first call
	if p.atomic {
		saved = "{r0, r1, r2, r3}" // r3 keeps the stack aligned
	}
	if p.samples {
		pass = "bmi\t" // not yet the call to sample
	}
	dst = appendLines(dst, "push\t"+saved)
	dst = a.address(dst, p, "r0", 0)
	if p.atomic {
		retry := p.label + "r"
		dst = append(append(dst, retry...), ":\n"...)
		dst = appendLines(dst, "ldrex\tr1, [r0]", "adds\tr1, r1, #1", "strex\tr2, r1, [r0]", "cmp\tr2, #0", "bne\t"+retry, "cmp\tr1, #0")
	} else {
		dst = appendLines(dst, "ldr\tr1, [r0]", "adds\tr1, r1, #1", "str\tr1, [r0]")
	}
	dst = appendLines(dst, pass+p.label, "mov\tr1, lr", "bl\t"+p.helper())
	dst = append(append(dst, p.label...), ":\n"...)
	return appendLines(dst, "pop\t"+saved)
}

// blockProbe needs two registers, for the address and a zero. It takes
// p.scratch and saves what that lacks; it changes nothing else.
func (a armProbes) blockProbe(dst []byte, p *probe, offset int) []byte {
	regs := p.scratch
	saved := ""
	for _, r := range []string{"r0", "r1"} {
		if len(regs) < 2 && (len(regs) == 0 || regs[0] != r) {
			regs = append(regs[:len(regs):len(regs)], r)
			saved += ", " + r
		}
	}
	if saved != "" {
		saved = "{" + saved[2:] + "}"
		dst = appendLines(dst, "push\t"+saved)
	}
	dst = a.address(dst, p, regs[0], offset)
	dst = appendLines(dst, "mov\t"+regs[1]+", #0", "strb\t"+regs[1]+", ["+regs[0]+"]")
	if saved != "" {
		dst = appendLines(dst, "pop\t"+saved)
	}
	return dst
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
