package mipcmd

import (
	"context"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/covered"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/mip"
)

func mipCoveredCommand() *cli.Command {
	return &cli.Command{
		Name:  "covered",
		Args:  "[OPTION]... FILE",
		Short: "list the functions that ran, their sources, or all as lcov",
		Long: `Prints the names of the functions that ran, or where they are in the sources, or
writes an lcov tracefile, from which genhtml and editors show coverage.

In the tracefile FN and FNDA are functions and their calls, 1 for all that ran
where calls are not counted. With block coverage DA tells of the lines on which
a block begins, and only of them: 0 is a line on which none ran, more a line on
which one did; where it is the entry of a function, how often that was called.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &mipCovered{}
			c.declare(f)
			c.programs.Declare(f)
			c.Options.Declare(f, "function", "functions", "`REGEX` only functions whose name, mangled or not, matches REGEX")
			f.BoolVar(&c.Demangle, "demangle", false, "demangle names")
			return c.run
		},
	}
}

// mipCovered is one run of "profuse mip covered".
type mipCovered struct {
	mipSource
	covered.Options
}

func (c *mipCovered) run(_ context.Context, env *cli.Env, args []string) error {
	if err := c.take(args); err != nil {
		return err
	}
	if err := c.Check(len(c.programs.Paths) > 0, "source lines are in the program that was profiled: --program PATH names it"); err != nil {
		return err
	}
	m, err := c.read(env)
	if err != nil {
		return err
	}
	debug, err := c.openDebug(env, m.profile)
	if err != nil {
		return err
	}
	defer debug.Close()
	var sources *mip.Sources
	if debug != nil && c.Places() {
		if m.profile, err = debug.Expand(m.profile); err != nil {
			return err
		}
		of, problems := *m.profile, []string(nil)
		if !c.LCOV {
			of.Type &^= mip.BlockCoverage // the places of functions are enough
		}
		sources, problems, err = debug.Sources(&of)
		warnAll(env, problems)
		if err != nil {
			return err
		}
	}
	return c.Write(env, m.profile.View(c.path, mip.ViewOptions{Sources: sources}), inputs.File(c.path))
}
