package main

import (
	"context"
	"fmt"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/report"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:  "report",
		Args:  "-o OUTPUT [OPTION]... FILE...",
		Short: "write an HTML file to look at profiles in",
		Long: `Writes one HTML file in which the profiles FILE, of whatever format, can be looked
at in a browser: what they are and how hot what is in them, every function, and
flame graphs, allocations, orders, values or coverage as far as the format has
them. Two profiles are compared besides.

The file needs nothing beside it and no network. It holds the names in the
profiles and, with --source, text of source files: mind that when handing it on.

The exit code is 0 if the file was written, 1 if not, 2 if the command line is
wrong.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &reportRun{}
			f.StringVar(&c.output, "o", "-", "`OUTPUT` where to write; \"-\", not for a terminal, is standard output")
			c.declare(f)
			return c.run
		},
	}
}

// reportOptions are what reports are made with.
type reportOptions struct {
	opt      report.Options
	programs sources.Programs
	sources  cli.List
}

func (o *reportOptions) declare(f *cli.Flags) {
	f.StringVar(&o.opt.Title, "title", "", "`TEXT` title of the page instead of the names of the files")
	f.BoolVar(&o.opt.Mangled, "mangled", false, "show names as they are in the profile")
	f.Var(&o.sources, "source", "`DIR` folder to find source files in, to show counts beside their lines; may be given again")
	o.programs.Declare(f)
	o.programs.DeclareClasses(f)
}

// open reads the profiles.
func (o *reportOptions) open(env *cli.Env, args []string) ([]report.Source, error) {
	if len(args) == 0 {
		return nil, cli.Usagef("the profiles to report on are missing")
	}
	o.opt.SourceDirs = o.sources
	views, err := openViews(env, args, &o.programs)
	if err != nil {
		return nil, err
	}
	out := make([]report.Source, len(views))
	for i, v := range views {
		out[i].View = v
	}
	return out, nil
}

// reportRun is one run of "profuse report".
type reportRun struct {
	reportOptions
	output string
}

func (c *reportRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if console.ToTerminal(env, c.output) {
		return cli.Usagef("a report is nothing for a terminal; write it to a file, for example -o report.html")
	}
	sources, err := c.open(env, args)
	if err != nil {
		return err
	}
	ins := make([]inputs.Input, len(args))
	for i, arg := range args {
		ins[i] = inputs.File(arg)
	}
	out, err := console.OpenOutput(env, c.output, ins)
	if err != nil {
		return err
	}
	defer out.Discard()
	status := env.StatusLine(false)
	c.opt.Progress = func(label, page string) error {
		status.Set(fmt.Sprintf("%s: %s", label, page))
		return ctx.Err()
	}
	err = report.Write(out, sources, c.opt)
	status.Clear()
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		return merging.NotWritten(c.output, err)
	}
	return nil
}
