package asm

import "bytes"

type aarch64 struct{}

// conditions of AArch64 and ARM, the suffixes of b and b. in mnemonics.
var conditions = Words(`eq ne cs hs cc lo mi pl vs vc hi ls ge lt gt le
	any none first last nfrst nlast tcont tstop pmore plast`)

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
	branch, cond, ok := bytes.Cut(word, []byte("."))
	if !ok && len(word) == 3 {
		branch, cond = word[:1], word[1:]
	}
	if b := string(branch); (b == "b" || b == "bc" && ok) && conditions[string(cond)] {
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
