package mipcmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/internal/inputs"
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
			f.StringVar(&c.output, "o", "-", "`FILE` where to write; \"-\" is standard output")
			f.StringVar(&c.regex, "r", "", "`REGEX` only functions whose name, mangled or not, matches REGEX")
			f.BoolVar(&c.lines, "lines", false, "print files, and the lines and names of their functions that ran")
			f.BoolVar(&c.paths, "paths", false, "print the files that have functions that ran")
			f.BoolVar(&c.lcov, "lcov", false, "write an lcov tracefile, also of the functions that did not run")
			f.BoolVar(&c.demangle, "demangle", false, "demangle names")
			f.BoolVar(&c.quiet, "q", false, "print no summary")
			return c.run
		},
	}
}

// mipCovered is one run of "profuse mip covered".
type mipCovered struct {
	mipSource
	output             string
	regex              string
	lines, paths, lcov bool
	demangle           bool
	quiet              bool
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
		if f.Covered() || c.lcov {
			chosen = append(chosen, f)
		}
	}
	unknown := 0 // functions without source
	err = console.WriteText(env, c.output, []inputs.Input{inputs.File(c.path)}, func(w io.Writer) error {
		switch {
		case c.lcov:
			unknown, err = c.writeLCOV(w, env, debug, m.profile, chosen)
			return err
		case c.lines || c.paths:
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
	if !c.quiet {
		fmt.Fprintf(env.Stderr, "%s of %s ran\n", cli.Count(uint64(covered)),
			cli.Quantity(uint64(len(m.profile.Functions)), "function", "functions"))
	}
	return nil
}

func (c *mipCovered) check(args []string) (*regexp.Regexp, error) {
	if err := c.take(args); err != nil {
		return nil, err
	}
	kinds := 0
	for _, set := range []bool{c.lines, c.paths, c.lcov} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds > 1:
		return nil, cli.Usagef("options --lines, --paths and --lcov exclude each other")
	case kinds > 0 && c.debug == "":
		return nil, cli.Usagef("source lines are in the program that was profiled: --debug FILE names it")
	}
	choose, err := regexp.Compile(c.regex)
	if err != nil {
		return nil, cli.Usagef("option -r: %v", err)
	}
	return choose, nil
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
	type place struct {
		sourceFacts
		name string
	}
	at := make([]int64, len(functions))
	for i, f := range functions {
		at[i] = f.Address
	}
	places := make([]place, len(functions))
	warnings, err := debug.Frames(at, func(i int, frames []symbolize.Frame) {
		places[i] = place{declaration(frames), c.name(functions[i])}
	})
	warnAll(env, warnings)
	if err != nil {
		return 0, err
	}
	all := len(places)
	places = slices.DeleteFunc(places, func(p place) bool { return p.File == "" })
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.name, b.name))
	})
	file := ""
	for _, p := range places {
		if p.File != file {
			file = p.File
			fmt.Fprintln(w, console.Printable(file))
		}
		if c.lines {
			fmt.Fprintf(w, "  %6d  %s\n", p.Line, p.name)
		}
	}
	return all - len(places), nil
}

func warnAll(env *cli.Env, warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(env.Stderr, "warning: %s\n", console.Printable(w))
	}
}
