package iprofcmd

import (
	"context"
	"fmt"
	"io"

	"github.com/profuse-pgo/profuse/formats/iprof"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Command returns "profuse iprof", which has commands of its own.
func Command() *cli.Command {
	return &cli.Command{
		Name:  "iprof",
		Short: "make profiles of GraalVM native images smaller",
		Long: `The commands for all formats also take profiles of GraalVM native images
(.iprof):

    profuse merge -o all.iprof run1.iprof run2.iprof
    profuse iprof prune -o small.iprof all.iprof
    profuse export --to lcov --classes app.jar -o app.info all.iprof

An output is compressed if its name ends in .gz or .zst.`,
		Commands: []*cli.Command{pruneCommand(), filterCommand(), renumberCommand()},
		Moved:    map[string]string{"covered": "profuse export --to lcov, or --to csv --table functions"},
	}
}

type iprofFile struct {
	*iprof.Profile
	name  string
	size  int // bytes, decompressed
	input inputs.Input
}

// readFile reads the profile that the only argument names, and prints warnings.
func readFile(env *cli.Env, args []string) (*iprofFile, error) {
	if len(args) != 1 {
		return nil, cli.Usagef("want one profile, got %d", len(args))
	}
	in, err := sources.One(env, args[0])
	if err != nil {
		return nil, err
	}
	f := &iprofFile{input: in}
	err = in.One(func(d *inputs.Data) (err error) {
		f.name, f.size = d.Name(), len(d.Bytes())
		f.Profile, err = parse(d.Name(), d.Bytes(), console.Warnings(env))
		return err
	})
	return f, err
}

type rewriting struct {
	writing
	output   string
	checksum console.Checksum
	quiet    bool
}

func (c *rewriting) declare(f *cli.Flags) {
	f.StringVar(&c.output, "o", "", "`OUTPUT` file to write; \"-\" is standard output")
	c.checksum.Declare(f)
	c.writing.declare(f)
	f.BoolVar(&c.quiet, "q", false, "print no summary")
}

// rewrite reads the profile, changes it and writes it, compressed if the name of the output says so.
func (c *rewriting) rewrite(env *cli.Env, args []string, change func(*iprof.Profile) (*iprof.Profile, error)) error {
	if c.output == "" {
		return cli.Usagef("missing option -o OUTPUT")
	}
	opt, err := c.writeOptions()
	if err != nil {
		return err
	}
	opt.Warn = console.Warnings(env)
	before, err := readFile(env, args)
	if err != nil {
		return err
	}
	after, err := change(before.Profile)
	if err != nil {
		return flaw.InFile(err, before.name)
	}
	var size uint64 // uncompressed
	err = console.Write(env, c.output, []inputs.Input{before.input}, c.checksum, func(out io.Writer) error {
		return console.WriteCompressed(out, c.output, func(w io.Writer) error {
			counting := countingWriter{w: w}
			defer func() { size = counting.n }()
			return iprof.Write(&counting, after, opt)
		})
	})
	if err != nil {
		return err
	}
	if !c.quiet {
		c.printChange(env, before, after, size)
	}
	return nil
}

type countingWriter struct {
	w io.Writer
	n uint64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += uint64(n)
	return n, err
}

// printChange prints the change in size, and how much of each table and set was removed; of sets
// also the removed share of the counts.
func (c *rewriting) printChange(env *cli.Env, before *iprofFile, after *iprof.Profile, size uint64) {
	was := uint64(before.size)
	change := "as large as before"
	switch {
	case size < was:
		change = cli.Percent(was-size, was) + " less"
	case size > was:
		change = cli.Percent(size-was, was) + " more"
	}
	if console.Compression(c.output) != "" {
		change += ", before compression"
	}
	fmt.Fprintf(env.Stderr, "%s → %s: %s → %s bytes (%s)\n", console.Printable(before.name), console.OutputName(c.output), cli.Count(was), cli.Count(size), change)
	var rows [][]string
	removed := 0
	add := func(what string, was, is int, counts string) {
		if removed += was - is; was > 0 {
			rows = append(rows, []string{cli.Count(was - is), cli.Count(was), cli.Percent(was-is, was), counts, what})
		}
	}
	add("types", len(before.Types), len(after.Types), "")
	add("methods", len(before.Methods), len(after.Methods), "")
	for k := range iprof.NumKinds {
		from, to := &before.Sections[k], &after.Sections[k]
		add(k.String(), numEntries(from, k), numEntries(to, k),
			cli.Percent(max(from.Total()-to.Total(), 0), max(from.Total(), 0)))
	}
	if removed == 0 {
		return
	}
	(&console.Printer{W: env.Stderr, Term: env.Terminal(env.Stderr)}).Table([]string{"Removed", "of", "share", "of counts", "What"}, rows)
}

// numEntries returns the number of entries; for Monitors, which has one entry, the number of types.
func numEntries(s *iprof.Section, k iprof.Kind) int {
	if k != iprof.Monitors {
		return s.Len()
	}
	n := 0
	for _, records := range s.All() {
		n += len(records) / k.Arity()
	}
	return n
}

// pruneCommand returns "profuse iprof prune": see [iprof.Prune].
func pruneCommand() *cli.Command {
	return &cli.Command{
		Name:  "prune",
		Args:  "-o OUTPUT [OPTION]... FILE",
		Short: "make a profile smaller",
		Long: `Drops types and methods without counts, which loses nothing and makes recordings of
short runs half to three quarters smaller. All other options lose counts, and the
compiler takes code without counts for code that did not run.

SET is ` + setNames() + ".",
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &prune{}
			c.declare(f)
			f.BoolVar(&c.opt.KeepUnused, "keep-unused", false, "keep types and methods without counts")
			f.Int64Var(&c.opt.MinCount, "min-count", 0, "`N` drop entries with counts below N")
			f.IntVar(&c.opt.Top, "top", 0, "`N` keep only the N entries with the greatest counts in each set")
			f.IntVar(&c.opt.MaxFrames, "max-frames", 0, "`N` cut contexts to N frames and merge equal ones; compilers look for whole contexts first")
			f.Var(&c.drop, "drop", "`SET` drop this set; repeatable")
			f.BoolVar(&c.opt.DropUnknown, "drop-unknown", false, "drop unknown sections")
			return c.run
		},
	}
}

type prune struct {
	rewriting
	opt  iprof.PruneOptions
	drop cli.List
}

// run checks the options and prunes the profile.
func (c *prune) run(_ context.Context, env *cli.Env, args []string) error {
	if c.opt.Top < 0 || c.opt.MaxFrames < 0 || c.opt.MinCount < 0 {
		return cli.Usagef("options --min-count, --top and --max-frames take numbers from 0 up")
	}
	for _, name := range c.drop {
		kind := iprof.Kind(0)
		for kind < iprof.NumKinds && kind.String() != name {
			kind++
		}
		if kind == iprof.NumKinds {
			return cli.Usagef("option --drop takes %s, not %q", setNames(), name)
		}
		c.opt.Drop = append(c.opt.Drop, kind)
	}
	return c.rewrite(env, args, func(p *iprof.Profile) (*iprof.Profile, error) { return iprof.Prune(p, c.opt) })
}

func setNames() string {
	var names []string
	for k := range iprof.NumKinds {
		names = append(names, k.String())
	}
	return cli.AnyOf(names)
}

// filterCommand returns "profuse iprof filter", which prunes by names.
func filterCommand() *cli.Command {
	return &cli.Command{
		Name:  "filter",
		Args:  "-o OUTPUT [OPTION]... FILE",
		Short: "keep or drop classes and methods",
		Long: `Keeps the counts of the methods that a --keep PATTERN matches, or of all methods,
except those that a --drop PATTERN matches. In a PATTERN * stands for any text and
? for one character:

    java.util.*           methods of classes whose names begin with java.util.
    java.util.HashMap     methods of this class
    *.HashMap.get*        methods by class and name, with a dot between them
    *Map#get              the same, with class and name matched separately

Counts of locks have a type and no method; the PATTERN matches the type.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &filter{where: cli.Choice{Value: "leaf", Allowed: []string{"leaf", "anywhere", "root"}}}
			c.declare(f)
			f.Var(&c.keep, "keep", "`PATTERN` keep the counts of matching methods; repeatable")
			f.Var(&c.drop, "drop", "`PATTERN` drop the counts of matching methods; repeatable")
			f.Var(&c.where, "where", "`WHERE` match patterns with the leaf (the counted method), the root (its outermost caller in the context) or a method anywhere in the context")
			f.BoolVar(&c.keepUnused, "keep-unused", false, "keep types and methods left without counts")
			return c.run
		},
	}
}

type filter struct {
	rewriting
	keep, drop cli.List
	where      cli.Choice
	keepUnused bool // keep types and methods that only dropped entries needed
}

// run filters the profile. It parses the patterns before it reads the profile.
func (c *filter) run(_ context.Context, env *cli.Env, args []string) error {
	if len(c.keep)+len(c.drop) == 0 {
		return cli.Usagef("missing option --keep or --drop")
	}
	f := selection{where: c.where.Value}
	for _, list := range []struct {
		texts cli.List
		to    *[]pattern
	}{{c.keep, &f.keep}, {c.drop, &f.drop}} {
		for _, text := range list.texts {
			p, err := parsePattern(text)
			if err != nil {
				return cli.Usagef("%v", err)
			}
			*list.to = append(*list.to, p)
		}
	}
	return c.rewrite(env, args, func(p *iprof.Profile) (*iprof.Profile, error) {
		f.readTables(p)
		return iprof.Prune(p, iprof.PruneOptions{KeepContext: f.keepsContext, KeepLock: f.keepsLock, KeepUnused: c.keepUnused})
	})
}

// renumberCommand returns "profuse iprof renumber": see [iprof.Renumber].
func renumberCommand() *cli.Command {
	return &cli.Command{
		Name:  "renumber",
		Args:  "-o OUTPUT [OPTION]... FILE",
		Short: "sort a profile, so that it does not depend on the order of the run",
		Long: `Sorts types, methods and counts, and numbers types and methods without gaps. Equal
profiles become equal files, and similar ones differ little. With --entry-per-line
version control shows the differences.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &rewriting{}
			c.declare(f)
			return func(_ context.Context, env *cli.Env, args []string) error {
				return c.rewrite(env, args, iprof.Renumber)
			}
		},
	}
}
