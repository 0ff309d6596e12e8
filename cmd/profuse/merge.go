package main

import (
	"context"
	"flag"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/family"
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
the programs that they are of (--profiled-binary), and go into the same OUTPUT,
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
	format  cli.Choice
	mergers []family.Merger // by family
	owner   map[string]int  // the family that has an option alone
	flags   *cli.Flags
}

func (c *mergeCmd) declare(f *cli.Flags) {
	c.flags, c.owner = f, make(map[string]int)
	f.StringVar(&c.Output, "o", "", "`FILE` where to write the result; \"-\" is standard output")
	f.Var(&c.format, "format", "`FORMAT` indexed or text; memprof-yaml, of heap profiles; of a MIP profile mip or yaml; iprof (default indexed, mip or iprof)")
	f.Var(&c.Weighted, "weighted-input", "`W,INPUT` another input, its counts multiplied by W, of iprof also a fraction as 0.5; may be given again")
	f.IntVar(&c.Workers, "j", 0, "`N` read N inputs at a time (default one per CPU); the result is the same")
	c.Loss.Declare(f)
	f.BoolVar(&c.Empty, "allow-empty", false, "write a profile also if no input has any function")
	f.BoolVar(&c.Quiet, "q", false, "print neither progress nor warnings nor summary")
	common := make(map[string]bool)
	f.VisitAll(func(o *flag.Flag) { common[o.Name] = true })
	for i, known := range families {
		m := known.Merge()
		m.Declare(f)
		c.mergers = append(c.mergers, m)
		f.VisitAll(func(o *flag.Flag) {
			if _, ok := c.owner[o.Name]; !ok && !common[o.Name] {
				c.owner[o.Name] = i
			}
		})
		for _, r := range m.Results() {
			if !slices.Contains(c.format.Allowed, r.Name) {
				c.format.Allowed = append(c.format.Allowed, r.Name)
			}
		}
	}
}

func (c *mergeCmd) run(ctx context.Context, env *cli.Env, args []string) error {
	c.Run.Format = c.format.Value
	if err := c.check(env, args); err != nil {
		return err
	}
	progress := env.StartProgress("inputs read", c.Quiet)
	defer progress.Stop()
	report := merging.NewReport(progress)
	if err := report.Start(&c.Loss, "merge", c.Output); err != nil {
		return err
	}
	return report.Finish(c.merge(ctx, env, args, report))
}

// merge merges what the arguments name and writes the result.
func (c *mergeCmd) merge(ctx context.Context, env *cli.Env, args []string, report *merging.Report) error {
	ins, err := c.Expand(env, args, report)
	if err != nil {
		return err
	}
	if err := report.Apart(ins); err != nil {
		return err
	}
	c.Family = c.chooseFamily(ins)
	at := familyIndex(c.Family)
	if err := c.refuse(at); err != nil {
		return err
	}
	return c.mergers[at].Merge(ctx, env, &c.Run, ins, report)
}

// asked are the results that option --format names.
func (c *mergeCmd) asked() (results []family.Result) {
	for _, m := range c.mergers {
		for _, r := range m.Results() {
			if r.Name == c.format.Value {
				results = append(results, r)
			}
		}
	}
	return results
}

// check finds what is wrong with the command line itself.
func (c *mergeCmd) check(env *cli.Env, args []string) error {
	text := slices.ContainsFunc(c.asked(), func(r family.Result) bool { return r.Text })
	if err := c.Run.Check(env, args, text); err != nil {
		return err
	}
	for _, m := range c.mergers {
		if err := m.Check(&c.Run); err != nil {
			return err
		}
	}
	return nil
}

// chooseFamily decides what kind of profiles is merged: by the option, by the
// name of the output, or by the first input that tells. The inputs also decide
// which of several kinds it is that the option may mean.
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

// refuse finds options among those given that are not for the family at hand.
func (c *mergeCmd) refuse(at int) (err error) {
	refused := c.mergers[at].Refuses()
	c.flags.Visit(func(o *flag.Flag) {
		if owner, ok := c.owner[o.Name]; ok && owner != at || slices.Contains(refused, o.Name) {
			err = cli.Usagef("option --%s is not for %s profiles, which are merged here", o.Name, c.Family)
		}
	})
	return err
}
