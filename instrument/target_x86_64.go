package instrument

import (
	"bytes"
	"strconv"
)

// x86 is x86_64, in both syntaxes.
type x86 struct{}

// prefixes that may stand before the mnemonic as words of their own.
var x86Prefixes = map[string]bool{
	"lock": true, "rep": true, "repe": true, "repz": true, "repne": true, "repnz": true,
	"notrack": true, "bnd": true, "data16": true, "addr32": true, "rex64": true,
	"cs": true, "ds": true, "es": true, "fs": true, "gs": true, "ss": true,
}

func (x86) flow(ins []byte, syntax x86Syntax) (flowKind, []byte) {
	word, rest := splitWord(ins)
	for x86Prefixes[string(word)] && len(rest) > 0 {
		word, rest = splitWord(rest)
	}
	if i := bytes.IndexByte(word, ','); i >= 0 { // branch hint, as in jne,pn
		word = word[:i]
	}
	switch {
	case len(word) == 0:
		return flowNone, nil
	case word[0] == 'j':
		if bytes.HasPrefix(word, []byte("jmp")) {
			if indirectX86(rest, syntax) {
				return flowIndirect, rest
			}
			return flowJump, rest
		}
		return flowBranch, rest
	case bytes.HasPrefix(word, []byte("loop")):
		return flowBranch, rest
	case bytes.HasPrefix(word, []byte("call")), bytes.HasPrefix(word, []byte("lcall")):
		return flowCall, rest
	case bytes.HasPrefix(word, []byte("ret")):
		return flowReturn, nil
	case bytes.HasPrefix(word, []byte("lret")), bytes.HasPrefix(word, []byte("iret")):
		return flowTrap, nil
	}
	switch string(word) {
	case "ud2", "hlt", "int3", "ud1", "ud1l", "ud0", "ljmp", "ud2a":
		return flowTrap, nil
	case "xbegin":
		return flowBranch, rest
	case "syscall", "sysenter", "int", "xabort", "xend", "into", "bound",
		"uiret", "senduipi":
		return flowLeave, nil
	}
	return flowNone, nil
}

// indirectX86 reports whether the operand of jmp is a register or memory.
func indirectX86(operand []byte, syntax x86Syntax) bool {
	if len(operand) == 0 {
		return true
	}
	if syntax == attPrefix || syntax == attNoPrefix {
		return operand[0] == '*'
	}
	if bytes.ContainsAny(operand, "[") || bytes.Contains(bytes.ToLower(operand), []byte("ptr")) {
		return true
	}
	return x86Registers[string(bytes.TrimPrefix(operand, []byte("%")))]
}

var x86Registers = func() map[string]bool {
	m := map[string]bool{}
	for _, r := range []string{"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp"} {
		m[r] = true
	}
	for i := 8; i < 32; i++ {
		m["r"+strconv.Itoa(i)] = true
	}
	return m
}()

func (x86) staysFirst(ins []byte) bool {
	word, rest := splitWord(ins)
	for string(word) == "data16" && len(rest) > 0 {
		word, rest = splitWord(rest)
	}
	switch string(word) {
	case "endbr64", "nop", "nopw", "nopl", "nopq":
		return true
	case "xchg", "xchgw": // two bytes of padding
		return bytes.HasPrefix(rest, []byte("%ax, %ax")) || bytes.HasPrefix(rest, []byte("%ax,%ax")) || string(rest) == "ax, ax"
	case "call", "callq":
		return bytes.Contains(rest, []byte("__fentry__"))
	}
	return false
}

func (x86) entryProbe(dst []byte, p *probe) []byte {
	if !p.counts {
		if !p.threads {
			return x86Store(dst, p, 0)
		}
		// No function takes anything in the flags.
		dst = inSyntax(dst, p.syntax, "\tcmpb\t$0, "+p.at(0)+"(%rip)\n", "\tcmp\tbyte ptr [rip + "+p.at(0)+"], 0\n")
		dst = append(dst, "\tje\t"+p.label+"\n"...)
		dst = x86Store(dst, p, 0)
		return append(dst, p.label+":\n"...)
	}
	lock := ""
	if p.atomic {
		lock = "lock "
	}
	pass := "jne" // not the first call
	if p.samples {
		pass = "js" // not yet the call to look at
	}
	rest := "\t" + pass + "\t" + p.label + "\n\tcall\t" + p.helper() + "\n" + p.label + ":\n"
	att := "\t" + lock + "incl\t" + p.record + "(%rip)\n" + rest
	intel := "\t" + lock + "inc\tdword ptr [rip + " + p.record + "]\n" + rest
	return inSyntax(dst, p.syntax, att, intel)
}

func (x86) blockProbe(dst []byte, p *probe, offset int) []byte { return x86Store(dst, p, offset) }

// x86Store appends the store, which changes no flags and no registers.
func x86Store(dst []byte, p *probe, offset int) []byte {
	at := p.at(offset)
	return inSyntax(dst, p.syntax, "\tmovb\t$0, "+at+"(%rip)\n", "\tmov\tbyte ptr [rip + "+at+"], 0\n")
}

// inSyntax appends the form for the syntax that the text is in. What only
// hand-written text uses is left for the time of the probe.
func inSyntax(dst []byte, syntax x86Syntax, att, intel string) []byte {
	switch syntax {
	case attPrefix:
		return append(dst, att...)
	case intelNoPrefix:
		return append(dst, intel...)
	}
	dst = append(dst, "\t.att_syntax prefix\n"...)
	dst = append(dst, att...)
	if syntax == attNoPrefix {
		return append(dst, "\t.att_syntax noprefix\n"...)
	}
	return append(dst, "\t.intel_syntax prefix\n"...)
}

// farData reports whether the code may be too far from its data for 32-bit
// displacements: only the medium and large code models have sections for large
// data, and only the large one calls by 64-bit addresses. Clang moves those
// into registers without optimization in any model that is not PIC, too.
func (f *file) farData() bool {
	for i := range f.sections {
		if isLargeModelSection(f.sections[i].name) {
			return true
		}
	}
	for rest := f.src; ; {
		i := bytes.Index(rest, []byte("\tmovabs"))
		if i < 0 {
			return false
		}
		line := rest[i+1:]
		rest = line
		_, operands := splitWord(line[:lineEnd(line, 0)])
		register, symbolic := farAddress(operands)
		if symbolic && (bytes.IndexByte(operands, '@') >= 0 || callsThrough(rest, register)) {
			return true
		}
	}
}

// farAddress splits the operands of movabs; symbolic is whether it moves an
// address.
func farAddress(operands []byte) (register []byte, symbolic bool) {
	first, last, _ := bytes.Cut(operands, []byte(","))
	first, last = bytes.TrimSpace(first), bytes.TrimSpace(last)
	if value, att := bytes.CutPrefix(first, []byte("$")); att {
		return last, len(value) > 0 && value[0] != '-' && !isDigit(value[0])
	}
	return first, bytes.HasPrefix(bytes.ToLower(last), []byte("offset "))
}

// callsThrough reports whether the next call in the text, which is near, is
// through a register.
func callsThrough(text, register []byte) bool {
	const near = 1 << 11
	text = text[:min(len(text), near)]
	i := bytes.Index(text, []byte("\tcall"))
	if i < 0 {
		return false
	}
	line := text[i+1:]
	_, operand := splitWord(line[:lineEnd(line, 0)])
	operand = bytes.TrimPrefix(bytes.TrimSpace(operand), []byte("*"))
	return len(register) > 0 && bytes.HasPrefix(operand, register)
}
