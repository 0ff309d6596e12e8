package command

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/store"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
	"github.com/profuse-pgo/profuse/profile/export"
)

// exportCommand is "profuse export". Package export has the formats. docs/export.md says what each format holds.
func exportCommand() *cli.Command {
	return &cli.Command{
		Name:  "export",
		Args:  "--to FORMAT [-o OUTPUT] [OPTION]... FILE",
		Short: "write a profile for other tools, such as go tool pprof, flame graphs, spreadsheets or lcov",
		Long: `Writes a profile of any format in a format that other tools read:

` + exportFormats() + `
export lists on standard error what the format cannot hold.

The exit code is 0 if the file was written, 1 if not, and 2 if the command line is
wrong.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &exportRun{}
			for _, format := range export.Formats() {
				c.to.Allowed = append(c.to.Allowed, string(format))
			}
			f.Var(&c.to, "to", "`FORMAT` format to write (default by the name of OUTPUT)")
			f.StringVar(&c.output, "o", "-", "`OUTPUT` file to write; \"-\" is standard output")
			f.StringVar(&c.opt.Table, "table", "", "`NAME` write these stacks (samples, allocations …), or functions, edges or traces")
			f.StringVar(&c.opt.Value, "value", "", "`NAME` value to write in formats with one value, or to show first in others")
			f.BoolVar(&c.opt.Demangle, "demangle", false, "demangle C++ and Rust names")
			f.BoolVar(&c.opt.Signatures, "signatures", false, "append method descriptors to names")
			f.BoolVar(&c.opt.Lines, "lines", false, "distinguish lines of a function in folded stacks and speedscope")
			f.BoolVar(&c.opt.RawCells, "raw-cells", false, "for CSV: write no apostrophe before texts that spreadsheets take for formulas")
			f.StringVar(&c.function, "function", "", "`REGEX` for formats of coverage: write only functions whose mangled or demangled name matches REGEX")
			f.StringVar(&c.opt.SourceDir, "source", "", "`DIR` folder of the sources, put before relative file names; for formats of coverage")
			c.roots.Declare(f)
			c.programs.Declare(f)
			c.programs.DeclareClasses(f)
			f.BoolVar(&c.quiet, "q", false, "do not list what is lost")
			return c.run
		},
	}
}

func exportFormats() string {
	var rows [][2]string
	for _, f := range export.Formats() {
		rows = append(rows, [2]string{string(f), f.Description()})
	}
	return cli.Rows(rows)
}

type exportRun struct {
	// to is the format; if it is empty, the name of output decides.
	to     cli.Choice
	output string
	opt    export.Options
	// function is the regular expression that setFilter compiles into opt.
	function string
	quiet    bool // do not list what the format cannot hold
	programs sources.Programs
	roots    sources.Roots // of the names in formats of coverage
}

// run writes the view of one profile and then lists what the format could not hold.
func (c *exportRun) run(_ context.Context, env *cli.Env, args []string) error {
	format, err := c.format()
	switch {
	case err != nil:
		return err
	case len(args) != 1:
		return cli.Usagef("want one profile, got %d", len(args))
	// pprof is the only binary format.
	case format == "pprof":
		if err := console.RefuseTerminal(env, c.output, "a pprof file", ""); err != nil {
			return err
		}
	}
	if err := c.setFilter(); err != nil {
		return err
	}
	// Only formats of coverage need the coverage mapping of the programs, which takes time to read.
	c.programs.Coverage = slices.Contains(coverage.Formats(), coverage.Format(format))
	c.opt.Source = sources.ReadSource
	c.opt.Roots = func(cov *coverage.Coverage) []string { return c.roots.Of(env, coverage.Format(format), cov, c.quiet) }
	v, err := sources.OpenView(env, args[0], &c.programs)
	if err != nil {
		return err
	}
	var losses []export.Loss
	err = console.Write(env, c.output, []inputs.Input{inputs.File(args[0], inputs.Options{})}, false, func(w io.Writer) (err error) {
		losses, err = export.Write(w, format, v, c.opt)
		return err
	})
	if err != nil || c.quiet {
		return err
	}
	for _, l := range losses {
		fmt.Fprintf(env.Stderr, "not in the %s file: %s\n", format, console.Printable(l.String()))
	}
	return nil
}

func (c *exportRun) setFilter() error {
	choose, err := console.FunctionPattern("function", c.function)
	if choose != nil {
		c.opt.Function = func(s *profile.Symbol) bool { return console.MatchesFunction(choose, s.Name+s.Signature) }
	}
	return err
}

// format returns the format of --to, or else the format with the longest suffix that fits the output's
// name: .llvm.json before .json.
func (c *exportRun) format() (export.Format, error) {
	if c.to.Value != "" {
		return export.Format(c.to.Value), nil
	}
	name := filepath.Base(store.Shown(c.output))
	var found export.Format
	for _, f := range export.Formats() {
		if strings.HasSuffix(name, f.Suffix()) && len(f.Suffix()) > len(found.Suffix()) {
			found = f
		}
	}
	if ext := filepath.Ext(name); found == "" && ext != "" {
		return "", cli.Usagef("no format has the suffix %s: --to FORMAT names one", ext)
	} else if found == "" {
		return "", cli.Usagef("missing option --to FORMAT")
	}
	return found, nil
}
