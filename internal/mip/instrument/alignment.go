package instrument

import (
	"bytes"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// Compilers align the heads of loops to 16 or 32 bytes, which is sometimes faster and takes 3 % of an
// optimized program. Block probes change the size and place of the code, so the compiler's choice of what
// to align is no longer valid. On x86_64 the package therefore drops the alignment of blocks inside
// functions, which does not change what the program does; functions and data keep theirs. The directives
// stay in the text, inside a conditional that is always false, so the assembler skips them.

// innerAlignment returns the alignment directives that have instructions of the function before and
// after them, so that they affect only its code. A directive that the package does not understand
// stays in effect.
func innerAlignment(f *asm.File, id int32) (found []int32) {
	fn := &f.Functions[id]
	code, pending := false, 0 // directives found since the last instruction
	for i := fn.Label + 1; i <= fn.Last; i++ {
		s := &f.Stmts[i]
		if fn.Entry.ProbeOnly && i == fn.Entry.Stmt {
			code = true // the entry probe
		}
		if s.Fn != id {
			found = found[:len(found)-pending]
			code, pending = false, 0
			continue
		}
		transparent := s.Opaque == asm.Transparent && s.Section == fn.Section
		switch {
		case s.Kind == asm.StmtInstruction && transparent:
			code, pending = true, 0
		case s.Kind == asm.StmtLabel && transparent:
		case s.Kind == asm.StmtDirective && transparent && asm.IsAlignment(f.Text(s)):
			if code {
				found = append(found, i)
				pending++
			}
		case s.Kind == asm.StmtDirective && transparent && emitsNoCode(f.Text(s)):
		default:
			found = found[:len(found)-pending]
			code, pending = false, 0
		}
	}
	return found[:len(found)-pending]
}

// emitsNoCode reports whether a directive concerns debug information or
// unwinding and emits no bytes into the code.
func emitsNoCode(text []byte) bool {
	word, _ := asm.SplitWord(text)
	return string(word) == ".loc" || bytes.HasPrefix(word, []byte(".cfi_"))
}

// skippedAlignments returns the alignment directives that the assembler has to skip.
func (e *emitter) skippedAlignments() (found []int32) {
	if e.Target.Arch != asm.X86_64 || !e.opt.blocks() || e.opt.KeepAlignment {
		return nil
	}
	for id := range e.Functions {
		if fn := &e.Functions[id]; fn.Skip == "" && fn.BlocksSkip == "" && !fn.HasMacro {
			found = append(found, innerAlignment(e.File, int32(id))...)
		}
	}
	return found
}

// printAround prints a line before each of the statements or, with offset 1, behind it.
func (e *emitter) printAround(statements []int32, offset int32, line string) {
	for _, i := range statements {
		e.text.Line(line)
		e.insertText(e.beforeStmt(i + offset))
	}
}
