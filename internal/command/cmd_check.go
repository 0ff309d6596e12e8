package command

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/families"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/packing"
	"github.com/profuse-pgo/profuse/internal/files/responsefile"
	"github.com/profuse-pgo/profuse/profile"
)

// checkCommand is "profuse check". Each family checks its own files; --against and the comparison of the
// files with each other are the same for all families. docs/reliability.md describes the limits,
// docs/schema/check.schema.json the JSON.
func checkCommand() *cli.Command {
	return &cli.Command{
		Name:  "check",
		Args:  "[OPTION]... FILE...",
		Short: "check that profiles are sound",
		Long: `Reads each FILE from end to end, as strictly as possible, and prints one line for
it and one for each finding. FILE may be anything that "profuse merge" takes, including
folders and archives. A remark is about data that sound profiles
seldom have. With four or more files, check also compares their functions, and
makes a remark on a file that alone differs from the rest: it may be of an older
program, or damaged.

--against also compares FILE with the last good profile, of any format, and fails if they differ too much, for example to stop a pipeline before it ships a
profile of too few runs. An LLVM profile may also be compared with a program, to see before a build how much of it
still fits: functions that are gone, renamed or changed. For a sample profile this is a build of the new sources as
usual; for an instrumentation profile an instrumented build, of which objects and static libraries will do.

The exit code is 0 if all files are sound and within the limits, 1 if not, and 2 if
the command line is wrong.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &checkRun{}
			f.BoolVar(&c.json, "json", false, "print a JSON array with one object per file, with the findings and the verdict of --against")
			f.BoolVar(&c.markdown, "markdown", false, "with --against: print the verdict as Markdown, for a code review")
			f.BoolVar(&c.quiet, "q", false, "print nothing about sound files")
			c.programs.Declare(f)
			c.programs.DeclareClasses(f)
			c.checkers = newCheckers()
			c.comparisons = make([]family.Comparison, len(families.All))
			c.gate.declare(f)
			return c.run
		},
	}
}

type checkRun struct {
	json     bool
	markdown bool // for the verdict of --against
	quiet    bool // leave out sound files, also in the JSON
	gate     gate // --against and its limits
	programs sources.Programs
	// checkers check single files, comparisons compare the files of a family with each other. Both have the order of
	// families.All.
	checkers    checkers
	comparisons []family.Comparison

	printer *console.Printer
	verdict *gateResult      // nil without --against
	all     []family.Checked // for JSON; text is printed file by file
	unsound bool             // a file is not sound
}

// run checks all files and fails if any file is not sound or the profile is beyond a limit of --against.
func (c *checkRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if len(args) == 0 {
		return cli.Usagef("no files to check")
	}
	// A profile that cannot be compared is an error of the command, so this comes first.
	if err := c.compareWithBase(env, args); err != nil {
		return err
	}
	args, err := responsefile.Expand(args)
	if err != nil {
		return err
	}
	defer c.programs.Close()
	c.programs.Inputs = sources.Options(env)
	if err := c.checkers.open(env, &c.programs); err != nil {
		return err
	}
	out := bufio.NewWriter(env.Stdout)
	c.printer, c.all = &console.Printer{W: out, Term: env.Terminal(env.Stdout)}, []family.Checked{}
	if err := sources.Each(ctx, env, args, c.checkFile, func(name string, err error) { c.add(unreadable(name, err)) }); err != nil {
		return err
	}
	c.compareFiles()
	passed := c.verdict == nil || c.verdict.passed()
	switch {
	case c.json:
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		if err := enc.Encode(c.all); err != nil {
			return err
		}
	case c.verdict != nil && (c.markdown || !c.quiet || !passed):
		c.verdict.print(out, env, c.markdown)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if c.unsound || !passed {
		return cli.ErrReported
	}
	return nil
}

// compareWithBase sets the verdict of --against.
func (c *checkRun) compareWithBase(env *cli.Env, args []string) (err error) {
	if c.gate.base == "" {
		if name := c.gate.unusedOption(); name != "" {
			return cli.Usagef("option --%s needs --against", name)
		}
		return nil
	}
	if len(args) != 1 {
		return cli.Usagef("want one profile with --against, got %d", len(args))
	}
	if c.json && c.markdown {
		return cli.Usagef("options --json and --markdown exclude each other")
	}
	c.gate.programs = &c.programs
	c.verdict, err = c.gate.compare(env, args[0])
	return err
}

func (c *checkRun) checkFile(d *inputs.Data) error {
	name, data := d.Name(), d.Bytes()
	// An option of one family may exclude the files of other families.
	for _, k := range c.checkers {
		if err := k.Admit(name, data); err != nil {
			return err
		}
	}
	checked, index := c.checkers.check(name, data)
	if program, id := d.Program, d.BuildID; program != "" || id != "" {
		checked.Packed = &packing.Origin{Program: program, BuildID: id}
	}
	// Shapes may refer to data, which is valid only during this call.
	c.comparisons[index].Add(name, checked.Shapes)
	checked.Shapes = family.Shapes{}
	c.add(checked)
	return nil
}

// add prints the result for a file, or keeps it for JSON.
func (c *checkRun) add(r family.Checked) {
	r.Sound = len(r.Findings) == 0
	c.unsound = c.unsound || !r.Sound
	if c.verdict != nil && c.json {
		r.Against = c.verdict.json()
	}
	switch {
	case c.json && (!c.quiet || !r.Sound || r.Against != nil):
		c.all = append(c.all, r)
	case c.json, r.Sound && (c.markdown || c.quiet):
	default:
		r.Print(c.printer)
	}
}

// compareFiles adds remarks on the files that differ from all others of their family. A remark does not
// fail the check: a mixture of builds may be intended.
func (c *checkRun) compareFiles() {
	for i := range c.comparisons {
		outliers, builds := c.comparisons[i].Outliers()
		for _, o := range outliers {
			switch {
			case c.json:
				// With -q the list has only unsound files.
				if at := slices.IndexFunc(c.all, func(r family.Checked) bool { return r.File == o.File }); at >= 0 {
					c.all[at].Remarks = append(c.all[at].Remarks, c.all[at].Finding(o.Err))
				}
			case !c.quiet:
				fmt.Fprintf(c.printer.W, "remark: %s\n", console.Printable(strings.TrimSuffix(o.Err.Error(), ": "+profile.ClassOf(o.Err).Error())))
			}
		}
		if builds != "" && !c.json && !c.quiet {
			fmt.Fprintf(c.printer.W, "note: %s\n", console.Printable(builds))
		}
	}
}

// checkers has the checker of each family, in the order of families.All.
type checkers []family.Checker

func newCheckers() checkers {
	var out checkers
	for _, known := range families.All {
		out = append(out, known.Check())
	}
	return out
}

func (c checkers) open(env *cli.Env, programs *sources.Programs) error {
	for _, k := range c {
		if err := k.Open(env, programs); err != nil {
			return err
		}
	}
	return nil
}

func (c checkers) check(name string, data []byte) (family.Checked, int) {
	index, format, err := families.Of(name, data)
	if err != nil {
		return unreadable(name, err), 0
	}
	return c[index].Check(name, data, format), index
}

func unreadable(name string, err error) family.Checked {
	c := family.NewChecked(name, 0)
	c.Note(err)
	return c
}
