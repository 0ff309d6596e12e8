package mip

import (
	"iter"

	"github.com/profuse-pgo/profuse/profile"
)

// lineView is a view that knows lines.
type lineView struct{ *view }

// Lines are those on which a function or a block with a probe begins. The count
// is the number of calls where it is the line of a function's first
// instruction, and otherwise 1 if a block ran.
func (v *lineView) Lines() iter.Seq[*profile.Line] {
	return func(yield func(*profile.Line) bool) {
		lines := make(profile.Lines)
		for i := range v.p.Functions {
			f, source := &v.p.Functions[i], &v.sources.Functions[i]
			lines.Add(source.Entry.File, source.Entry.Line, f.CallCount)
			for b, at := range source.Blocks {
				if f.Blocks[b].Offset == 0 {
					continue // without a probe
				}
				count := uint64(0)
				if f.Blocks[b].Covered {
					count = 1
				}
				lines.Add(at.File, at.Line, count)
			}
		}
		lines.All()(yield)
	}
}
