package iprof

import (
	"iter"
	"maps"
	"slices"

	"github.com/profuse-pgo/profuse/profile"
)

// A lineView is a view with lines.
type lineView struct{ *view }

// Lines iterates over the first lines of the methods and the lines of the bytecodes that
// certainly ran. The first line of a method that ran without a count has 1.
func (v *lineView) Lines() iter.Seq[profile.Line] {
	return func(yield func(profile.Line) bool) {
		calls, covered := v.functionCounts()
		methods := v.methods()
		more := func(m *viewMethod, bci int32, count uint64) bool {
			line := m.lineAt(bci)
			return line <= 0 || m.symbol.StartLine <= 0 ||
				yield(profile.Line{Function: m.symbol, File: m.symbol.File, Number: uint32(line), Count: count})
		}
		for i := range methods {
			if covered[i] {
				calls[i] = max(calls[i], 1)
			}
			if !more(&methods[i], 0, calls[i]) {
				return
			}
		}
		counts := v.p.executed()
		for _, at := range slices.SortedFunc(maps.Keys(counts), compareFrames) {
			if i := v.p.methIndex.find(int32(at.Method)); i >= 0 && i < len(methods) && !more(&methods[i], at.BCI, uint64(counts[at])) {
				return
			}
		}
	}
}
