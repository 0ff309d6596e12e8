package instrument

import (
	"bytes"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

type aarch64Probes struct{}

// page and lo12 return the operands that form the address of a byte in the record.
func (p *probe) page(offset int) string {
	if p.target.Format == asm.MachO {
		return p.at(offset) + "@PAGE"
	}
	return p.at(offset)
}

func (p *probe) lo12(offset int) string {
	if p.target.Format == asm.MachO {
		return p.at(offset) + "@PAGEOFF"
	}
	return ":lo12:" + p.at(offset)
}

// entryProbe uses x16 and x17 (IP0 and IP1), which any call may overwrite and
// no convention passes arguments in.
func (aarch64Probes) entryProbe(t *asm.Text, p *probe) {
	switch {
	case !p.counts && p.threads:
		t.Lines("adrp\tx16, "+p.page(0), "ldrb\tw17, [x16, "+p.lo12(0)+"]", "cbz\tw17, "+p.label, "strb\twzr, [x16, "+p.lo12(0)+"]")
		t.Line(p.label, ":")
		return
	case !p.counts:
		aarch64Store(t, p, "x16", 0)
		return
	}
	t.Lines("adrp\tx16, "+p.page(0), "add\tx16, x16, "+p.lo12(0))
	if p.atomic {
		// Exclusive loads and stores, which every AArch64 has, need a third register.
		retry := p.label + "r"
		t.Lines("str\tx0, [sp, #-16]!")
		t.Line(retry, ":")
		t.Lines("ldxr\tw17, [x16]", "add\tw17, w17, #1", "stxr\tw0, w17, [x16]", "cbnz\tw0, "+retry, "ldr\tx0, [sp], #16")
	} else {
		t.Lines("ldr\tw17, [x16]", "add\tw17, w17, #1", "str\tw17, [x16]")
	}
	pass := "cbnz\tw17, " // not the first call
	if p.samples {
		pass = "tbnz\tw17, #31, " // not yet the call to sample
	}
	t.Lines(pass+p.label, "mov\tx17, x30", "bl\t"+p.helper())
	t.Line(p.label, ":")
}

func (aarch64Probes) blockProbe(t *asm.Text, p *probe, offset int) {
	if len(p.scratch) > 0 {
		aarch64Store(t, p, p.scratch[0], offset)
		return
	}
	// Apple's convention has a red zone: leaf functions may use 128 bytes below sp.
	room := "16"
	if p.target.Format == asm.MachO {
		room = "144"
	}
	t.Lines("str\tx16, [sp, #-" + room + "]!")
	aarch64Store(t, p, "x16", offset)
	t.Lines("ldr\tx16, [sp], #" + room)
}

// aarch64Store prints the store of a zero byte, with the address formed in reg.
func aarch64Store(t *asm.Text, p *probe, reg string, offset int) {
	t.Lines("adrp\t"+reg+", "+p.page(offset), "strb\twzr, ["+reg+", "+p.lo12(offset)+"]")
}

// scratchRegisters returns for each block of an AArch64 function the register
// that its probe may overwrite; none if the probe has to save one.
//
// x16 or x17 is free in the whole function if the function mentions it by
// neither name: no convention keeps a value in them across calls.
func scratchRegisters(f *asm.File, id int32) [][]string {
	fn := &f.Functions[id]
	regs := make([][]string, len(fn.Blocks))
	for _, reg := range []string{"x16", "x17"} {
		if !mentionsRegister(f, id, reg) {
			for b := range regs {
				regs[b] = []string{reg}
			}
			return regs
		}
	}
	for b := range fn.Blocks {
		for _, reg := range []string{"x16", "x17"} {
			if writtenFirst(f, id, b, reg) {
				regs[b] = []string{reg}
				break
			}
		}
	}
	return regs
}

func mentionsRegister(f *asm.File, id int32, reg string) bool {
	for _, s := range f.Statements(id) {
		if s.Kind != asm.StmtLabel && hasRegister(f.Text(s), reg) {
			return true
		}
	}
	return false
}

// hasRegister reports whether the text mentions the register, x16 or x17, by any of its names.
func hasRegister(text []byte, reg string) bool {
	ip := "ip0"
	if reg == "x17" {
		ip = "ip1"
	}
	return asm.HasWord(text, reg) || asm.HasWord(text, "w"+reg[1:]) || asm.HasWord(text, ip)
}

// writesFirstOperand holds the instructions that overwrite their first operand and read the others.
var writesFirstOperand = asm.Words(`mov movz movn adr adrp add sub subs adds and orr eor lsl lsr asr mul madd msub
	ldr ldrb ldrh ldrsw ldrsb ldrsh ldur csel cset csinc sxtw uxtw ubfx sbfx fmov umov`)

// writtenFirst reports whether block b overwrites the register, or frees it by a
// call or return, before it reads the register.
func writtenFirst(f *asm.File, id int32, b int, reg string) bool {
	for s := range blockCode(f, id, b) {
		if s.Opaque != asm.Transparent {
			return false
		}
		word, rest := asm.SplitWord(f.Text(s))
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

// The reach of AArch64 instructions in bytes.
const (
	testBranchRange = 32 << 10 // tbz, tbnz
	condBranchRange = 1 << 20  // b.cond, cbz, cbnz
	// Table entries count instructions; gcc's entries are signed.
	narrowTableRange = 4 * 127   // of one byte
	shortTableRange  = 4 * 32767 // of two bytes

	blockProbeMax = 16 // bytes
)

// checkBlockRanges returns why an AArch64 function cannot have block probes, ""
// if it can. Probes lengthen the code that its branches and jump tables span.
func checkBlockRanges(f *asm.File, id int32) asm.Reason {
	at, size := offsets(f, id, func(*asm.Stmt) int { return blockProbeMax }, func(s *asm.Stmt) int {
		switch {
		case s.Kind == asm.StmtInstruction:
			return 4
		case s.Kind != asm.StmtDirective || bytes.HasPrefix(f.Text(s), []byte(".cfi_")):
			return 0
		case asm.IsAlignment(f.Text(s)):
			return alignmentMax
		}
		return 8 // data, at most
	})
	switch width := f.Functions[id].TableWidth; {
	case width == 1 && size > narrowTableRange, width == 2 && size > shortTableRange:
		return asm.SkipJumpTable
	case size < testBranchRange:
		return ""
	}
	for i, s := range f.Statements(id) {
		if s.Kind != asm.StmtInstruction || s.Opaque != asm.Transparent {
			continue
		}
		kind, target := f.Flow(s)
		limit := condBranchRange
		if f.Src[s.Pos] == 't' {
			limit = testBranchRange
		}
		if kind == asm.FlowBranch && outOfReach(f, at, i, target, limit-alignmentMax) {
			return asm.SkipBranchRange
		}
	}
	return ""
}
