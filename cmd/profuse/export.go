package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/export"
	"github.com/profuse-pgo/profuse/inputs"
)

func exportCommand() *cli.Command {
	return &cli.Command{
		Name:  "export",
		Args:  "--to FORMAT [-o OUTPUT] [OPTION]... FILE",
		Short: "write a profile for other tools: pprof, flame graphs, speedscope, callgrind, JSON, CSV, lcov",
		Long: `Writes the profile FILE, of whatever format, in a format that other tools read:

` + exportFormats() + `
Prints on standard error what the format cannot hold. Without --to the name of
OUTPUT decides on the format.

The exit code is 0 if the file was written, 1 if not, 2 if the command line is
wrong.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &exportRun{}
			for _, format := range export.Formats() {
				c.to.Allowed = append(c.to.Allowed, string(format))
			}
			f.Var(&c.to, "to", "`FORMAT` to write")
			f.StringVar(&c.output, "o", "-", "`OUTPUT` where to write; \"-\" is standard output")
			f.StringVar(&c.opt.Table, "table", "", "`NAME` the stacks to write (samples, allocations …), or functions, edges or traces")
			f.StringVar(&c.opt.Value, "value", "", "`NAME` the value to write, where the format has one, or to show first")
			f.BoolVar(&c.opt.Demangle, "demangle", false, "write C++ and Rust names as people write them")
			f.BoolVar(&c.opt.Signatures, "signatures", false, "append method descriptors to names")
			f.BoolVar(&c.opt.Lines, "lines", false, "tell lines of one function apart in folded stacks and speedscope")
			c.programs.Declare(f)
			c.programs.DeclareClasses(f)
			f.BoolVar(&c.quiet, "q", false, "do not say what is lost")
			return c.run
		},
	}
}

// exportFormats lists the formats for the help text.
func exportFormats() string {
	var b strings.Builder
	for _, f := range export.Formats() {
		fmt.Fprintf(&b, "    %-11s %s\n", f, f.Description())
	}
	return b.String()
}

// exportRun is one run of "profuse export".
type exportRun struct {
	to       cli.Choice
	output   string
	opt      export.Options
	quiet    bool
	programs sources.Programs
}

func (c *exportRun) run(_ context.Context, env *cli.Env, args []string) error {
	format, err := c.format()
	switch {
	case err != nil:
		return err
	case len(args) != 1:
		return cli.Usagef("it takes one profile, not %d", len(args))
	case format == export.Pprof && console.ToTerminal(env, c.output):
		return cli.Usagef("a pprof file is nothing for a terminal; write it to a file")
	}
	v, err := openView(env, args[0], &c.programs)
	if err != nil {
		return err
	}
	out, err := console.OpenOutput(env, c.output, []inputs.Input{inputs.File(args[0])})
	if err != nil {
		return err
	}
	defer out.Discard()
	losses, err := export.Write(out, format, v, c.opt)
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		return merging.NotWritten(c.output, err)
	}
	if c.quiet {
		return nil
	}
	for _, l := range losses {
		fmt.Fprintf(env.Stderr, "not in the %s file: %s\n", format, console.Printable(l.String()))
	}
	return nil
}

// format is that of the option, or that of the output's name.
func (c *exportRun) format() (export.Format, error) {
	if c.to.Value != "" {
		return export.Format(c.to.Value), nil
	}
	name := filepath.Base(c.output)
	var found export.Format
	for _, f := range export.Formats() {
		if strings.HasSuffix(name, f.Suffix()) && len(f.Suffix()) > len(found.Suffix()) {
			found = f
		}
	}
	if found == "" {
		return "", cli.Usagef("--to says what to write and is missing")
	}
	return found, nil
}
