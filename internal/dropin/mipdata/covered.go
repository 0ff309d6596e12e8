package mipdata

import (
	"bufio"
	"fmt"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/symbolize"
)

// covered runs the covered command. It prints the names in the order of the profile, or with
// --debug the frames at the entry of each function, including inlined functions.
func (t *tool) covered() error {
	covered := 0
	err := t.showProfile(func(w *bufio.Writer, p *mip.Profile, source *debugInfo) error {
		// The original also reads the profile before it checks these options.
		if err := t.checkCovered(); err != nil {
			return err
		}
		match := t.matcher()
		var functions []*mip.Function
		for i := range p.Functions {
			f := &p.Functions[i]
			if !f.Covered() {
				continue
			}
			covered++ // even if the expression does not match
			if match(f.Name) {
				functions = append(functions, f)
			}
		}
		if source == nil {
			for _, f := range functions {
				fmt.Fprintf(w, "%s\n", f.Name)
			}
			return nil
		}
		for i, frames := range t.frames(source, functions) {
			if len(frames) == 0 {
				t.msg.Warning("No debug info found for " + functions[i].Name)
			}
			for _, frame := range frames {
				t.frame(w, frame)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	t.msg.Remark(fmt.Sprintf("%d total functions are covered", covered))
	return nil
}

// checkCovered checks --paths and --lines.
func (t *tool) checkCovered() error {
	switch o := &t.opt; {
	case (o.paths || o.lines) && o.debug == "":
		t.msg.Error("--paths and --lines require <debug info>")
	case o.paths && o.lines:
		t.msg.Error("--paths and --lines cannot both be set")
	default:
		return nil
	}
	return errInvalid
}

// frame prints the file of a frame with --paths, the file and line with --lines, and otherwise
// the function.
func (t *tool) frame(w *bufio.Writer, f symbolize.Frame) {
	switch {
	case t.opt.paths:
		fmt.Fprintf(w, "%s\n", fileOf(f))
	case t.opt.lines:
		fmt.Fprintf(w, "%s:%d\n", fileOf(f), f.Line)
	default:
		fmt.Fprintf(w, "%s\n", functionOf(f))
	}
}
