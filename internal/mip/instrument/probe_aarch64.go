package instrument

import (
	"bytes"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// aarch64Probes prints probes for AArch64, ELF and Mach-O.
type aarch64Probes struct{}

// page and lo12 return the operands that form the address of a byte in the
// record.
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
func (aarch64Probes) entryProbe(dst []byte, p *probe) []byte {
	switch {
	case !p.counts && p.threads:
		dst = appendLines(dst, "adrp\tx16, "+p.page(0), "ldrb\tw17, [x16, "+p.lo12(0)+"]", "cbz\tw17, "+p.label, "strb\twzr, [x16, "+p.lo12(0)+"]")
		return append(append(dst, p.label...), ":\n"...)
	case !p.counts:
		return aarch64Store(dst, p, "x16", 0)
	}
	dst = appendLines(dst, "adrp\tx16, "+p.page(0), "add\tx16, x16, "+p.lo12(0))
	if p.atomic {
		// Exclusive loads and stores, which every AArch64 has, need a third
		// register.
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
		pass = "tbnz\tw17, #31, " // not yet the call to sample
	}
	dst = appendLines(dst, pass+p.label, "mov\tx17, x30", "bl\t"+p.helper())
	return append(append(dst, p.label...), ":\n"...)
}

func (aarch64Probes) blockProbe(dst []byte, p *probe, offset int) []byte {
	if len(p.scratch) > 0 {
		return aarch64Store(dst, p, p.scratch[0], offset)
	}
	// Apple's convention has a red zone: leaf functions may use 128 bytes below
	// sp.
	room := "16"
	if p.target.Format == asm.MachO {
		room = "144"
	}
	dst = append(dst, "\tstr\tx16, [sp, #-"+room+"]!\n"...)
	dst = aarch64Store(dst, p, "x16", offset)
	return append(dst, "\tldr\tx16, [sp], #"+room+"\n"...)
}

// aarch64Store appends the store of a zero byte, with the address formed in
// reg.
func aarch64Store(dst []byte, p *probe, reg string, offset int) []byte {
	dst = append(dst, "\tadrp\t"+reg+", "+p.page(offset)+"\n"...)
	return append(dst, "\tstrb\twzr, ["+reg+", "+p.lo12(offset)+"]\n"...)
}

// scratchRegisters returns for each block of an AArch64 function the register
// that its probe may overwrite, or none where the probe has to save one.
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
		end := fn.Last + 1
		if b+1 < len(fn.Blocks) {
			end = fn.Blocks[b+1].Stmt
		}
		for _, reg := range []string{"x16", "x17"} {
			if writtenFirst(f, id, fn.Blocks[b].Stmt, end, reg) {
				regs[b] = []string{reg}
				break
			}
		}
	}
	return regs
}

// mentionsRegister reports whether any statement of the function mentions the
// register.
func mentionsRegister(f *asm.File, id int32, reg string) bool {
	fn := &f.Functions[id]
	for i := fn.Label; i <= fn.Last; i++ {
		if s := &f.Stmts[i]; s.Fn == id && s.Kind != asm.StmtLabel && hasRegister(f.Text(s), reg) {
			return true
		}
	}
	return false
}

// hasRegister reports whether the text mentions the register, x16 or x17, by
// any of its names.
func hasRegister(text []byte, reg string) bool {
	ip := "ip0"
	if reg == "x17" {
		ip = "ip1"
	}
	return asm.HasWord(text, reg) || asm.HasWord(text, "w"+reg[1:]) || asm.HasWord(text, ip)
}

// writesFirstOperand holds the instructions that overwrite their first operand
// and read the others.
var writesFirstOperand = map[string]bool{
	"mov": true, "movz": true, "movn": true, "adr": true, "adrp": true, "add": true, "sub": true, "subs": true, "adds": true,
	"and": true, "orr": true, "eor": true, "lsl": true, "lsr": true, "asr": true, "mul": true, "madd": true, "msub": true,
	"ldr": true, "ldrb": true, "ldrh": true, "ldrsw": true, "ldrsb": true, "ldrsh": true, "ldur": true,
	"csel": true, "cset": true, "csinc": true, "sxtw": true, "uxtw": true, "ubfx": true, "sbfx": true, "fmov": true, "umov": true,
}

// writtenFirst reports whether, between two statements of a function, the
// register is overwritten, or freed by a call or return, before it is read.
func writtenFirst(f *asm.File, id, from, to int32, reg string) bool {
	for i := from; i < to; i++ {
		s := &f.Stmts[i]
		if s.Fn != id || s.Kind == asm.StmtLabel || s.Kind == asm.StmtDirective && s.Opaque == asm.Transparent {
			continue
		}
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

// How far AArch64 instructions reach, in bytes.
const (
	testBranchRange = 32 << 10 // tbz, tbnz
	condBranchRange = 1 << 20  // b.cond, cbz, cbnz
	// Table entries count instructions; those of gcc are signed.
	narrowTableRange = 4 * 127   // of one byte
	shortTableRange  = 4 * 32767 // of two bytes

	blockProbeMax = 16 // bytes
	alignmentMax  = 64 // bytes that an alignment adds, at most
)

// checkBlockRanges returns why an AArch64 function cannot have block probes, 0
// if it can. Probes lengthen the code that its branches and jump tables span.
func checkBlockRanges(f *asm.File, id int32) asm.Reason {
	fn := &f.Functions[id]
	// at is the greatest possible offset of each statement in the function.
	at := make(map[int32]int, fn.Instructions)
	size, next := 0, 0
	for i := fn.Label; i <= fn.Last; i++ {
		s := &f.Stmts[i]
		if s.Fn != id {
			continue
		}
		for next < len(fn.Blocks) && fn.Blocks[next].Stmt <= i {
			size += blockProbeMax
			next++
		}
		at[i] = size
		switch {
		case s.Kind == asm.StmtInstruction:
			size += 4
		case s.Kind == asm.StmtDirective && asm.IsAlignment(f.Text(s)):
			size += alignmentMax
		case s.Kind == asm.StmtDirective && bytes.HasPrefix(f.Text(s), []byte(".cfi_")), s.Kind != asm.StmtDirective:
		default:
			size += 8 // data, at most
		}
	}
	switch {
	case fn.TableWidth == 1 && size > narrowTableRange, fn.TableWidth == 2 && size > shortTableRange:
		return asm.SkipJumpTable
	case size < testBranchRange:
		return 0
	}
	for i := fn.Label; i <= fn.Last; i++ {
		s := &f.Stmts[i]
		if s.Fn != id || s.Kind != asm.StmtInstruction || s.Opaque != asm.Transparent {
			continue
		}
		kind, target := f.Flow(s)
		if kind != asm.FlowBranch {
			continue
		}
		limit := condBranchRange
		if f.Src[s.Pos] == 't' {
			limit = testBranchRange
		}
		id := f.Labels.Find(asm.Unquote(target))
		if id < 0 {
			continue
		}
		to, ok := at[f.Labels.All[id].Stmt]
		if d := to - at[i]; ok && (d >= limit-alignmentMax || d <= -limit+alignmentMax) {
			return asm.SkipBranchRange
		}
	}
	return 0
}
