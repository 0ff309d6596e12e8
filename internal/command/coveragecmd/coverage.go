package coveragecmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// Command is "profuse coverage". Package profile/coverage adds up and writes coverage; this package
// reads the inputs, checks limits and prints. docs/coverage.md describes the command.
func Command() *cli.Command {
	return &cli.Command{
		Name:  "coverage",
		Args:  "[--program PATH]... [-o OUTPUT] [OPTION]... INPUT... | -- COMMAND [ARGUMENT]...",
		Short: "print how many lines, functions, branches and regions ran",
		Long: `Prints a table of the source files and folders: how many of their lines, regions,
functions, branches and conditions (MC/DC) ran. -o also writes a file for other tools:
a tracefile of lcov or another format (--to), and --html pages that show the sources.

An INPUT is a profile of any format, raw ones included, or a tracefile of lcov.
profuse adds up several inputs within the loss budget of "profuse merge". For clang
-fprofile-instr-generate -fcoverage-mapping and rustc -C instrument-coverage, name
each program and library that ran (--program), or a folder to find them in. MIP needs
the program's debug information, iprof its classes.

"profuse coverage tests" lists the tests that run a line or a change.

With a COMMAND, such as -- cargo test or -- ctest, profuse runs it and prints
the coverage of its processes. It finds their programs below target, build* and
out, unless --program names them. If COMMAND fails, profuse exits with its exit
code.

Each line, region and branch of the sources counts once, however many functions,
instances and programs contain it. profuse prints the number of functions that
the profile does not fit on standard error; --mismatched lists them with the
probable causes. Markers in the sources, such as LCOV_EXCL_LINE, exclude lines
and branches.

The exit code is 0 if the coverage could be printed and no limit is missed, 1 if not,
4 if too many inputs are unusable, and 2 if the command line is wrong.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &command{}
			c.declare(f)
			return c.run
		},
		Commands: []*cli.Command{testsCommand()},
	}
}

// A command is one run of "profuse coverage". It reads inputs, perhaps after running the command that
// writes them (execute.go), compares their coverage with a patch (changed.go), a baseline (baseline.go)
// and limits (limits.go), then prints and writes it.
type command struct {
	shared
	mangled bool // print mangled names
	to      cli.Choice
	argv    []string // the command to run; nil to read profiles
	html    string   // file or folder of the pages

	// mismatched lists the functions that the profile does not fit; strict fails if there are any.
	mismatched, strict bool
	notRun             bool // list the lines that did not run
	limits             limits
	baseline           string // profile or tracefile
}

func (c *command) declare(f *cli.Flags) {
	for _, format := range coverage.Formats() {
		c.to.Allowed = append(c.to.Allowed, string(format))
	}
	f.StringVar(&c.output, "o", "", "`OUTPUT` also write a file for other tools; \"-\" is standard output, without the table")
	c.to.Value = "lcov"
	f.Var(&c.to, "to", "`FORMAT` format of OUTPUT: "+c.to.Words()+"; \"profuse help export\" describes them")
	f.StringVar(&c.html, "html", "", "`OUTPUT` also write pages for a browser, with the sources, as one file, or as index.html into a folder")
	f.BoolVar(&c.mangled, "mangled", false, "print mangled names")
	c.shared.declare(f)
	f.BoolVar(&c.notRun, "show-missing", false, "list the lines of each file that did not run")
	f.BoolVar(&c.mismatched, "mismatched", false, "list each function that the profile does not fit, with the probable cause, and each one whose source is not known")
	f.BoolVar(&c.strict, "strict", false, "fail if the profile does not fit a function")
	c.limits.declare(f)
	f.StringVar(&c.changed, "changed", "", "`PATCH` list the lines that this unified diff adds and that did not run; \"-\" is standard input")
	f.StringVar(&c.baseline, "baseline", "", "`OTHER` list what ran less than in this profile or tracefile")
	f.BoolVar(&c.quiet, "q", false, "print no table, progress, warnings or summary")
	c.merge.Loss.Declare(f, false)
	f.TakesCommand(&c.argv)
}

func (c *command) run(ctx context.Context, env *cli.Env, args []string) error {
	if err := c.check(args); err != nil {
		return err
	}
	if len(c.argv) > 0 {
		return c.reportCommand(ctx, env)
	}
	return c.reportInputs(ctx, env, args)
}

// check returns what is wrong with the command line. It reads no file.
func (c *command) check(args []string) error {
	switch {
	case len(args) == 0 && len(c.argv) == 0:
		return cli.Usagef("no inputs")
	case len(args) > 0 && len(c.argv) > 0:
		return cli.Usagef("want inputs or, after --, a command")
	case c.html == "-":
		return cli.Usagef("option --html takes a file or a folder")
	case c.output == "-" && c.json:
		return cli.Usagef("options --json and -o - exclude each other")
	}
	if err := c.limits.check(c.changed != ""); err != nil {
		return err
	}
	return c.shared.check()
}

// reportInputs prints and writes the coverage of the inputs, also if it misses a limit: the user needs to see where.
func (c *command) reportInputs(ctx context.Context, env *cli.Env, args []string) error {
	// Only pages show the details of coverage mappings.
	c.merge.Programs.CoverageDetails = c.html != ""
	cov, err := c.read(ctx, env, args)
	if err != nil {
		return err
	}
	c.warnBehind(env, c.quiet)
	r := &result{Coverage: cov, command: c}
	if c.changed != "" {
		if r.changed, err = c.readChanges(env, cov); err != nil {
			return err
		}
	}
	if c.baseline != "" {
		base, err := c.readBaseline(ctx, env)
		if err != nil {
			return err
		}
		r.baseline = compareBaseline(base, cov)
	}
	r.missed = c.limits.missed(r)
	if c.output != "" {
		if err := c.write(env, cov); err != nil {
			return err
		}
	}
	if c.html != "" {
		if err := r.writePages(ctx, env, args); err != nil {
			return err
		}
	}
	out := bufio.NewWriter(env.Stdout)
	switch {
	case c.json:
		r.writeJSON(out)
	case !c.quiet && c.output != "-":
		r.print(&console.Printer{W: out, Term: env.Terminal(env.Stdout), Mangled: c.mangled})
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return r.verdict(env)
}

// readBaseline reads the baseline. Markers do not apply to a tracefile: its lines are lines of older
// sources, and its writer has applied the markers.
func (c *command) readBaseline(ctx context.Context, env *cli.Env) (*coverage.Coverage, error) {
	base := c.shared
	base.merge.Programs.CoverageDetails = false
	groups, _, err := splitInputs(env, []string{c.baseline})
	if err != nil {
		return nil, err
	}
	base.fixedLines = len(groups) == 0
	return base.read(ctx, env, []string{c.baseline})
}

// write writes the file for other tools. LLVM's JSON has regions and instances that only LLVM's mapping
// has, so it exists only if cov is read from such mappings alone.
func (c *command) write(env *cli.Env, cov *coverage.Coverage) error {
	if cov.LLVMJSON == nil && c.to.Value == "llvm-json" {
		return errors.New("--to llvm-json needs LLVM profiles and --program, and cannot be combined with tracefiles, --path-map, --root, --source, --include, --ignore or --exclude-generated")
	}
	opt := c.writeOptions()
	if c.to.Value == "coveralls" { // which wants digests
		opt.Source = sources.ReadSource
	}
	opt.Roots = c.roots.Of(env, coverage.Format(c.to.Value), cov, c.quiet)
	return console.Write(env, c.output, nil, false, func(w io.Writer) error {
		return coverage.Write(w, cov, coverage.Format(c.to.Value), opt)
	})
}

// A result is the coverage of the inputs, and its comparison with what the options name.
type result struct {
	*coverage.Coverage
	command  *command
	changed  *changedLines       // nil without --changed
	baseline *baselineComparison // nil without --baseline
	missed   []missedLimit
}

// verdict prints all limits that are missed and returns the error of the command.
func (r *result) verdict(env *cli.Env) error {
	for _, m := range r.missed {
		fmt.Fprintf(env.Stderr, "profuse coverage: %s\n", m.sentence())
	}
	failed := len(r.missed) > 0
	if n := len(r.Misfits); n > 0 && r.command.strict {
		fmt.Fprintf(env.Stderr, "profuse coverage: the profile does not fit %s, and --strict allows none\n", cli.Quantity(n, "function", "functions"))
		failed = true
	}
	if failed {
		return cli.ErrReported
	}
	return nil
}
