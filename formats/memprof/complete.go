package memprof

import (
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/symbolize"
)

// Debug information of line tables only (-gline-tables-only, -g1) has no linkage names and no lines where
// functions begin, and from clang an entry only for functions into which others are inlined. LLVM then identifies
// frames by other names and lines than compilers, which use nothing of the profile, and omits calls in functions
// without an entry. The symbol table has the linkage names, and the line table the line where the
// code of a function begins, which in most sources is the line of its declaration.

// poorFrames are the frames of an address that lack a name or the first line of a function.
type poorFrames struct {
	index  int // of the address
	frames []symbolize.Frame
	symbol symbolize.Symbol
}

// isPoor reports whether frames lack names or first lines that complete may find.
func isPoor(frames []symbolize.Frame) bool {
	if len(frames) == 0 || isRuntimeFile(frames[0].File) {
		return false
	}
	// Debug information with first lines has them for all functions of a source file but the functions that compilers make.
	return frames[len(frames)-1].Function == "" || lacksFirstLine(frames) &&
		!slices.ContainsFunc(frames, func(f symbolize.Frame) bool { return f.StartLine > 0 })
}

// lacksFirstLine reports whether a line of a frame has no first line of its function.
func lacksFirstLine(frames []symbolize.Frame) bool {
	return slices.ContainsFunc(frames, func(f symbolize.Frame) bool {
		return f.StartLine == 0 && f.Line > 0 && !isMadeByCompiler(f.Function)
	})
}

// isMadeByCompiler reports whether a function by its linkage name is one that compilers make: for
// initializers, thread-local variables or thunks. Such functions have no line in any source.
func isMadeByCompiler(name string) bool {
	return slices.ContainsFunc([]string{"_GLOBAL__", "__cxx_global_", "__tls_", "_ZTW", "_ZTh", "_ZTv", "_ZTc"}, func(prefix string) bool {
		return strings.HasPrefix(name, prefix)
	})
}

// complete takes the name and the first line of the outermost functions from the symbol and line tables. Frames
// without a name at the end stay without one.
func (p *program) complete(addrs []uint64, poor []poorFrames) error {
	var entries []uint64
	for i := range poor {
		f := &poor[i]
		var ok bool
		var err error
		f.symbol, ok, err = p.file.Symbol(addrs[f.index])
		switch {
		case err != nil:
			return err
		case ok && !strings.HasPrefix(f.symbol.Name, startCode):
			entries = append(entries, f.symbol.Addr)
		default:
			f.symbol.Name = ""
		}
	}
	lines := make(map[uint64]uint32)
	err := p.file.Batch(entries, func(i int, frames []symbolize.Frame) {
		if len(frames) == 1 { // otherwise the line is the line of an inlined function
			lines[entries[i]] = frames[0].Line
		}
	})
	if err != nil {
		return err
	}
	for _, f := range poor {
		outer := &f.frames[len(f.frames)-1]
		if f.symbol.Name == "" || outer.Function != "" && (outer.StartLine > 0 || outer.Line == 0) {
			continue
		}
		outer.Function = f.symbol.Name
		if outer.StartLine == 0 && outer.Line > 0 && !isMadeByCompiler(outer.Function) {
			outer.StartLine = lines[f.symbol.Addr]
		}
	}
	return nil
}

// startCode is the symbol of the code before main, which no profile needs.
const startCode = "_start"
