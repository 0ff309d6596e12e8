package instrument

import (
	"bytes"

	"github.com/profuse-pgo/profuse/instrument/internal/asm"
)

// Compilers align blocks that loops begin with to 16 or 32 bytes, which is
// faster now and then and takes 3 % of an optimized program. Behind block
// probes the code is another and larger one, and what the alignment was worth
// is not known any more. On x86_64 it is left out inside of functions, where
// no meaning hangs on it; that of functions and of data stays. Nothing is taken
// out of the text: the assembler passes over it.

// innerAlignment returns the alignment directives inside of a function that
// are for its code alone: instructions stand before and behind them. What is
// not understood keeps its alignment.
func innerAlignment(f *asm.File, id int32) (found []int32) {
	fn := &f.Functions[id]
	code, pending := false, 0 // directives found since the last instruction
	for i := fn.Label + 1; i <= fn.Last; i++ {
		s := &f.Stmts[i]
		if fn.Entry.Apart && i == fn.Entry.Stmt {
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
		case s.Kind == asm.StmtDirective && transparent && isLocation(f.Text(s)):
		default:
			found = found[:len(found)-pending]
			code, pending = false, 0
		}
	}
	return found[:len(found)-pending]
}

// isLocation reports whether a directive is about debug information or
// unwinding and puts nothing where it stands.
func isLocation(text []byte) bool {
	word, _ := asm.SplitWord(text)
	return string(word) == ".loc" || bytes.HasPrefix(word, []byte(".cfi_"))
}

// looseStatements returns the alignment directives that the assembler is to
// pass over.
func (e *emitter) looseStatements() (found []int32) {
	if e.Target.Arch != asm.X86_64 || !e.opt.blocks() || e.opt.KeepAlignment {
		return nil
	}
	for id := range e.Functions {
		if fn := &e.Functions[id]; fn.Skip == 0 && fn.BlocksSkip == 0 && !fn.HasMacro {
			found = append(found, innerAlignment(e.File, int32(id))...)
		}
	}
	return found
}

// endPassed prints what ends the text passed over. It goes before all else at
// its place.
func (e *emitter) endPassed(loose []int32) {
	for _, i := range loose {
		e.line("\t.endif")
		e.insert(e.beforeStmt(i + 1))
	}
}

// beginPassed prints what begins it, behind all else.
func (e *emitter) beginPassed(loose []int32) {
	for _, i := range loose {
		e.line("\t.if\t0")
		e.insert(e.beforeStmt(i))
	}
}
