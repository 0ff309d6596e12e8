package mipcmd

import (
	"context"
	"fmt"
	"io"
	"regexp"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/coverage"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/mip/debuginfo"
	"github.com/profuse-pgo/profuse/symbolize"
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
			c.declareDebug(f)
			c.Options.Declare(f, "functions", "`REGEX` only functions whose name, mangled or not, matches REGEX")
			f.BoolVar(&c.demangle, "demangle", false, "demangle names")
			return c.run
		},
	}
}

// mipCovered is one run of "profuse mip covered".
type mipCovered struct {
	mipSource
	coverage.Options
	demangle bool
}

func (c *mipCovered) run(_ context.Context, env *cli.Env, args []string) error {
	choose, err := c.check(args)
	if err != nil {
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
	if debug != nil {
		if m.profile, err = debug.Expand(m.profile); err != nil {
			return err
		}
	}
	var chosen []*mip.Function
	covered := 0
	for i := range m.profile.Functions {
		f := &m.profile.Functions[i]
		if !console.MatchesFunction(choose, f.Name) {
			continue
		}
		if f.Covered() {
			covered++
		}
		if f.Covered() || c.LCOV {
			chosen = append(chosen, f)
		}
	}
	unknown := 0 // functions without source
	err = console.WriteText(env, c.Output, []inputs.Input{inputs.File(c.path)}, func(w io.Writer) error {
		switch {
		case c.LCOV:
			unknown, err = c.writeLCOV(w, env, debug, m.profile, chosen)
			return err
		case c.Lines || c.Paths:
			unknown, err = c.writeSources(w, env, debug, chosen)
			return err
		}
		for _, f := range chosen {
			fmt.Fprintln(w, c.name(f))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if unknown > 0 {
		fmt.Fprintf(env.Stderr, "warning: the source of %s is not known; left out\n",
			cli.Quantity(uint64(unknown), "function", "functions"))
	}
	if !c.Quiet {
		fmt.Fprintf(env.Stderr, "%s of %s ran\n", cli.Count(uint64(covered)),
			cli.Quantity(uint64(len(m.profile.Functions)), "function", "functions"))
	}
	return nil
}

func (c *mipCovered) check(args []string) (*regexp.Regexp, error) {
	if err := c.take(args); err != nil {
		return nil, err
	}
	return c.Check(c.debug != "", "source lines are in the program that was profiled: --debug FILE names it")
}

func (c *mipCovered) name(f *mip.Function) string {
	if c.demangle {
		return console.Printable(symbols.Demangle(f.Name))
	}
	return console.Printable(f.Name)
}

// writeSources lists functions by their files, or the files alone, and returns
// how many functions have no known source.
func (c *mipCovered) writeSources(w io.Writer, env *cli.Env, debug *debuginfo.Program, functions []*mip.Function) (unknown int, err error) {
	at := make([]int64, len(functions))
	for i, f := range functions {
		at[i] = f.Address
	}
	places := make([]coverage.Place, len(functions))
	warnings, err := debug.Frames(at, func(i int, frames []symbolize.Frame) {
		where := declaration(frames)
		places[i] = coverage.Place{File: where.File, Line: where.Line, Name: c.name(functions[i])}
	})
	warnAll(env, warnings)
	if err != nil {
		return 0, err
	}
	return c.WriteSources(w, places), nil
}

func warnAll(env *cli.Env, warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(env.Stderr, "warning: %s\n", console.Printable(w))
	}
}
