package asm

import "bytes"

type armv7 struct{}

var armConditions = Words("eq ne cs hs cc lo mi pl vs vc hi ls ge lt gt le")

// ArmWord strips the width suffix (.n, .w) and the condition from a mnemonic if the rest is in known.
func ArmWord(word []byte, known ...string) (base string, conditional bool) {
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

func (armv7) flow(ins []byte, _ X86Syntax) (FlowKind, []byte) {
	word, rest := SplitWord(ins)
	// In this order, since "bls" is b with a condition but "bleq" is bl with one.
	base, conditional := ArmWord(word, "b", "bl", "blx", "bx", "bxj")
	switch base {
	case "b":
		if conditional {
			return FlowBranch, rest
		}
		return FlowJump, rest
	case "cbz", "cbnz":
		return FlowBranch, LastOperand(rest)
	case "bl", "blx":
		return FlowCall, rest
	case "tbb", "tbh":
		return FlowIndirect, rest
	case "udf", "bkpt", "hlt", "eret", "rfe", "rfeia", "rfefd":
		return FlowTrap, nil
	case "svc", "swi", "smc", "hvc":
		return FlowLeave, nil
	case "bx", "bxj":
		switch {
		case conditional: // the target is no label of the function
			return FlowBranch, rest
		case string(rest) == "lr":
			return FlowReturn, nil
		}
		return FlowIndirect, rest
	}
	if !HasWord(rest, "pc") {
		return FlowNone, nil
	}
	return armWritesPC(word, rest)
}

// armWritesPC classifies an instruction that mentions the program counter but has no branch mnemonic.
func armWritesPC(word, rest []byte) (FlowKind, []byte) {
	kind, target := FlowNone, []byte(nil)
	base, conditional := ArmWord(word, "pop", "ldm", "ldmfd", "ldmia", "ldmdb", "ldmea", "ldmib", "ldmda", "ldmed", "ldmfa",
		"mov", "movs", "ldr", "add", "adds", "sub", "subs", "and", "orr", "eor", "bic", "mvn", "rsb")
	switch base {
	case "pop", "ldm", "ldmfd", "ldmia", "ldmdb", "ldmea", "ldmib", "ldmda", "ldmed", "ldmfa":
		if list := bytes.IndexByte(rest, '{'); list >= 0 && HasWord(rest[list:], "pc") {
			kind = FlowReturn
		}
	case "mov", "movs", "ldr", "add", "adds", "sub", "subs", "and", "orr", "eor", "bic", "mvn", "rsb":
		dest, sources, _ := bytes.Cut(rest, []byte(","))
		if string(bytes.TrimSpace(dest)) != "pc" {
			return FlowNone, nil
		}
		sources = bytes.TrimSpace(sources)
		switch {
		case base == "movs" || base == "subs": // returns from exceptions
			kind = FlowTrap
		case base == "mov" && string(sources) == "lr", base == "ldr" && bytes.HasPrefix(sources, []byte("[sp]")):
			kind = FlowReturn
		default:
			kind, target = FlowIndirect, sources
		}
	}
	if conditional && kind != FlowNone {
		return FlowBranch, []byte("pc")
	}
	return kind, target
}

func (armv7) staysFirst(ins []byte) bool {
	word, _ := SplitWord(ins)
	switch string(word) {
	case "bti", "pacbti", "nop", "nop.w":
		return true
	}
	return false
}
