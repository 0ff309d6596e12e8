package command

import (
	"context"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/families"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/store"
)

// mergeCommand is "profuse merge". Package merging does what all families have in common; the adder of each
// family has its own options and formats. docs/reliability.md describes the loss budget,
// docs/schema/merge-report.schema.json the file of --report.
func mergeCommand() *cli.Command {
	return &cli.Command{
		Name:  "merge",
		Args:  "-o OUTPUT [OPTION]... INPUT...",
		Short: "merge profiles of any version into one the compiler reads",
		Long: `Adds profiles up and writes the sum as the profile that compilers read.

An INPUT is a profile of any format and version, a folder of them, a pattern, "-"
for standard input, or @FILE, a file that lists more inputs. Inputs may be
compressed with gzip or zstd and packed with tar or zip.

` + mergesOfFamilies() + `The name of OUTPUT, --format or else the first INPUT that is a profile decides what
to merge.

merge leaves out inputs that it cannot use, up to a loss budget, and lists them. It
replaces an existing OUTPUT whole or leaves it unchanged.

The exit code is 0 if OUTPUT was written, 4 if the loss would exceed the budget, 2
if the command line is wrong, and 1 for any other failure.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &mergeRun{}
			c.declare(f)
			return c.run
		},
	}
}

func mergesOfFamilies() string {
	var b strings.Builder
	for _, f := range families.All {
		b.WriteString(f.Help.Merge + "\n\n")
	}
	return b.String()
}

type mergeRun struct {
	options merging.Options // the options that all families share
	adders  families.Adders // the options of each family
	format  cli.Choice      // name of a result; several families may have results of this name
}

func (c *mergeRun) declare(f *cli.Flags) {
	f.StringVar(&c.options.Output, "o", "", "`OUTPUT` file to write; \"-\" is standard output")
	c.options.Checksum.Declare(f)
	f.Var(&c.format, "format", "") // the usage follows below
	f.Var(&c.options.Weighted, "weighted-input", "`W,INPUT` another input, with counts multiplied by W; W may be a fraction such as 0.5; repeatable")
	f.StringVar(&c.options.Decay, "decay", "", "`D` weight older INPUTs less: the last INPUT counts in full, the one before it D times, such as 0.8, the next D² times …")
	f.IntVar(&c.options.Workers, "j", 0, "`N` read N inputs at the same time; the result does not depend on N (default one per CPU)")
	c.options.Programs.Declare(f)
	c.options.Loss.Declare(f, false)
	f.Var(&c.options.MaxShare, "max-share", "`P%` fail if one input contributes more than P % of the total count")
	f.BoolVar(&c.options.Empty, "allow-empty", false, "write a profile even if no input has any function")
	f.BoolVar(&c.options.Quiet, "q", false, "print no progress, warnings or summary")
	c.adders.Declare(f, false)
	var defaults []string
	for _, m := range c.adders.List {
		results := m.Results()
		defaults = append(defaults, results[0].Name)
		for _, r := range results {
			if !slices.Contains(c.format.Allowed, r.Name) {
				c.format.Allowed = append(c.format.Allowed, r.Name)
			}
		}
	}
	f.Lookup("format").Usage = "`FORMAT` format of OUTPUT: " + c.adders.Formats() + ". A partial sum can be added up further without loss (default " + cli.AnyOf(defaults) + ")"
}

// run checks the options before it opens the inputs, which decide the family and so which options apply.
func (c *mergeRun) run(ctx context.Context, env *cli.Env, args []string) error {
	c.options.Format = c.format.Value
	// Text may go to a terminal, binary profiles may not.
	text := slices.ContainsFunc(c.namedResults(), func(r merging.Result) bool { return r.Text })
	if err := c.options.Check(env, args, text); err != nil {
		return err
	}
	if err := c.adders.Check(&c.options); err != nil {
		return err
	}
	return c.options.Merge(ctx, env, args, func(ins []inputs.Input) (merging.FamilyAdder, error) {
		c.options.Family = c.chooseFamily(ins)
		at := families.Index(c.options.Family)
		return c.adders.List[at], c.adders.Refuse(at, &c.options)
	})
}

// namedResults returns the results that --format names, at most one of each family.
func (c *mergeRun) namedResults() (results []merging.Result) {
	for _, m := range c.adders.List {
		for _, r := range m.Results() {
			if r.Name == c.format.Value {
				results = append(results, r)
			}
		}
	}
	return results
}

// chooseFamily returns the family to merge. If --format fits one family, it decides; without --format, the
// name of the output decides, and then the first input that is a profile. That input also decides if
// --format fits several families; if it is of none of them, the last of them is merged.
func (c *mergeRun) chooseFamily(ins []inputs.Input) formats.Family {
	var kinds []formats.Family
	for _, r := range c.namedResults() {
		kinds = append(kinds, r.Family)
	}
	if len(kinds) == 1 {
		return kinds[0]
	}
	if len(kinds) == 0 {
		if f, ok := formats.BySuffix(strings.TrimSuffix(store.Shown(c.options.Output), console.Compression(c.options.Output))); ok {
			return f.Family()
		}
	}
	kind := merging.InputFamily(ins)
	if len(kinds) == 0 {
		return kind
	}
	at := slices.IndexFunc(kinds, func(k formats.Family) bool { return families.Index(k) == families.Index(kind) })
	if at < 0 {
		at = len(kinds) - 1
	}
	return kinds[at]
}
