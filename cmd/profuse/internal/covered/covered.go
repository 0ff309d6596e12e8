// Package covered implements what "mip covered" and "iprof covered" share: it lists
// the functions of a view that ran, or their places in the sources, or writes an
// lcov tracefile.
package covered

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/coverage"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
)

// Options say which functions are listed and how.
type Options struct {
	Lines, Paths, LCOV bool // what is written; without any of them, names
	Demangle           bool
	ByName             bool // names are sorted, not in the order of the profile
	Quiet              bool

	output    string
	regex     string
	choose    *regexp.Regexp
	one, many string // what a function is called
}

// Declare declares the options; one and many are what functions are called.
func (o *Options) Declare(f *cli.Flags, one, many, aboutRegex string) {
	o.one, o.many = one, many
	f.StringVar(&o.regex, "function", "", aboutRegex)
	f.Alias("function", "r")
	f.StringVar(&o.output, "o", "-", "`FILE` where to write; \"-\" is standard output")
	f.BoolVar(&o.Lines, "lines", false, "print files, and the lines and names of their "+many+" that ran")
	f.BoolVar(&o.Paths, "paths", false, "print the files that have "+many+" that ran")
	f.BoolVar(&o.LCOV, "lcov", false, "write an lcov tracefile, also of the "+many+" that did not run")
	f.BoolVar(&o.Quiet, "q", false, "print no summary")
}

// Check checks the options. Without sources the places of functions are unknown;
// if the options need them, the error says what is missing.
func (o *Options) Check(sources bool, without string) error {
	kinds := 0
	for _, set := range []bool{o.Lines, o.Paths, o.LCOV} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds > 1:
		return cli.Usagef("options --lines, --paths and --lcov exclude each other")
	case kinds > 0 && !sources:
		return cli.Usagef("%s", without)
	}
	var err error
	if o.choose, err = regexp.Compile(o.regex); err != nil {
		return cli.Usagef("option --function: %v", err)
	}
	return nil
}

// Places reports whether it matters where functions are.
func (o *Options) Places() bool { return o.Lines || o.Paths || o.LCOV }

// Write writes what is asked for of the view, which was read from in.
func (o *Options) Write(env *cli.Env, v profile.View, in inputs.Input) error {
	var functions coverage.Ratio // of those chosen
	unknown := 0                 // functions left out
	err := console.WriteText(env, o.output, []inputs.Input{in}, func(w io.Writer) error {
		if !o.Places() {
			functions = o.writeNames(w, v)
			return nil
		}
		c := coverage.Collect(v, coverage.Options{Function: o.chosen})
		sum := c.Total
		sum.Add(c.Unplaced)
		functions = sum.Functions
		if o.LCOV {
			unknown = c.Unplaced.Functions.Total
			return coverage.WriteLCOV(w, c, coverage.LCOVOptions{Name: o.name})
		}
		unknown = c.Unplaced.Functions.Covered
		for _, f := range c.Files {
			o.writeFile(w, f)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if unknown > 0 {
		fmt.Fprintf(env.Stderr, "warning: the source of %s is not known; left out\n", cli.Quantity(uint64(unknown), o.one, o.many))
	}
	if !o.Quiet {
		fmt.Fprintf(env.Stderr, "%s of %s ran\n", cli.Count(uint64(functions.Covered)), cli.Quantity(uint64(functions.Total), o.one, o.many))
	}
	return nil
}

// chosen reports whether the regular expression matches a function.
func (o *Options) chosen(s *profile.Symbol) bool {
	return console.MatchesFunction(o.choose, s.Name+s.Signature)
}

func (o *Options) name(s *profile.Symbol) string {
	name := s.Name + s.Signature
	if o.Demangle {
		name = symbols.Demangle(name)
	}
	return console.Printable(name)
}

// writeNames lists the functions that ran.
func (o *Options) writeNames(w io.Writer, v profile.View) (functions coverage.Ratio) {
	var names []string
	for f := range v.Functions() {
		if !o.chosen(&f.Symbol) {
			continue
		}
		functions.Total++
		if f.Covered {
			functions.Covered++
			names = append(names, o.name(&f.Symbol))
		}
	}
	if o.ByName {
		slices.Sort(names)
	}
	for _, name := range names {
		fmt.Fprintln(w, name)
	}
	return functions
}

// writeFile lists the functions of a file that ran, or the file alone.
func (o *Options) writeFile(w io.Writer, f *coverage.File) {
	if f.Total.Functions.Covered == 0 {
		return
	}
	fmt.Fprintln(w, console.Printable(f.Path))
	if !o.Lines {
		return
	}
	slices.SortFunc(f.Functions, func(a, b coverage.Function) int {
		return cmp.Or(cmp.Compare(a.StartLine, b.StartLine), strings.Compare(o.name(&a.Symbol), o.name(&b.Symbol)))
	})
	for i := range f.Functions {
		if fn := &f.Functions[i]; fn.Covered() {
			fmt.Fprintf(w, "  %6d  %s\n", fn.StartLine, o.name(&fn.Symbol))
		}
	}
}
