package mip

import (
	"iter"

	"github.com/profuse-pgo/profuse/profile"
)

// A lineView is a view with lines.
type lineView struct{ *view }

// Lines iterates over the lines on which a function or a block with a probe begins. The count of a
// function's first line is the number of calls; the count of a block is 1 if the block ran, else 0.
func (v *lineView) Lines() iter.Seq[profile.Line] {
	return func(yield func(profile.Line) bool) {
		for i := range v.p.Functions {
			f, source, symbol := &v.p.Functions[i], &v.sources[i], v.symbol(i)
			more := func(at Place, count uint64) bool {
				return at.Line == 0 || yield(profile.Line{Function: symbol, File: at.File, Number: at.Line, Count: count})
			}
			if !more(source.Entry.Place, f.CallCount) {
				return
			}
			for b, at := range source.Blocks {
				count := uint64(0)
				if f.Blocks[b].Covered {
					count = 1
				}
				if f.Blocks[b].Offset != 0 && !more(at.Place, count) { // 0: without a probe
					return
				}
			}
		}
	}
}
