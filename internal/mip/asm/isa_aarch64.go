package asm

import "bytes"

// aarch64 is the instruction set of AArch64, for ELF and Mach-O.
type aarch64 struct{}

// conditions of AArch64 and ARM, the suffixes of b and b. in mnemonics.
var conditions = map[string]bool{
	"eq": true, "ne": true, "cs": true, "hs": true, "cc": true, "lo": true, "mi": true, "pl": true,
	"vs": true, "vc": true, "hi": true, "ls": true, "ge": true, "lt": true, "gt": true, "le": true,
	"any": true, "none": true, "first": true, "last": true, "nfrst": true, "nlast": true, "tcont": true, "tstop": true, "pmore": true, "plast": true,
}

func (aarch64) flow(ins []byte, _ X86Syntax) (FlowKind, []byte) {
	word, rest := SplitWord(ins)
	switch string(word) {
	case "b":
		return FlowJump, rest
	case "cbz", "cbnz", "tbz", "tbnz":
		return FlowBranch, LastOperand(rest)
	case "br", "braa", "brab", "braaz", "brabz":
		return FlowIndirect, rest
	case "bl", "blr", "blraa", "blrab", "blraaz", "blrabz":
		return FlowCall, rest
	case "ret", "retaa", "retab":
		return FlowReturn, nil
	case "brk", "udf", "hlt", "eret":
		return FlowTrap, nil
	case "svc", "hvc", "smc":
		return FlowLeave, nil
	}
	if cond, ok := bytes.CutPrefix(word, []byte("b.")); ok && conditions[string(cond)] {
		return FlowBranch, rest
	}
	if cond, ok := bytes.CutPrefix(word, []byte("bc.")); ok && conditions[string(cond)] {
		return FlowBranch, rest
	}
	if len(word) == 3 && word[0] == 'b' && conditions[string(word[1:])] {
		return FlowBranch, rest
	}
	return FlowNone, nil
}

// LastOperand returns what follows the last comma.
func LastOperand(operands []byte) []byte {
	return bytes.TrimSpace(operands[bytes.LastIndexByte(operands, ',')+1:])
}

func (aarch64) staysFirst(ins []byte) bool {
	word, rest := SplitWord(ins)
	switch string(word) {
	case "bti", "paciasp", "pacibsp", "nop":
		return true
	case "hint":
		switch string(bytes.TrimPrefix(rest, []byte("#"))) {
		case "0", "25", "27", "32", "34", "36", "38":
			return true
		}
	}
	return false
}

// HasWord reports whether the text has the word, not as part of a longer
// symbol.
func HasWord(text []byte, word string) bool {
	for i := 0; ; {
		n := bytes.Index(text[i:], []byte(word))
		if n < 0 {
			return false
		}
		i += n
		end := i + len(word)
		if (i == 0 || !symbolChar[text[i-1]]) && (end == len(text) || !symbolChar[text[end]]) {
			return true
		}
		i = end
	}
}
