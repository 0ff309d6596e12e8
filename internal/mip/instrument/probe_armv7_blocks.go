package instrument

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// armRegisters are the registers, with their aliases, that a block probe may use where they are free.
// Registers with short Thumb encodings come first.
var armRegisters = [][]string{
	{"r3"}, {"r2"}, {"r1"}, {"r0"}, {"r4"}, {"r5"}, {"r6"}, {"r7"}, {"r12", "ip"}, {"lr", "r14"},
}

// armOverwrites are instructions that write their first operand and read the other operands. The
// instructions in armCombines also have a two-operand form that reads both operands.
var (
	armOverwrites = asm.Words("mov movs movw mvn mvns ldr ldrb ldrh ldrsb ldrsh sxtb sxth uxtb uxth clz rev")
	armCombines   = asm.Words("add adds addw sub subs subw and ands orr orrs eor eors bic bics rsb rsbs lsl lsls lsr lsrs asr asrs ror mul muls mla mls ubfx sbfx")
)

// armScratch returns for each block of an ARM function up to two registers that the probe may
// overwrite, because the block writes them before it reads them.
func armScratch(f *asm.File, id int32) [][]string {
	out := make([][]string, len(f.Functions[id].Blocks))
	for b := range out {
		for _, names := range armRegisters {
			if len(out[b]) < 2 && armDead(f, id, b, names) {
				out[b] = append(out[b], names[0])
			}
		}
	}
	return out
}

// armDead reports whether block b overwrites the register before it reads it.
func armDead(f *asm.File, id int32, b int, names []string) bool {
	for s := range blockCode(f, id, b) {
		if s.Opaque != asm.Transparent || s.Kind != asm.StmtInstruction {
			return false
		}
		word, rest := asm.SplitWord(f.Text(s))
		mentioned := slices.ContainsFunc(names, func(n string) bool { return asm.HasWord(rest, n) }) ||
			bytes.IndexByte(rest, '{') >= 0 && bytes.IndexByte(rest, '-') >= 0 || // a range
			bytes.HasPrefix(word, []byte("ldrd")) || bytes.HasPrefix(word, []byte("strd")) // names the first of two registers only
		kind, _ := f.Flow(s)
		switch {
		case kind == asm.FlowCall && !mentioned:
			base, conditional := asm.ArmWord(word, "bl", "blx")
			if names[0] == "lr" {
				return !conditional && (base == "bl" || base == "blx")
			}
			if !calleeSaved(names[0]) {
				return false // arguments, and the static chain
			}
		case kind != asm.FlowNone:
			return false
		case mentioned:
			base := bytes.TrimSuffix(bytes.TrimSuffix(word, []byte(".n")), []byte(".w"))
			args := asm.SplitArgs(rest)
			if !armOverwrites[string(base)] && !(armCombines[string(base)] && len(args) > 2) || !slices.Contains(names, string(args[0])) {
				return false
			}
			_, sources, _ := bytes.Cut(rest, []byte(","))
			return !slices.ContainsFunc(names, func(n string) bool { return asm.HasWord(sources, n) })
		}
	}
	return false
}

func calleeSaved(reg string) bool { return reg >= "r4" && reg <= "r7" }

// isPCAnchor recognizes the labels that position-independent code is relative to. Such a label is the
// address of the instruction after it, so a probe must not come between them.
func isPCAnchor(f *asm.File, i int32) bool {
	s := &f.Stmts[i]
	if f.Target.Arch != asm.ARM || s.Kind != asm.StmtLabel {
		return false
	}
	return bytes.HasPrefix(f.Text(s), []byte(".LPIC")) || bytes.HasPrefix(f.Text(s), []byte(".LPC"))
}

// The reach of ARM instructions in bytes, less a reserve for alignment and for the
// offset of the program counter.
const (
	armLiteralRange  = 4095 - 8 // ldr, adr
	armShortLiteral  = 255 - 8  // ldrd and halfwords in ARM code
	armWideLiteral   = 1020 - 8 // of vldr, and of ldrd in Thumb code
	armCompareRange  = 126 - 4  // cbz
	armNarrowBranch  = 254 - 4  // b.n under a condition
	armNarrowJump    = 2046 - 4
	armCondRange     = 1<<20 - 8
	armProbeMax      = 28 // bytes of a block probe in ARM code
	armThumbProbeMax = 24
)

// checkARMBlocks returns why an ARM function cannot have block probes, "" if it
// can. Probes lengthen the code that its literals, jump tables and short
// branches span. far are the cbz and cbnz that would no longer reach their targets.
func checkARMBlocks(f *asm.File, id int32) (far []int32, reason asm.Reason) {
	if f.Functions[id].TableWidth > 0 {
		return nil, asm.SkipJumpTable
	}
	probe := func(s *asm.Stmt) int {
		if s.Thumb {
			return armThumbProbeMax
		}
		return armProbeMax
	}
	at, _ := offsets(f, id, probe, func(s *asm.Stmt) int {
		switch s.Kind {
		case asm.StmtInstruction:
			return armSize(f.Text(s), s.Thumb)
		case asm.StmtDirective:
			return armDataSize(f.Text(s))
		}
		return 0
	})
	for i, s := range f.Statements(id) {
		if s.Kind != asm.StmtInstruction || s.Opaque != asm.Transparent {
			continue
		}
		if armCountsFromPC(f.Text(s)) {
			return nil, asm.SkipJumpTable
		}
		limit, target := armReach(f.Text(s), s.Thumb)
		switch {
		case limit == 0 || !outOfReach(f, at, i, target, limit):
		case limit == armCompareRange:
			far = append(far, i)
		default:
			return nil, asm.SkipBranchRange
		}
	}
	return far, ""
}

// armCountsFromPC reports whether an instruction jumps through a table, of entries
// or of branches, that must follow it directly.
func armCountsFromPC(ins []byte) bool {
	word, rest := asm.SplitWord(ins)
	if base, _ := asm.ArmWord(word, "tbb", "tbh"); base == "tbb" || base == "tbh" {
		return true
	}
	kind, _ := asm.ARM.Flow(ins, 0)
	if kind != asm.FlowIndirect && kind != asm.FlowBranch {
		return false
	}
	dest, sources, _ := bytes.Cut(rest, []byte(","))
	return string(dest) == "pc" && asm.HasWord(sources, "pc")
}

// armReach returns how far away the label that an instruction mentions may be,
// in bytes; 0 if it mentions none or its limit does not matter.
func armReach(ins []byte, thumb bool) (limit int, label []byte) {
	word, rest := asm.SplitWord(ins)
	last := asm.LastOperand(rest)
	if len(last) == 0 || last[0] != '.' {
		return 0, nil
	}
	narrow := bytes.HasSuffix(word, []byte(".n"))
	kind, target := asm.ARM.Flow(ins, 0)
	switch base, _ := asm.ArmWord(word, "ldr", "ldrb", "ldrsb", "ldrh", "ldrsh", "ldrd", "adr"); {
	case base == "cbz" || base == "cbnz":
		return armCompareRange, last
	case kind == asm.FlowBranch && narrow:
		return armNarrowBranch, target
	case kind == asm.FlowJump && narrow:
		return armNarrowJump, target
	case kind == asm.FlowBranch && thumb:
		return armCondRange, target
	case kind != asm.FlowNone:
		return 0, nil
	case bytes.HasPrefix(word, []byte("vldr")), base == "ldrd" && thumb, base == "ldr" && narrow:
		return armWideLiteral, last
	case base == "ldrd", !thumb && (base == "ldrh" || base == "ldrsh" || base == "ldrsb"):
		return armShortLiteral, last
	case base == "ldr", base == "ldrb", base == "ldrh", base == "ldrsh", base == "ldrsb", base == "adr":
		return armLiteralRange, last
	}
	return armShortLiteral, last // unknown instruction: assume the shortest reach
}

// armSize returns the size of an instruction in bytes, or an upper bound.
func armSize(ins []byte, thumb bool) int {
	if !thumb {
		return 4
	}
	word, rest := asm.SplitWord(ins)
	if bytes.HasPrefix(word, []byte("it")) && len(word) <= 4 {
		return 2
	}
	for _, high := range []string{"r8", "r9", "r10", "r11", "r12", "fp", "ip", "sl", "sb", "lr"} {
		if asm.HasWord(rest, high) {
			return 4
		}
	}
	switch string(word) {
	case "movs", "cmp":
		if n, ok := armImmediate(rest); !ok || n < 256 {
			return 2
		}
	case "adds", "subs":
		if n, ok := armImmediate(rest); !ok || n < 8 {
			return 2
		}
	case "ldr", "str":
		if n, ok := armImmediate(rest); ok && n < 128 && n%4 == 0 && rest[0] == 'r' {
			return 2
		}
	case "mov":
		if _, ok := armImmediate(rest); !ok {
			return 2
		}
	case "nop", "push", "pop":
		return 2
	}
	return 4
}

// armImmediate returns the number after the only '#' in the operands.
func armImmediate(operands []byte) (n int, ok bool) {
	_, digits, ok := bytes.Cut(operands, []byte("#"))
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(string(bytes.TrimRight(digits, "] ")))
	if err != nil || n < 0 {
		return 1 << 30, true
	}
	return n, true
}

// armDataSize returns the bytes that a directive puts among the code, or an upper bound.
func armDataSize(text []byte) int {
	word, rest := asm.SplitWord(text)
	n := len(asm.SplitArgs(rest))
	switch string(word) {
	case ".byte":
		return n
	case ".short", ".hword", ".2byte":
		return 2 * n
	case ".word", ".long", ".4byte", ".inst", ".inst.w", ".inst.n":
		return 4 * n
	case ".p2align", ".align", ".balign":
		// .align takes a power of two, .balign bytes; compilers ask for a cache line at most.
		return alignmentMax
	case ".ascii", ".asciz", ".string":
		return len(rest)
	case ".space", ".skip", ".zero", ".fill":
		size, err := strconv.Atoi(string(asm.SplitArgs(rest)[0]))
		if err != nil || size < 0 || size > armCondRange {
			return armCondRange
		}
		return 8 * size
	case ".quad", ".xword", ".8byte", ".double":
		return 8 * n
	}
	return 0
}

// rewriteCompares replaces each cbz or cbnz that would not reach its target by a jump and the opposite
// instruction, which skips the jump. The original becomes a comment.
func (e *emitter) rewriteCompares(id int) {
	for n, i := range e.farCompares[id] {
		s := &e.Stmts[i]
		word, rest := asm.SplitWord(e.File.Text(s))
		opposite := "cbnz"
		if string(word) == "cbnz" {
			opposite = "cbz"
		}
		register, target, _ := bytes.Cut(rest, []byte(","))
		over := e.label(labelOver, id) + "_" + strconv.Itoa(n)
		e.text.Line("\t", opposite, "\t", string(bytes.TrimSpace(register)), ", ", over)
		e.text.Line("\tb\t", string(bytes.TrimSpace(target)))
		e.text.Line(over, ":")
		e.text = append(e.text, "\t@ "...)
		e.insertText(int(s.Pos))
	}
}
