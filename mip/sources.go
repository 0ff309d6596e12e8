package mip

import (
	"iter"

	"github.com/profuse-pgo/profuse/profile"
)

// A Place is a line of a source file. Line is 0 where it is not known.
type Place struct {
	File string
	Line uint32
}

// Sources says where the functions and blocks of a profile are in the sources.
// Package mip/debuginfo finds out.
type Sources struct {
	Functions []FunctionSource // as many as the profile has, by index
}

// FunctionSource says where a function is in the sources.
type FunctionSource struct {
	Declared Place // the function; in its absence the line of its first instruction
	Entry    BlockSource
	// Blocks are as many as the function has, by index; nil without block
	// coverage.
	Blocks []BlockSource
}

// BlockSource says where a block begins in the sources.
type BlockSource struct {
	Place // of what runs first, which may be inlined there from another file
	// LineInFunction is that in the function itself: where something is inlined
	// the line of its call. 0 if unknown.
	LineInFunction uint32
}

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
