package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/mip/debuginfo"
	"github.com/profuse-pgo/profuse/symbolize"
)

// An lcovFile is the coverage of one source file.
type lcovFile struct {
	functions map[string]lcovFunction // by name
	lines     map[uint32]uint64       // counts by line
}

type lcovFunction struct {
	line  uint32
	calls uint64
}

// lcovFiles is the coverage of a program, by path.
type lcovFiles map[string]*lcovFile

func (l lcovFiles) file(path string) *lcovFile {
	f := l[path]
	if f == nil {
		f = &lcovFile{make(map[string]lcovFunction), make(map[uint32]uint64)}
		l[path] = f
	}
	return f
}

// function adds a function. Those of one name are instances of one source
// function, a static one in a header say.
func (l lcovFiles) function(at sourceFacts, name string, calls uint64) {
	functions := l.file(at.File).functions
	f, ok := functions[name]
	if !ok || at.Line < f.line {
		f.line = at.Line
	}
	f.calls = addSaturating(f.calls, calls)
	functions[name] = f
}

// block adds a block that begins on a line. Of several the most counts.
func (l lcovFiles) block(at sourceFacts, count uint64) {
	lines := l.file(at.File).lines
	lines[at.Line] = max(lines[at.Line], count)
}

// writeLCOV writes a tracefile and returns how many functions have no known
// source and are not in it.
func (c *mipCovered) writeLCOV(w io.Writer, env *cli.Env, debug *debuginfo.Program, p *mip.Profile, functions []*mip.Function) (unknown int, err error) {
	files := make(lcovFiles)
	var at []int64
	var seen []func(frames []symbolize.Frame)
	watch := func(addr int64, then func(frames []symbolize.Frame)) {
		at, seen = append(at, addr), append(seen, then)
	}
	for _, f := range functions {
		watch(f.Address, func(frames []symbolize.Frame) {
			if where := declaration(frames); where.Line > 0 {
				files.function(where, c.name(f), f.CallCount)
			} else {
				unknown++
			}
			if where := innermost(frames); where.Line > 0 && p.Type.Has(mip.BlockCoverage) {
				files.block(where, f.CallCount)
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
					files.block(where, count)
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
	return unknown, files.write(w)
}

// write writes the tracefile, in the order that lcov itself writes one.
func (l lcovFiles) write(w io.Writer) error {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(l)) {
		f := l[path]
		fmt.Fprintf(&b, "TN:\nSF:%s\n", path)
		names := slices.SortedFunc(maps.Keys(f.functions), func(a, b string) int {
			return cmp.Or(cmp.Compare(f.functions[a].line, f.functions[b].line), cmp.Compare(a, b))
		})
		ran := 0
		for _, n := range names {
			fmt.Fprintf(&b, "FN:%d,%s\n", f.functions[n].line, n)
		}
		for _, n := range names {
			if f.functions[n].calls > 0 {
				ran++
			}
			fmt.Fprintf(&b, "FNDA:%d,%s\n", f.functions[n].calls, n)
		}
		fmt.Fprintf(&b, "FNF:%d\nFNH:%d\n", len(names), ran)
		if len(f.lines) > 0 {
			ran = 0
			for _, line := range slices.Sorted(maps.Keys(f.lines)) {
				if f.lines[line] > 0 {
					ran++
				}
				fmt.Fprintf(&b, "DA:%d,%d\n", line, f.lines[line])
			}
			fmt.Fprintf(&b, "LF:%d\nLH:%d\n", len(f.lines), ran)
		}
		b.WriteString("end_of_record\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
