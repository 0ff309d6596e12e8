package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/memlimit"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/report"
)

// reportCommand is "profuse report". Package report makes the page, which "profuse view" serves.
// docs/report-page.md describes the page.
func reportCommand() *cli.Command {
	return &cli.Command{
		Name:  "report",
		Args:  "-o OUTPUT [OPTION]... FILE...",
		Short: "write an HTML page that shows profiles",
		Long: `Writes one HTML file that shows profiles of any format in a browser: a summary, all
functions, and flame graphs, allocations, orders, values or coverage where the
format has them. It also compares two profiles.

The file needs no other files and no network. Before you pass it on, note that it
contains the names in the profiles and, with --source, text of source files.

The exit code is 0 if the file was written, 1 if not, and 2 if the command line is
wrong.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &reportRun{}
			f.StringVar(&c.output, "o", "-", "`OUTPUT` file to write; \"-\" is standard output, unless that is a terminal")
			c.declare(f)
			return c.run
		},
	}
}

// reportOptions are the options of pages, in a file or served.
type reportOptions struct {
	opt      report.Options
	programs sources.Programs // for names and lines of functions, and coverage
	sources  cli.List         // folders
}

func (o *reportOptions) declare(f *cli.Flags) {
	f.StringVar(&o.opt.Title, "title", "", "`TEXT` title of the page (default the file names)")
	f.BoolVar(&o.opt.Mangled, "mangled", false, "show mangled names")
	f.Var(&o.sources, "source", "`DIR` folder with source files, to show counts beside their lines; repeatable")
	o.programs.Declare(f)
	o.programs.DeclareClasses(f)
	o.programs.DeclareCoverage(f)
	o.programs.CoverageDetails = true
}

// open reads the profiles, and checks them while it reads, so that the page also lists findings.
func (o *reportOptions) open(env *cli.Env, args []string) ([]report.Source, error) {
	if len(args) == 0 {
		return nil, cli.Usagef("no profiles given")
	}
	o.opt.SourceDirs = o.sources
	defer o.programs.Close()
	all := newCheckers()
	if err := all.open(env, &o.programs); err != nil {
		return nil, err
	}
	out := make([]report.Source, len(args))
	// Each file is checked while its bytes are in memory.
	look := func(i int, name string, data []byte) {
		checked, _ := all.check(name, data)
		out[i] = report.Source{Checked: true, Findings: checked.Lines()}
	}
	views, err := sources.OpenViews(env, args, &o.programs, look)
	if errors.Is(err, profile.ErrEmpty) && len(o.programs.Paths) > 0 {
		// Without coverage mappings the page has no coverage.
		o.programs.Coverage = false
		var others error
		if views, others = sources.OpenViews(env, args, &o.programs, look); others == nil {
			console.Warnings(env)(profile.Warning{Err: err})
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	for i, v := range views {
		out[i].View = v
	}
	return out, nil
}

type reportRun struct {
	reportOptions
	output string
}

// run writes the file. The status line shows which page it makes.
func (c *reportRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if err := console.RefuseTerminal(env, c.output, "a report", ""); err != nil {
		return err
	}
	end := memlimit.CollectAbove(250 << 20) // the files are in memory as well
	sources, err := c.open(env, args)
	end()
	if err != nil {
		return err
	}
	defer memlimit.CollectAbove(345 << 20)()
	// An output that is one of the inputs is refused.
	ins := make([]inputs.Input, len(args))
	for i, arg := range args {
		ins[i] = inputs.File(arg, inputs.Options{})
	}
	status := env.StatusLine(false)
	c.opt.Progress = func(label, page string) error {
		status.Set(fmt.Sprintf("%s: %s", label, page))
		return ctx.Err()
	}
	return console.Write(env, c.output, ins, false, func(w io.Writer) error {
		defer status.Clear()
		return report.Write(w, sources, c.opt)
	})
}
