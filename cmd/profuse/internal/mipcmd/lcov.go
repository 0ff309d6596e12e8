package mipcmd

import (
	"io"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/coverage"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/mip/debuginfo"
	"github.com/profuse-pgo/profuse/symbolize"
)

// writeLCOV writes a tracefile and returns how many functions have no known
// source and are not in it.
func (c *mipCovered) writeLCOV(w io.Writer, env *cli.Env, debug *debuginfo.Program, p *mip.Profile, functions []*mip.Function) (unknown int, err error) {
	files := make(coverage.Files)
	var at []int64
	var seen []func(frames []symbolize.Frame)
	watch := func(addr int64, then func(frames []symbolize.Frame)) {
		at, seen = append(at, addr), append(seen, then)
	}
	for _, f := range functions {
		watch(f.Address, func(frames []symbolize.Frame) {
			if where := declaration(frames); where.Line > 0 {
				files.Function(where.File, where.Line, c.name(f), f.CallCount)
			} else {
				unknown++
			}
			if where := innermost(frames); where.Line > 0 && p.Type.Has(mip.BlockCoverage) {
				files.Block(where.File, where.Line, f.CallCount)
			}
		})
		if !p.Type.Has(mip.BlockCoverage) {
			continue
		}
		for _, b := range f.Blocks {
			if b.Offset == 0 {
				continue // without a probe
			}
			count := uint64(0)
			if b.Covered {
				count = 1
			}
			watch(f.Address+int64(b.Offset), func(frames []symbolize.Frame) {
				if where := innermost(frames); where.Line > 0 {
					files.Block(where.File, where.Line, count)
				}
			})
		}
	}
	known := make([]bool, len(at))
	warnings, err := debug.Frames(at, func(i int, frames []symbolize.Frame) {
		known[i] = true
		seen[i](frames)
	})
	warnAll(env, warnings)
	if err != nil {
		return 0, err
	}
	for i := range at {
		if !known[i] {
			seen[i](nil)
		}
	}
	return unknown, files.Write(w)
}
