package instrument

import (
	"bytes"
	"strconv"
)

// aarch64 is AArch64, for ELF and Mach-O.
type aarch64 struct{}

// conditions of AArch64 and ARM, as they stand after b or b.
var conditions = map[string]bool{
	"eq": true, "ne": true, "cs": true, "hs": true, "cc": true, "lo": true, "mi": true, "pl": true,
	"vs": true, "vc": true, "hi": true, "ls": true, "ge": true, "lt": true, "gt": true, "le": true,
	"any": true, "none": true, "first": true, "last": true, "nfrst": true, "nlast": true, "tcont": true, "tstop": true, "pmore": true, "plast": true,
}

func (aarch64) flow(ins []byte, _ x86Syntax) (flowKind, []byte) {
	word, rest := splitWord(ins)
	switch string(word) {
	case "b":
		return flowJump, rest
	case "cbz", "cbnz", "tbz", "tbnz":
		return flowBranch, lastOperand(rest)
	case "br", "braa", "brab", "braaz", "brabz":
		return flowIndirect, rest
	case "bl", "blr", "blraa", "blrab", "blraaz", "blrabz":
		return flowCall, rest
	case "ret", "retaa", "retab":
		return flowReturn, nil
	case "brk", "udf", "hlt", "eret":
		return flowTrap, nil
	case "svc", "hvc", "smc":
		return flowLeave, nil
	}
	if cond, ok := bytes.CutPrefix(word, []byte("b.")); ok && conditions[string(cond)] {
		return flowBranch, rest
	}
	if cond, ok := bytes.CutPrefix(word, []byte("bc.")); ok && conditions[string(cond)] {
		return flowBranch, rest
	}
	if len(word) == 3 && word[0] == 'b' && conditions[string(word[1:])] {
		return flowBranch, rest
	}
	return flowNone, nil
}

// lastOperand returns what follows the last comma.
func lastOperand(operands []byte) []byte {
	return bytes.TrimSpace(operands[bytes.LastIndexByte(operands, ',')+1:])
}

func (aarch64) staysFirst(ins []byte) bool {
	word, rest := splitWord(ins)
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

// page and lo12 return the operands that form the address of a symbol.
func (p *probe) page(offset int) string {
	if p.target.Format == MachO {
		return p.at(offset) + "@PAGE"
	}
	return p.at(offset)
}

func (p *probe) lo12(offset int) string {
	if p.target.Format == MachO {
		return p.at(offset) + "@PAGEOFF"
	}
	return ":lo12:" + p.at(offset)
}

// at returns the place in the raw record.
func (p *probe) at(offset int) string {
	if offset == 0 {
		return p.record
	}
	return p.record + "+" + strconv.Itoa(offset)
}

// entryProbe uses x16 and x17, which calls may overwrite and no convention
// passes anything in.
func (aarch64) entryProbe(dst []byte, p *probe) []byte {
	switch {
	case !p.counts && p.threads:
		dst = appendLines(dst, "adrp\tx16, "+p.page(0), "ldrb\tw17, [x16, "+p.lo12(0)+"]", "cbz\tw17, "+p.label, "strb\twzr, [x16, "+p.lo12(0)+"]")
		return append(append(dst, p.label...), ":\n"...)
	case !p.counts:
		return aarch64Store(dst, p, "x16", 0)
	}
	dst = appendLines(dst, "adrp\tx16, "+p.page(0), "add\tx16, x16, "+p.lo12(0))
	if p.atomic {
		// Exclusive accesses, which every AArch64 has, need a third register.
		retry := p.label + "r"
		dst = appendLines(dst, "str\tx0, [sp, #-16]!")
		dst = append(append(dst, retry...), ":\n"...)
		dst = appendLines(dst, "ldxr\tw17, [x16]", "add\tw17, w17, #1", "stxr\tw0, w17, [x16]", "cbnz\tw0, "+retry,
			"ldr\tx0, [sp], #16")
	} else {
		dst = appendLines(dst, "ldr\tw17, [x16]", "add\tw17, w17, #1", "str\tw17, [x16]")
	}
	pass := "cbnz\tw17, " // not the first call
	if p.samples {
		pass = "tbnz\tw17, #31, " // not yet the call to look at
	}
	dst = appendLines(dst, pass+p.label, "mov\tx17, x30", "bl\t"+p.helper())
	return append(append(dst, p.label...), ":\n"...)
}

// appendLines appends instructions, each on a line.
func appendLines(dst []byte, lines ...string) []byte {
	for _, line := range lines {
		dst = append(append(append(dst, '\t'), line...), '\n')
	}
	return dst
}

func (aarch64) blockProbe(dst []byte, p *probe, offset int) []byte {
	if len(p.scratch) > 0 {
		return aarch64Store(dst, p, p.scratch[0], offset)
	}
	// Apple's convention lets leaf functions use 128 bytes below sp.
	room := "16"
	if p.target.Format == MachO {
		room = "144"
	}
	dst = append(dst, "\tstr\tx16, [sp, #-"+room+"]!\n"...)
	dst = aarch64Store(dst, p, "x16", offset)
	return append(dst, "\tldr\tx16, [sp], #"+room+"\n"...)
}

func aarch64Store(dst []byte, p *probe, reg string, offset int) []byte {
	dst = append(dst, "\tadrp\t"+reg+", "+p.page(offset)+"\n"...)
	return append(dst, "\tstrb\twzr, ["+reg+", "+p.lo12(offset)+"]\n"...)
}

// scratchRegisters chooses for each block of an AArch64 function the register
// that its probe may overwrite, none where the probe has to save one.
//
// x16 and x17 are free in the whole function where it mentions neither half of
// the register: no convention keeps anything in them across calls.
func (f *file) scratchRegisters(id int32) [][]string {
	fn := &f.functions[id]
	regs := make([][]string, len(fn.blocks))
	for _, reg := range []string{"x16", "x17"} {
		if !f.mentionsRegister(id, reg) {
			for b := range regs {
				regs[b] = []string{reg}
			}
			return regs
		}
	}
	for b := range fn.blocks {
		end := fn.last + 1
		if b+1 < len(fn.blocks) {
			end = fn.blocks[b+1].stmt
		}
		for _, reg := range []string{"x16", "x17"} {
			if f.writtenFirst(id, fn.blocks[b].stmt, end, reg) {
				regs[b] = []string{reg}
				break
			}
		}
	}
	return regs
}

func (f *file) mentionsRegister(id int32, reg string) bool {
	fn := &f.functions[id]
	for i := fn.label; i <= fn.last; i++ {
		if s := &f.stmts[i]; s.fn == id && s.kind != stmtLabel && hasRegister(f.text(s), reg) {
			return true
		}
	}
	return false
}

// hasRegister reports whether the text has the register, x16 or x17, by any of
// its names.
func hasRegister(text []byte, reg string) bool {
	ip := "ip0"
	if reg == "x17" {
		ip = "ip1"
	}
	return hasWord(text, reg) || hasWord(text, "w"+reg[1:]) || hasWord(text, ip)
}

// hasWord reports whether the text has the word with no symbol character
// beside it.
func hasWord(text []byte, word string) bool {
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

// writesFirstOperand are instructions that overwrite their first operand and
// read the others.
var writesFirstOperand = map[string]bool{
	"mov": true, "movz": true, "movn": true, "adr": true, "adrp": true, "add": true, "sub": true, "subs": true, "adds": true,
	"and": true, "orr": true, "eor": true, "lsl": true, "lsr": true, "asr": true, "mul": true, "madd": true, "msub": true,
	"ldr": true, "ldrb": true, "ldrh": true, "ldrsw": true, "ldrsb": true, "ldrsh": true, "ldur": true,
	"csel": true, "cset": true, "csinc": true, "sxtw": true, "uxtw": true, "ubfx": true, "sbfx": true, "fmov": true, "umov": true,
}

// writtenFirst reports whether between two statements of a function the
// register is overwritten, or free by a call or return, before it is read.
func (f *file) writtenFirst(id, from, to int32, reg string) bool {
	for i := from; i < to; i++ {
		s := &f.stmts[i]
		if s.fn != id || s.kind == stmtLabel || s.kind == stmtDirective && s.opaque == transparent {
			continue
		}
		if s.opaque != transparent {
			return false
		}
		word, rest := splitWord(f.text(s))
		if !hasRegister(rest, reg) {
			switch string(word) {
			case "bl", "ret":
				return true
			}
			continue
		}
		dest, sources, _ := bytes.Cut(rest, []byte(","))
		return writesFirstOperand[string(word)] && hasRegister(dest, reg) && !hasRegister(sources, reg)
	}
	return false
}

// Ranges of AArch64 in bytes.
const (
	testBranchRange = 32 << 10 // tbz, tbnz
	condBranchRange = 1 << 20  // b.cond, cbz, cbnz
	// A table entry is a distance in instructions, signed in gcc's tables.
	narrowTableRange = 4 * 127   // of one byte
	shortTableRange  = 4 * 32767 // of two bytes

	blockProbeMax = 16 // bytes
	alignmentMax  = 64 // bytes that an alignment adds, with room to spare
)

// checkBlockRanges returns why an AArch64 function cannot have block probes:
// they move apart what its branches and jump tables span.
func (f *file) checkBlockRanges(id int32) SkipReason {
	fn := &f.functions[id]
	// at is where each statement ends up at most, relative to the function.
	at := make(map[int32]int, fn.instructions)
	size, next := 0, 0
	for i := fn.label; i <= fn.last; i++ {
		s := &f.stmts[i]
		if s.fn != id {
			continue
		}
		for next < len(fn.blocks) && fn.blocks[next].stmt <= i {
			size += blockProbeMax
			next++
		}
		at[i] = size
		switch {
		case s.kind == stmtInstruction:
			size += 4
		case s.kind == stmtDirective && isAlignment(f.text(s)):
			size += alignmentMax
		case s.kind == stmtDirective && bytes.HasPrefix(f.text(s), []byte(".cfi_")), s.kind != stmtDirective:
		default:
			size += 8 // data, at most
		}
	}
	switch {
	case fn.tableWidth == 1 && size > narrowTableRange, fn.tableWidth == 2 && size > shortTableRange:
		return SkipJumpTable
	case size < testBranchRange:
		return 0
	}
	for i := fn.label; i <= fn.last; i++ {
		s := &f.stmts[i]
		if s.fn != id || s.kind != stmtInstruction || s.opaque != transparent {
			continue
		}
		kind, target := aarch64{}.flow(f.text(s), s.syntax)
		if kind != flowBranch {
			continue
		}
		limit := condBranchRange
		if f.src[s.pos] == 't' {
			limit = testBranchRange
		}
		id := f.labels.find(unquote(target))
		if id < 0 {
			continue
		}
		to, ok := at[f.labels.all[id].stmt]
		if d := to - at[i]; ok && (d >= limit-alignmentMax || d <= -limit+alignmentMax) {
			return SkipBranchRange
		}
	}
	return 0
}
