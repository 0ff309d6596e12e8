package asm

import "bytes"

// x86 is x86_64, in both syntaxes.
type x86 struct{}

// x86Prefixes are the prefixes that may precede the mnemonic as separate words.
var x86Prefixes = Words("lock rep repe repz repne repnz notrack bnd data16 addr32 rex64 cs ds es fs gs ss")

func (x86) flow(ins []byte, syntax X86Syntax) (FlowKind, []byte) {
	word, rest := SplitWord(ins)
	for x86Prefixes[string(word)] && len(rest) > 0 {
		word, rest = SplitWord(rest)
	}
	if i := bytes.IndexByte(word, ','); i >= 0 { // branch hint, as in jne,pn
		word = word[:i]
	}
	switch {
	case len(word) == 0:
		return FlowNone, nil
	case word[0] == 'j':
		if bytes.HasPrefix(word, []byte("jmp")) {
			if indirectX86(rest, syntax) {
				return FlowIndirect, rest
			}
			return FlowJump, rest
		}
		return FlowBranch, rest
	case bytes.HasPrefix(word, []byte("loop")):
		return FlowBranch, rest
	case bytes.HasPrefix(word, []byte("call")), bytes.HasPrefix(word, []byte("lcall")):
		return FlowCall, rest
	case bytes.HasPrefix(word, []byte("ret")):
		return FlowReturn, nil
	case bytes.HasPrefix(word, []byte("lret")), bytes.HasPrefix(word, []byte("iret")):
		return FlowTrap, nil
	}
	switch string(word) {
	case "ud2", "hlt", "int3", "ud1", "ud1l", "ud0", "ljmp", "ud2a":
		return FlowTrap, nil
	case "xbegin":
		return FlowBranch, rest
	case "syscall", "sysenter", "int", "xabort", "xend", "into", "bound",
		"uiret", "senduipi":
		return FlowLeave, nil
	}
	return FlowNone, nil
}

// indirectX86 reports whether the operand of jmp is a register or memory.
func indirectX86(operand []byte, syntax X86Syntax) bool {
	if len(operand) == 0 {
		return true
	}
	if syntax == AttPrefix || syntax == AttNoPrefix {
		return operand[0] == '*'
	}
	if bytes.ContainsAny(operand, "[") || bytes.Contains(bytes.ToLower(operand), []byte("ptr")) {
		return true
	}
	return x86Registers[string(bytes.TrimPrefix(operand, []byte("%")))]
}

var x86Registers = Words(`rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15
	r16 r17 r18 r19 r20 r21 r22 r23 r24 r25 r26 r27 r28 r29 r30 r31`)

func (x86) staysFirst(ins []byte) bool {
	word, rest := SplitWord(ins)
	for string(word) == "data16" && len(rest) > 0 {
		word, rest = SplitWord(rest)
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

// FarData reports whether data may be out of reach of 32-bit displacements from
// the code. Only the medium and large code models have sections for large data,
// and only the large model calls by 64-bit addresses. A 64-bit address that is
// moved into a register does not count: without optimization clang does that in
// any model that is not PIC.
func (f *File) FarData() bool {
	for i := range f.Sections {
		if isLargeModelSection(f.Sections[i].Name) {
			return true
		}
	}
	for rest := f.Src; ; {
		i := bytes.Index(rest, []byte("\tmovabs"))
		if i < 0 {
			return false
		}
		line := rest[i+1:]
		rest = line
		_, operands := SplitWord(line[:LineEnd(line, 0)])
		register, symbolic := farAddress(operands)
		if symbolic && (bytes.IndexByte(operands, '@') >= 0 || callsThrough(rest, register)) {
			return true
		}
	}
}

// farAddress splits the operands of movabs; symbolic reports whether the value
// is an address.
func farAddress(operands []byte) (register []byte, symbolic bool) {
	first, last, _ := bytes.Cut(operands, []byte(","))
	first, last = bytes.TrimSpace(first), bytes.TrimSpace(last)
	if value, att := bytes.CutPrefix(first, []byte("$")); att {
		return last, len(value) > 0 && value[0] != '-' && !IsDigit(value[0])
	}
	return first, bytes.HasPrefix(bytes.ToLower(last), []byte("offset "))
}

// callsThrough reports whether the next call within 2 KiB of text goes through
// the register.
func callsThrough(text, register []byte) bool {
	const near = 1 << 11
	text = text[:min(len(text), near)]
	i := bytes.Index(text, []byte("\tcall"))
	if i < 0 {
		return false
	}
	line := text[i+1:]
	_, operand := SplitWord(line[:LineEnd(line, 0)])
	operand = bytes.TrimPrefix(bytes.TrimSpace(operand), []byte("*"))
	return len(register) > 0 && bytes.HasPrefix(operand, register)
}
