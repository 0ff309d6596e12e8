package mipdata

import (
	"bufio"
	"fmt"
	"io"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/dropin/ere"
	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
)

func (t *tool) show() error {
	return t.showProfile(func(w *bufio.Writer, p *mip.Profile, source *debugInfo) error {
		match := t.matcher()
		var functions []*mip.Function
		for i := range p.Functions {
			if f := &p.Functions[i]; match(f.Name) {
				functions = append(functions, f)
			}
		}
		frames := t.frames(source, functions)
		s := shower{w: w, to: t.Stdout, color: t.opt.output == "-" && t.opt.color.Enabled(t.Stdout) || t.opt.color == withcolor.On}
		for i, f := range functions {
			fmt.Fprintf(w, "%s\n", f.Name)
			if len(frames[i]) > 0 {
				fmt.Fprintf(w, "  Source Info: %s:%d\n", fileOf(frames[i][0]), frames[i][0].Line)
			}
			s.counts(f)
		}
		return nil
	})
}

// matcher returns a function that reports whether --regex matches. An invalid expression
// matches no function.
func (t *tool) matcher() func(name string) bool {
	match, err := ere.Compile(t.opt.regex)
	if err != nil {
		t.msg.Warning(fmt.Sprintf("no function matches '%s': %v", t.opt.regex, err))
		return func(string) bool { return false }
	}
	return match
}

type shower struct {
	w     *bufio.Writer
	to    io.Writer // the writer below w
	color bool
}

// counts prints the counts of a function and its blocks, then an empty line.
func (s *shower) counts(f *mip.Function) {
	fmt.Fprintf(s.w, "  Call Count: %d\n", f.CallCount)
	if f.TimestampSum > 0 {
		fmt.Fprintf(s.w, "  Order Sum: %d\n", f.TimestampSum)
	}
	if len(f.Blocks) > 0 {
		s.w.WriteString("  Block Coverage:")
		s.block(0, f.EntryCovered())
		for i, b := range f.Blocks {
			s.block(i+1, b.Covered)
		}
		s.w.WriteByte('\n')
	}
	s.w.WriteByte('\n')
}

// blocksPerLine is the number of blocks printed on a line.
const blocksPerLine = 8

// block prints whether a block ran. i counts from 0, the entry.
func (s *shower) block(i int, covered bool) {
	if i%blocksPerLine == 0 {
		s.w.WriteString("\n    ")
	}
	text, color := " COLD", withcolor.Cyan
	if covered {
		text, color = " HOT ", withcolor.Red
	}
	if s.color {
		text = color.Paint(s.to, text)
	}
	s.w.WriteString(text)
}
