package instrument

import (
	"bytes"
	"strconv"
)

// arm is ARMv7 and later, in ARM and Thumb-2 code. It has entry probes for
// function coverage only, as the reference.
type arm struct{}

func (arm) flow(ins []byte, _ x86Syntax) (flowKind, []byte) {
	word, rest := splitWord(ins)
	word = bytes.TrimSuffix(bytes.TrimSuffix(word, []byte(".n")), []byte(".w"))
	switch string(word) {
	case "b":
		return flowJump, rest
	case "cbz", "cbnz":
		return flowBranch, lastOperand(rest)
	case "bl", "blx":
		return flowCall, rest
	case "bx", "tbb", "tbh", "bxj":
		return flowIndirect, rest
	case "udf", "bkpt":
		return flowTrap, nil
	}
	if len(word) == 3 && word[0] == 'b' && conditions[string(word[1:])] {
		return flowBranch, rest
	}
	return flowNone, nil
}

func (arm) staysFirst(ins []byte) bool {
	word, _ := splitWord(ins)
	switch string(word) {
	case "bti", "pacbti", "nop", "nop.w":
		return true
	}
	return false
}

// entryProbe saves what it uses: r12, free by the procedure call standard, is
// gcc's static chain. Flags are free at entry.
func (arm) entryProbe(dst []byte, p *probe) []byte {
	pcOffset, add, zero := "8", "add\tr0, pc, r0", "mov\tr1, #0"
	if p.thumb {
		pcOffset, add, zero = "4", "add\tr0, pc", "movs\tr1, #0"
	}
	distance := "(" + p.record + "-(" + p.label + "+" + pcOffset + "))"
	dst = append(dst, "\tpush\t{r0, r1}\n"...)
	dst = append(dst, "\tmovw\tr0, #:lower16:"+distance+"\n"...)
	dst = append(dst, "\tmovt\tr0, #:upper16:"+distance+"\n"...)
	dst = append(dst, p.label+":\n\t"+add+"\n\t"+zero+"\n"...)
	return append(dst, "\tstrb\tr1, [r0]\n\tpop\t{r0, r1}\n"...)
}

// blockProbe is never called: block coverage is refused for the target.
func (arm) blockProbe(dst []byte, _ *probe, _ int) []byte { return dst }

// preV7 reports whether directives select an architecture without movw.
func (f *file) preV7() bool {
	for i := range f.stmts {
		s := &f.stmts[i]
		if s.kind != stmtDirective || s.opaque != transparent {
			continue
		}
		word, rest := splitWord(f.text(s))
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
