package instrument

import (
	"bytes"
	"strconv"
)

// arm is ARMv7 and later, in ARM and Thumb-2 code.
type arm struct{}

// armConditions are the conditions that ARM instructions may end with.
var armConditions = func() map[string]bool {
	m := map[string]bool{}
	for _, c := range []string{"eq", "ne", "cs", "hs", "cc", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le"} {
		m[c] = true
	}
	return m
}()

// armWord takes the width that may be asked for, and the condition, off a
// mnemonic of those in known.
func armWord(word []byte, known ...string) (base string, conditional bool) {
	w := string(bytes.TrimSuffix(bytes.TrimSuffix(word, []byte(".n")), []byte(".w")))
	for _, k := range known {
		switch rest, ok := bytes.CutPrefix([]byte(w), []byte(k)); {
		case ok && len(rest) == 0:
			return k, false
		case ok && armConditions[string(rest)]:
			return k, true
		}
	}
	return w, false
}

func (arm) flow(ins []byte, _ x86Syntax) (flowKind, []byte) {
	word, rest := splitWord(ins)
	// In this order: "bls" is b under a condition, and "bleq" is bl.
	base, conditional := armWord(word, "b", "bl", "blx", "bx", "bxj")
	switch base {
	case "b":
		if conditional {
			return flowBranch, rest
		}
		return flowJump, rest
	case "cbz", "cbnz":
		return flowBranch, lastOperand(rest)
	case "bl", "blx":
		return flowCall, rest
	case "tbb", "tbh":
		return flowIndirect, rest
	case "udf", "bkpt", "hlt", "eret":
		return flowTrap, nil
	case "svc", "swi", "smc", "hvc":
		return flowLeave, nil
	case "bx", "bxj":
		switch {
		case conditional: // to what is no label of the function
			return flowBranch, rest
		case string(rest) == "lr":
			return flowReturn, nil
		}
		return flowIndirect, rest
	}
	if !hasWord(rest, "pc") {
		return flowNone, nil
	}
	return armWritesPC(word, rest)
}

// armWritesPC classifies an instruction that mentions the program counter and
// is not a branch by name.
func armWritesPC(word, rest []byte) (flowKind, []byte) {
	kind, target := flowNone, []byte(nil)
	base, conditional := armWord(word, "pop", "ldm", "ldmfd", "ldmia", "ldmdb", "ldmea", "ldmib", "ldmda", "ldmed", "ldmfa",
		"mov", "movs", "ldr", "add", "adds", "sub", "subs", "and", "orr", "eor", "bic", "mvn", "rsb", "rfeia", "rfefd")
	switch base {
	case "pop", "ldm", "ldmfd", "ldmia", "ldmdb", "ldmea", "ldmib", "ldmda", "ldmed", "ldmfa":
		if list := bytes.IndexByte(rest, '{'); list >= 0 && hasWord(rest[list:], "pc") {
			kind = flowReturn
		}
	case "rfeia", "rfefd":
		kind = flowTrap
	case "mov", "movs", "ldr", "add", "adds", "sub", "subs", "and", "orr", "eor", "bic", "mvn", "rsb":
		dest, sources, _ := bytes.Cut(rest, []byte(","))
		if string(bytes.TrimSpace(dest)) != "pc" {
			return flowNone, nil
		}
		sources = bytes.TrimSpace(sources)
		switch {
		case base == "movs" || base == "subs": // returns from exceptions
			kind = flowTrap
		case base == "mov" && string(sources) == "lr", base == "ldr" && bytes.HasPrefix(sources, []byte("[sp]")):
			kind = flowReturn
		default:
			kind, target = flowIndirect, sources
		}
	}
	if conditional && kind != flowNone {
		return flowBranch, []byte("pc")
	}
	return kind, target
}

func (arm) staysFirst(ins []byte) bool {
	word, _ := splitWord(ins)
	switch string(word) {
	case "bti", "pacbti", "nop", "nop.w":
		return true
	}
	return false
}

// address appends instructions that form the address of the record, or of a
// byte in it, in a register. They leave the flags alone.
func (arm) address(dst []byte, p *probe, reg string, offset int) []byte {
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

// entryProbe saves what it uses: r12, free by the procedure call standard, is
// gcc's static chain. Flags are free at entry.
func (a arm) entryProbe(dst []byte, p *probe) []byte {
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
		saved = "{r0, r1, r2, r3}" // r3 for the alignment of the stack
	}
	if p.samples {
		pass = "bmi\t" // not yet the call to look at
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

// blockProbe changes nothing but the registers it may, which hold the address
// and a zero; it saves what is missing.
func (a arm) blockProbe(dst []byte, p *probe, offset int) []byte {
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
