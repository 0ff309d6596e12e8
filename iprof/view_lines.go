package iprof

import (
	"iter"

	"github.com/profuse-pgo/profuse/profile"
)

// lineView is a view that knows lines.
type lineView struct{ *view }

// Lines are the first lines of the methods, and those of the bytecodes that
// [Profile.Executed] knows. The first line of a method that ran without being
// counted has 1.
func (v *lineView) Lines() iter.Seq[*profile.Line] {
	return func(yield func(*profile.Line) bool) {
		lines := make(profile.Lines)
		calls, covered := v.functionCounts()
		methods := v.methods()
		at := func(m *viewMethod, bci BCI, count uint64) {
			if m.symbol.StartLine > 0 {
				lines.Add(m.symbol.File, uint32(m.lineAt(bci)), count)
			}
		}
		for i := range methods {
			if covered[i] {
				calls[i] = max(calls[i], 1)
			}
			at(&methods[i], 0, calls[i])
		}
		for f, n := range v.p.Executed() {
			if i := v.p.methIndex.find(int32(f.Method)); i >= 0 && i < len(methods) {
				at(&methods[i], f.BCI, uint64(n))
			}
		}
		lines.All()(yield)
	}
}
