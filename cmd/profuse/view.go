package main

import (
	"fmt"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/inputs"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
)

// openView reads the one profile that an argument names, of whatever format.
// Warnings are printed.
func openView(env *cli.Env, arg string, opt formats.ViewOptions) (profile.View, error) {
	ins, err := inputs.Expand(bundleFiles([]string{arg}), inputs.Options{Stdin: env.Stdin})
	if err != nil {
		return nil, err
	}
	if len(ins) != 1 {
		return nil, cli.Usagef("%s is %d files, and one profile is wanted: merge them first", arg, len(ins))
	}
	opt.Warn = func(err error) { fmt.Fprintf(env.Stderr, "warning: %s\n", printable(cli.Message(err))) }
	var v profile.View
	var r inputs.Reader
	defer r.Close()
	err = ins[0].Each(&r, func(d *inputs.Data) (err error) {
		if v != nil {
			return cli.Usagef("%s holds several files, and one profile is wanted: merge them first", arg)
		}
		v, err = formats.View(d.Name(), d.Bytes(), opt)
		return err
	})
	if err == nil && v == nil {
		err = emptyArchive(arg)
	}
	return v, err
}

// symbolName is how a function of a view is shown.
func (p *printer) symbolName(s *profile.Symbol) string {
	name := s.String()
	if !p.mangled {
		name = symbols.Demangle(name)
	}
	name += s.Signature
	if s.File != "" {
		name += " [" + s.File + "]"
	}
	return printable(name)
}

// stackName is how a stack is shown in a line, the callee first.
func (p *printer) stackName(frames []profile.Frame) string {
	var line []byte
	for i := range frames {
		f := &frames[i]
		if i > 0 {
			line = append(line, " < "...)
		}
		s := profile.Symbol{Name: f.Name, ID: f.ID}
		line = append(line, p.symbolName(&s)...)
		switch {
		case f.Line != 0:
			line = fmt.Appendf(line, ":%d", f.Line)
		case f.BCI != 0:
			line = fmt.Appendf(line, "@%d", f.BCI)
		}
	}
	return string(line)
}
