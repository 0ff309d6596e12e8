package main

import (
	"context"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
)

func mergeCommand() *cli.Command {
	return &cli.Command{
		Name:  "merge",
		Args:  "-o OUTPUT [OPTION]... INPUT...",
		Short: "merge profiles of any version into one the compiler reads",
		Long: `Adds profiles up and writes the sum as the indexed profile that compilers read
(clang -fprofile-use=OUTPUT, rustc -C profile-use=OUTPUT).

An INPUT is a raw, indexed or text profile of any version, a folder of them, a
pattern, "-" for standard input, or @FILE, a file that lists more inputs. Inputs
may be compressed with gzip or zstd and packed with tar.

Heap profiles (MemProf, clang -fmemory-profile) may be among them, raw ones with
the programs that they are of (--program), and go into the same OUTPUT,
for clang -fmemory-profile-use=OUTPUT, or alone into YAML.

Machine IR profiles (MIP) are merged into one .mip: the inputs are then raw or
merged ones of one program, and the program itself, or its .mipmap, or a merged
profile, which say what functions it has. Profiles of GraalVM native images
(iprof) are merged into one .iprof, compressed if the OUTPUT ends in .gz or .zst.
The name of the OUTPUT decides which it is, or --format, or else the first INPUT
that is a profile.

Inputs that cannot be used are left out as long as they are within a budget, and
named. A profile that exists already is replaced whole or left as it was.

The exit code is 0 if the profile was written, 4 if more would be lost than the
budget allows, 2 if the command line is wrong, 1 if something else is.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &mergeCmd{}
			c.declare(f)
			return c.run
		},
	}
}

// mergeCmd is one run of "profuse merge".
type mergeCmd struct {
	merging.Run
	format cli.Choice
	adders adders
}

func (c *mergeCmd) declare(f *cli.Flags) {
	f.StringVar(&c.Output, "o", "", "`FILE` where to write the result; \"-\" is standard output")
	f.Var(&c.format, "format", "`FORMAT` indexed or text; memprof-yaml, of heap profiles; of a MIP profile mip or yaml; iprof (default indexed, mip or iprof)")
	f.Var(&c.Weighted, "weighted-input", "`W,INPUT` another input, its counts multiplied by W, of iprof also a fraction as 0.5; may be given again")
	f.IntVar(&c.Workers, "j", 0, "`N` read N inputs at a time (default one per CPU); the result is the same")
	c.Programs.Declare(f)
	c.Loss.Declare(f)
	f.BoolVar(&c.Empty, "allow-empty", false, "write a profile also if no input has any function")
	f.BoolVar(&c.Quiet, "q", false, "print neither progress nor warnings nor summary")
	c.adders.declare(f, false)
	for _, m := range c.adders.all {
		for _, r := range m.Results() {
			if !slices.Contains(c.format.Allowed, r.Name) {
				c.format.Allowed = append(c.format.Allowed, r.Name)
			}
		}
	}
}

func (c *mergeCmd) run(ctx context.Context, env *cli.Env, args []string) error {
	c.Run.Format = c.format.Value
	text := slices.ContainsFunc(c.asked(), func(r merging.Result) bool { return r.Text })
	if err := c.Run.Check(env, args, text); err != nil {
		return err
	}
	if err := c.adders.check(&c.Run); err != nil {
		return err
	}
	return c.Merge(ctx, env, "merge", args, func(ins []inputs.Input) (merging.Adder, error) {
		c.Family = c.chooseFamily(ins)
		at := familyIndex(c.Family)
		return c.adders.all[at], c.adders.refuse(at, &c.Run)
	})
}

// asked returns the results that option --format names.
func (c *mergeCmd) asked() (results []merging.Result) {
	for _, m := range c.adders.all {
		for _, r := range m.Results() {
			if r.Name == c.format.Value {
				results = append(results, r)
			}
		}
	}
	return results
}

// chooseFamily chooses the family to merge: by option --format, by the name of the
// output, or by the first input that identifies one. The inputs also decide if
// the option fits several families.
func (c *mergeCmd) chooseFamily(ins []inputs.Input) formats.Family {
	var kinds []formats.Family
	for _, r := range c.asked() {
		kinds = append(kinds, r.Family)
	}
	if len(kinds) == 1 {
		return kinds[0]
	}
	if len(kinds) == 0 {
		if f, ok := formats.BySuffix(strings.TrimSuffix(c.Output, console.Compression(c.Output))); ok {
			return f.Family()
		}
	}
	kind := merging.InputFamily(ins)
	if len(kinds) > 0 && !slices.Contains(kinds, kind) {
		kind = kinds[len(kinds)-1]
	}
	return kind
}
