package debuginfo

import (
	"cmp"
	"strings"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// Sources finds the source lines of all functions and blocks. It calls warn, if not nil, with
// the first reasons why some are unknown, and fails if all are.
func (p *Program) Sources(of *mip.Profile, warn func(profile.Warning)) ([]mip.FunctionSource, error) {
	s := make([]mip.FunctionSource, len(of.Functions))
	const entry = -1
	var at []int64
	var to []struct{ function, block int32 }
	watch := func(addr int64, function, block int) {
		at, to = append(at, addr), append(to, struct{ function, block int32 }{int32(function), int32(block)})
	}
	for i := range of.Functions {
		f := &of.Functions[i]
		watch(f.Address, i, entry)
		if !of.Type.Has(mip.BlockCoverage) {
			continue
		}
		s[i].Blocks = make([]mip.Source, len(f.Blocks))
		for b := range f.Blocks {
			if offset := f.Blocks[b].Offset; offset != 0 { // with a probe
				watch(f.Address+int64(offset), i, b)
			}
		}
	}
	err := p.Frames(at, warn, func(i int, frames []symbolize.Frame) {
		source := &s[to[i].function]
		block := Innermost(frames)
		if b := to[i].block; b != entry {
			source.Blocks[b] = block
			return
		}
		source.Declared, source.Entry = declaration(frames), block
	})
	return s, err
}

// Innermost returns the source of the innermost frame, which may be inlined.
func Innermost(frames []symbolize.Frame) mip.Source {
	if len(frames) == 0 {
		return mip.Source{}
	}
	return mip.Source{File: cleanPath(frames[0].File), Line: frames[0].Line, LineInFunction: frames[len(frames)-1].Line}
}

// declaration returns the line where the outermost function is declared; if that is unknown, the line of
// its frame.
func declaration(frames []symbolize.Frame) mip.Source {
	if len(frames) == 0 {
		return mip.Source{}
	}
	outer := frames[len(frames)-1]
	line := cmp.Or(outer.StartLine, outer.Line)
	return mip.Source{File: cleanPath(outer.File), Line: line, LineInFunction: line}
}

// cleanPath unifies two spellings of a path that compilers mix, "/src/./a.h" and
// "/src/a.h". It keeps "..", which symbolic links may make meaningful.
func cleanPath(path string) string { return strings.ReplaceAll(path, "/./", "/") }
