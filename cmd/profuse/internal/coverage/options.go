package coverage

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
)

// Options say which functions are listed and how.
type Options struct {
	Output             string
	Lines, Paths, LCOV bool // what is written; without any of them, names
	Quiet              bool

	regex string
}

// Declare declares the options; unit is what the functions are called, in the
// plural.
func (o *Options) Declare(f *cli.Flags, unit, aboutRegex string) {
	f.StringVar(&o.regex, "r", "", aboutRegex)
	f.StringVar(&o.Output, "o", "-", "`FILE` where to write; \"-\" is standard output")
	f.BoolVar(&o.Lines, "lines", false, "print files, and the lines and names of their "+unit+" that ran")
	f.BoolVar(&o.Paths, "paths", false, "print the files that have "+unit+" that ran")
	f.BoolVar(&o.LCOV, "lcov", false, "write an lcov tracefile, also of the "+unit+" that did not run")
	f.BoolVar(&o.Quiet, "q", false, "print no summary")
}

// Check returns which functions are chosen. Without sources, where they are is
// not known, and the error says what has to be given.
func (o *Options) Check(sources bool, without string) (*regexp.Regexp, error) {
	kinds := 0
	for _, set := range []bool{o.Lines, o.Paths, o.LCOV} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds > 1:
		return nil, cli.Usagef("options --lines, --paths and --lcov exclude each other")
	case kinds > 0 && !sources:
		return nil, cli.Usagef("%s", without)
	}
	choose, err := regexp.Compile(o.regex)
	if err != nil {
		return nil, cli.Usagef("option -r: %v", err)
	}
	return choose, nil
}

// A Place is where a function is in the sources; without a file if that is not
// known.
type Place struct {
	File string
	Line uint32
	Name string
}

// WriteSources lists the functions whose places are known by their files, or
// with option --paths the files alone. It returns how many functions it left
// out.
func (o *Options) WriteSources(w io.Writer, places []Place) (unknown int) {
	all := len(places)
	places = slices.DeleteFunc(places, func(p Place) bool { return p.File == "" })
	slices.SortFunc(places, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Name, b.Name))
	})
	file := ""
	for _, p := range places {
		if p.File != file {
			file = p.File
			fmt.Fprintln(w, console.Printable(file))
		}
		if o.Lines {
			fmt.Fprintf(w, "  %6d  %s\n", p.Line, console.Printable(p.Name))
		}
	}
	return all - len(places)
}
