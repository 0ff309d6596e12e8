package asm

import "bytes"

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
		// jmp, jmpq, jmpw
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
	// The operand is where an aborted transaction goes on.
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

// staysFirst keeps markers of branch targets (-fcf-protection) and room for patches where tools and
// hardware look for them: at the very beginning of the function.
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
