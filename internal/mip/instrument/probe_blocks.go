package instrument

import (
	"iter"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// alignmentMax is how many bytes an alignment adds at most.
const alignmentMax = 64

// blockCode iterates over the instructions of block b of a function, and over its inline assembly.
func blockCode(f *asm.File, id int32, b int) iter.Seq[*asm.Stmt] {
	return func(yield func(*asm.Stmt) bool) {
		fn := &f.Functions[id]
		end := fn.Last + 1
		if b+1 < len(fn.Blocks) {
			end = fn.Blocks[b+1].Stmt
		}
		for i := fn.Blocks[b].Stmt; i < end; i++ {
			s := &f.Stmts[i]
			skip := s.Fn != id || s.Kind == asm.StmtLabel || s.Kind == asm.StmtDirective && s.Opaque == asm.Transparent
			if !skip && !yield(s) {
				return
			}
		}
	}
}

// offsets returns the greatest possible offset, in bytes, of each statement of a
// function with block probes, and the size of the function. probe returns the greatest size of the
// probe before a statement, size the greatest size of the statement.
func offsets(f *asm.File, id int32, probe, size func(*asm.Stmt) int) (at map[int32]int, end int) {
	fn := &f.Functions[id]
	at = make(map[int32]int, fn.Instructions)
	at[fn.Label] = 0
	next := 0
	for i, s := range f.Statements(id) {
		for ; next < len(fn.Blocks) && fn.Blocks[next].Stmt <= i; next++ {
			end += probe(s)
		}
		at[i] = end
		end += size(s)
	}
	return at, end
}

// outOfReach reports whether the target of statement i, a label of its function, may
// be limit bytes away or more.
func outOfReach(f *asm.File, at map[int32]int, i int32, target []byte, limit int) bool {
	label := f.Labels.Find(asm.Unquote(target))
	if label < 0 {
		return false
	}
	to, ok := at[f.Labels.All[label].Stmt]
	d := to - at[i]
	return ok && (d >= limit || d <= -limit)
}
