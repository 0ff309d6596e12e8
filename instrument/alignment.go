package instrument

import "bytes"

// Compilers align blocks that loops begin with to 16 or 32 bytes, which is
// faster now and then and takes 3 % of an optimized program. Behind block
// probes the code is another and larger one, and what the alignment was worth
// is not known any more. On x86_64 it is left out inside of functions, where
// no meaning hangs on it; that of functions and of data stays. Nothing is taken
// out of the text: the assembler passes over it.

// innerAlignment returns the alignment directives inside of a function that
// are for its code alone: instructions stand before and behind them. What is
// not understood keeps its alignment.
func (f *file) innerAlignment(id int32) (found []int32) {
	fn := &f.functions[id]
	code, pending := false, 0 // directives found since the last instruction
	for i := fn.label + 1; i <= fn.last; i++ {
		s := &f.stmts[i]
		if fn.entry.apart && i == fn.entry.stmt {
			code = true // the entry probe
		}
		if s.fn != id {
			found = found[:len(found)-pending]
			code, pending = false, 0
			continue
		}
		transparent := s.opaque == transparent && s.section == fn.section
		switch {
		case s.kind == stmtInstruction && transparent:
			code, pending = true, 0
		case s.kind == stmtLabel && transparent:
		case s.kind == stmtDirective && transparent && isAlignment(f.text(s)):
			if code {
				found = append(found, i)
				pending++
			}
		case s.kind == stmtDirective && transparent && isLocation(f.text(s)):
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
	word, _ := splitWord(text)
	return string(word) == ".loc" || bytes.HasPrefix(word, []byte(".cfi_"))
}

// looseStatements returns the alignment directives that the assembler is to
// pass over.
func (e *emitter) looseStatements() (found []int32) {
	if e.target.Arch != X86_64 || !e.opt.blocks() || e.opt.KeepAlignment {
		return nil
	}
	for id := range e.functions {
		if fn := &e.functions[id]; fn.skip == 0 && fn.blocksSkip == 0 && !fn.hasMacro {
			found = append(found, e.innerAlignment(int32(id))...)
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
