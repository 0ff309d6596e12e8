package instrument

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// armRegisters are the registers that a block probe may take where they are
// free, with their other names. Those that need fewer bytes in Thumb code come
// first.
var armRegisters = [][]string{
	{"r3"}, {"r2"}, {"r1"}, {"r0"}, {"r4"}, {"r5"}, {"r6"}, {"r7"}, {"r12", "ip"}, {"lr", "r14"},
}

// armOverwrites are instructions that write their first operand and read the
// others; of those in armCombines there is a form with two operands that reads
// both.
var (
	armOverwrites = armSet("mov movs movw mvn mvns ldr ldrb ldrh ldrsb ldrsh sxtb sxth uxtb uxth clz rev")
	armCombines   = armSet("add adds addw sub subs subw and ands orr orrs eor eors bic bics rsb rsbs lsl lsls lsr lsrs asr asrs ror mul muls mla mls ubfx sbfx")
)

func armSet(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// armScratch chooses for each block of an ARM function up to two registers
// that its probe may overwrite: those that the block writes before it reads.
func (f *file) armScratch(id int32) [][]string {
	fn := &f.functions[id]
	out := make([][]string, len(fn.blocks))
	for b := range fn.blocks {
		end := fn.last + 1
		if b+1 < len(fn.blocks) {
			end = fn.blocks[b+1].stmt
		}
		for _, names := range armRegisters {
			if len(out[b]) < 2 && f.armDead(id, fn.blocks[b].stmt, end, names) {
				out[b] = append(out[b], names[0])
			}
		}
	}
	return out
}

// armDead reports whether between two statements of a function the register is
// overwritten before it is read.
func (f *file) armDead(id, from, to int32, names []string) bool {
	for i := from; i < to; i++ {
		s := &f.stmts[i]
		if s.fn != id || s.kind == stmtLabel || s.kind == stmtDirective && s.opaque == transparent {
			continue
		}
		if s.opaque != transparent || s.kind != stmtInstruction {
			return false
		}
		word, rest := splitWord(f.text(s))
		mentioned := slices.ContainsFunc(names, func(n string) bool { return hasWord(rest, n) }) ||
			bytes.IndexByte(rest, '{') >= 0 && bytes.IndexByte(rest, '-') >= 0 || // a range
			bytes.HasPrefix(word, []byte("ldrd")) || bytes.HasPrefix(word, []byte("strd")) // the second need not be named
		kind, _ := arm{}.flow(f.text(s), s.syntax)
		switch {
		case kind == flowCall && !mentioned:
			base, conditional := armWord(word, "bl", "blx")
			if names[0] == "lr" {
				return !conditional && (base == "bl" || base == "blx")
			}
			if !calleeSaved(names[0]) {
				return false // arguments, and the static chain
			}
		case kind != flowNone:
			return false
		case mentioned:
			base := bytes.TrimSuffix(bytes.TrimSuffix(word, []byte(".n")), []byte(".w"))
			args := splitArgs(rest)
			if !armOverwrites[string(base)] && !(armCombines[string(base)] && len(args) > 2) || !slices.Contains(names, string(args[0])) {
				return false
			}
			_, sources, _ := bytes.Cut(rest, []byte(","))
			return !slices.ContainsFunc(names, func(n string) bool { return hasWord(sources, n) })
		}
	}
	return false
}

func calleeSaved(reg string) bool { return reg >= "r4" && reg <= "r7" }

// isPCAnchor tells the labels from which position-independent code counts:
// they stand for the instruction after them, and a probe must not come between.
func (f *file) isPCAnchor(i int32) bool {
	s := &f.stmts[i]
	if f.target.Arch != ARM || s.kind != stmtLabel {
		return false
	}
	return bytes.HasPrefix(f.text(s), []byte(".LPIC")) || bytes.HasPrefix(f.text(s), []byte(".LPC"))
}

// How far ARM instructions reach, in bytes, less what alignment and the
// position of the program counter may take.
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

// checkARMBlocks returns why an ARM function cannot have block probes: they
// move apart what its literals, jump tables and short branches span. Compare
// and branch instructions that would not reach are noted.
func (f *file) checkARMBlocks(id int32) SkipReason {
	fn := &f.functions[id]
	if fn.tableWidth > 0 {
		return SkipJumpTable
	}
	// at is where each statement ends up at most, relative to the function.
	at := make(map[int32]int, fn.instructions)
	size, next := 0, 0
	for i := fn.label; i <= fn.last; i++ {
		s := &f.stmts[i]
		if s.fn != id {
			continue
		}
		for next < len(fn.blocks) && fn.blocks[next].stmt <= i {
			size += armProbeMax
			if s.thumb {
				size += armThumbProbeMax - armProbeMax
			}
			next++
		}
		at[i] = size
		switch s.kind {
		case stmtInstruction:
			size += armSize(f.text(s), s.thumb)
		case stmtDirective:
			size += armDataSize(f.text(s))
		}
	}
	var far []int32
	for i := fn.label; i <= fn.last; i++ {
		s := &f.stmts[i]
		if s.fn != id || s.kind != stmtInstruction || s.opaque != transparent {
			continue
		}
		if armCountsFromPC(f.text(s)) {
			return SkipJumpTable
		}
		limit, target := armReach(f.text(s), s.thumb)
		if limit == 0 {
			continue
		}
		l := f.labels.find(unquote(target))
		if l < 0 {
			continue
		}
		to, ok := at[f.labels.all[l].stmt]
		if d := to - at[i]; !ok || d < limit && d > -limit {
			continue
		}
		if limit != armCompareRange {
			return SkipBranchRange
		}
		far = append(far, i)
	}
	if far != nil {
		if f.farCompares == nil {
			f.farCompares = map[int32][]int32{}
		}
		f.farCompares[id] = far
	}
	return 0
}

// armCountsFromPC reports whether an instruction jumps by a table, of entries
// or of branches, that has to stand right behind it.
func armCountsFromPC(ins []byte) bool {
	word, rest := splitWord(ins)
	if base, _ := armWord(word, "tbb", "tbh"); base == "tbb" || base == "tbh" {
		return true
	}
	kind, _ := arm{}.flow(ins, 0)
	if kind != flowIndirect && kind != flowBranch {
		return false
	}
	dest, sources, _ := bytes.Cut(rest, []byte(","))
	return string(dest) == "pc" && hasWord(sources, "pc")
}

// armReach returns how far the label in an instruction may be away, 0 if there
// is no label or no limit that matters.
func armReach(ins []byte, thumb bool) (limit int, label []byte) {
	word, rest := splitWord(ins)
	last := lastOperand(rest)
	if len(last) == 0 || last[0] != '.' {
		return 0, nil
	}
	narrow := bytes.HasSuffix(word, []byte(".n"))
	kind, target := arm{}.flow(ins, 0)
	switch base, _ := armWord(word, "ldr", "ldrb", "ldrsb", "ldrh", "ldrsh", "ldrd", "adr"); {
	case base == "cbz" || base == "cbnz":
		return armCompareRange, last
	case kind == flowBranch && narrow:
		return armNarrowBranch, target
	case kind == flowJump && narrow:
		return armNarrowJump, target
	case kind == flowBranch && thumb:
		return armCondRange, target
	case kind != flowNone:
		return 0, nil
	case bytes.HasPrefix(word, []byte("vldr")), base == "ldrd" && thumb, base == "ldr" && narrow:
		return armWideLiteral, last
	case base == "ldrd", !thumb && (base == "ldrh" || base == "ldrsh" || base == "ldrsb"):
		return armShortLiteral, last
	case base == "ldr", base == "ldrb", base == "ldrh", base == "ldrsh", base == "ldrsb", base == "adr":
		return armLiteralRange, last
	}
	return armShortLiteral, last // whatever it is
}

// armSize is the size of an instruction in bytes, or more.
func armSize(ins []byte, thumb bool) int {
	if !thumb {
		return 4
	}
	word, rest := splitWord(ins)
	if bytes.HasPrefix(word, []byte("it")) && len(word) <= 4 {
		return 2
	}
	for _, high := range []string{"r8", "r9", "r10", "r11", "r12", "fp", "ip", "sl", "sb", "lr"} {
		if hasWord(rest, high) {
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

// armImmediate returns the number after the only '#' of the operands.
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

// armDataSize is the size of what a directive puts among the code, or more.
func armDataSize(text []byte) int {
	word, rest := splitWord(text)
	n := len(splitArgs(rest))
	switch string(word) {
	case ".byte":
		return n
	case ".short", ".hword", ".2byte":
		return 2 * n
	case ".word", ".long", ".4byte", ".inst", ".inst.w", ".inst.n":
		return 4 * n
	case ".p2align", ".align", ".balign":
		// .align counts bits, .balign bytes; none is above a line of the cache.
		return alignmentMax
	case ".ascii", ".asciz", ".string":
		return len(rest)
	case ".space", ".skip", ".zero", ".fill":
		size, err := strconv.Atoi(string(splitArgs(rest)[0]))
		if err != nil || size < 0 || size > armCondRange {
			return armCondRange
		}
		return 8 * size
	case ".quad", ".xword", ".8byte", ".double":
		return 8 * n
	}
	return 0
}

// rewriteCompares replaces compare and branch instructions that would not reach
// their targets by their opposite around a jump. What was there becomes a
// comment.
func (e *emitter) rewriteCompares(id int) {
	for n, i := range e.farCompares[int32(id)] {
		s := &e.stmts[i]
		word, rest := splitWord(e.file.text(s))
		opposite := "cbnz"
		if string(word) == "cbnz" {
			opposite = "cbz"
		}
		register, target, _ := bytes.Cut(rest, []byte(","))
		over := e.label(labelOver, id) + "_" + strconv.Itoa(n)
		e.line("\t", opposite, "\t", string(bytes.TrimSpace(register)), ", ", over)
		e.line("\tb\t", string(bytes.TrimSpace(target)))
		e.line(over, ":")
		e.text = append(e.text, "\t@ "...)
		e.insert(int(s.pos))
	}
}
