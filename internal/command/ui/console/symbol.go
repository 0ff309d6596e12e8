package console

import (
	"fmt"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
)

// SymbolName returns the text for a function of a view: the name, demangled unless Mangled, the
// signature of a method, and in brackets the file of a local function.
func (p *Printer) SymbolName(s *profile.Symbol) string {
	name := s.String()
	if !p.Mangled {
		name = symbols.Demangle(name)
	}
	name += s.Signature
	if s.File != "" {
		name += " [" + s.File + "]"
	}
	return Printable(name)
}

// maxStackFrames limits the frames of a stack in a line.
const maxStackFrames = 1000

// StackName returns the text for a stack, the callee first. It has at most maxStackFrames frames and
// the number of the others.
func (p *Printer) StackName(frames []profile.Frame) string {
	var line []byte
	for i := range frames {
		f := &frames[i]
		if i > 0 {
			line = append(line, " < "...)
		}
		if i == maxStackFrames && len(frames) > maxStackFrames+1 {
			line = fmt.Appendf(line, "%s frames more", cli.Count(len(frames)-i))
			break
		}
		s := profile.Symbol{Name: f.Name, ID: f.ID}
		line = append(line, p.SymbolName(&s)...)
		switch {
		case f.Line != 0:
			line = fmt.Appendf(line, ":%d", f.Line)
		case f.BCI != 0:
			line = fmt.Appendf(line, "@%d", f.BCI)
		}
	}
	return string(line)
}
