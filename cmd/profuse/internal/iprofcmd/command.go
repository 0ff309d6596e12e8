package iprofcmd

import (
	"context"
	"fmt"
	"io"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/iprof"
	"github.com/profuse-pgo/profuse/profile"
)

// Command is "profuse iprof", a list of commands of its own.
func Command() *cli.Command {
	return &cli.Command{
		Name:  "iprof",
		Args:  "COMMAND [OPTION]... [ARGUMENT]...",
		Short: "work with profiles of GraalVM native images: make them smaller, coverage",
		Long: `Works with profiles of GraalVM native images (.iprof). "profuse iprof help" lists
the commands, and "profuse iprof help COMMAND" has the options of one.

    profuse merge -o all.iprof run1.iprof run2.iprof
    profuse iprof prune -o small.iprof all.iprof
    profuse iprof covered --classes app.jar all.iprof --lcov -o app.info`,
		Nested: iprofApp,
	}
}

func iprofApp() *cli.App {
	return &cli.App{
		Name:  "profuse iprof",
		Short: "work with profiles of GraalVM native images",
		Long: `"profuse merge", "show", "check", "top", "compare" and "export" take .iprof files,
too. Files are written compressed if their name ends in .gz or .zst.`,
		Commands: []*cli.Command{
			iprofPruneCommand(),
			iprofFilterCommand(),
			iprofRenumberCommand(),
			iprofCoveredCommand(),
		},
	}
}

// An iprofFile is a profile that a command reads.
type iprofFile struct {
	*iprof.Profile
	name  string
	size  int // bytes, decompressed
	input inputs.Input
}

// readIprofFile reads the one profile among the arguments; what is odd about it
// is printed.
func readIprofFile(env *cli.Env, args []string) (*iprofFile, error) {
	if len(args) != 1 {
		return nil, cli.Usagef("it takes one profile, not %d", len(args))
	}
	in, err := sources.One(env, args[0])
	if err != nil {
		return nil, err
	}
	d, err := in.Open(nil)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	f := &iprofFile{name: d.Name(), size: len(d.Bytes()), input: in}
	err = inputs.Guard(func() (err error) {
		f.Profile, err = readIprof(d.Name(), d.Bytes(), func(w profile.Warning) {
			fmt.Fprintf(env.Stderr, "warning: %s\n", console.Printable(w.String()))
		})
		return err
	}, d)
	return f, err
}

// iprofRewriting is what the commands have in common that write a profile
// again.
type iprofRewriting struct {
	iprofWriting
	output string
	quiet  bool
}

func (c *iprofRewriting) declare(f *cli.Flags) {
	f.StringVar(&c.output, "o", "", "`FILE` where to write the result; \"-\" is standard output")
	c.iprofWriting.declare(f)
	f.BoolVar(&c.quiet, "q", false, "do not say what was removed")
}

// rewrite reads the profile, changes it and writes it.
func (c *iprofRewriting) rewrite(env *cli.Env, args []string, change func(*iprof.Profile) (*iprof.Profile, error)) error {
	if c.output == "" {
		return cli.Usagef("-o says where to write the result and is missing")
	}
	opt, err := c.writeOptions()
	if err != nil {
		return err
	}
	opt.Warn = func(w profile.Warning) { fmt.Fprintf(env.Stderr, "warning: %s\n", console.Printable(w.String())) }
	before, err := readIprofFile(env, args)
	if err != nil {
		return err
	}
	after, err := change(before.Profile)
	if err != nil {
		return profile.InFile(err, before.name)
	}
	out, err := console.OpenOutput(env, c.output, []inputs.Input{before.input})
	if err != nil {
		return err
	}
	defer out.Discard()
	var size uint64 // uncompressed
	err = writeCompressed(out, c.output, func(w io.Writer) error {
		counting := countingWriter{w: w}
		defer func() { size = counting.n }()
		return iprof.Write(&counting, after, opt)
	})
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		return merging.NotWritten(c.output, err)
	}
	if !c.quiet {
		c.report(env, before, after, size)
	}
	return nil
}

// A countingWriter counts the bytes written.
type countingWriter struct {
	w io.Writer
	n uint64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += uint64(n)
	return n, err
}

// report says what was removed.
func (c *iprofRewriting) report(env *cli.Env, before *iprofFile, after *iprof.Profile, size uint64) {
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
			rows = append(rows, []string{cli.Count(uint64(was - is)), cli.Count(uint64(was)), cli.Percent(uint64(was-is), uint64(was)), counts, what})
		}
	}
	add("types", len(before.Types), len(after.Types), "")
	add("methods", len(before.Methods), len(after.Methods), "")
	for _, k := range iprof.Kinds() {
		from, to := before.Section(k), after.Section(k)
		add(k.SetName(), numEntries(from), numEntries(to),
			cli.Percent(uint64(max(from.Total()-to.Total(), 0)), uint64(max(from.Total(), 0))))
	}
	if removed == 0 {
		return
	}
	(&console.Printer{W: env.Stderr, Term: env.Terminal(env.Stderr)}).Table([]string{"Removed", "of", "share", "of counts", "What"}, rows)
}

// numEntries returns the number of entries; of Monitors, which has one
// only, that of the types.
func numEntries(s *iprof.Section) int {
	if s.Kind() != iprof.Monitors {
		return s.Len()
	}
	n := 0
	for _, records := range s.All() {
		n += len(records) / s.Kind().Arity()
	}
	return n
}

func iprofPruneCommand() *cli.Command {
	return &cli.Command{
		Name:  "prune",
		Args:  "-o OUTPUT [OPTION]... FILE",
		Short: "make a profile smaller",
		Long: `Drops the types and methods that no count is about, which loses nothing and makes
recordings of short runs half to three quarters smaller. Everything beyond that
loses counts, and to the compiler counts that are absent mean code that did not
run.

SET is samples, calls, branches, receivers, type_checks or locks.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &iprofPrune{}
			c.declare(f)
			f.BoolVar(&c.opt.KeepUnused, "keep-unused", false, "keep types and methods that no count is about")
			f.Int64Var(&c.opt.MinCount, "min-count", 0, "`N` drop entries that were counted less than N times")
			f.IntVar(&c.opt.Top, "top", 0, "`N` keep only the N entries of each set with the greatest counts")
			f.IntVar(&c.opt.MaxFrames, "max-frames", 0, "`N` cut contexts to N frames and add up what becomes equal; compilers look for whole contexts first")
			f.Var(&c.drop, "drop", "`SET` drop all of it; may be given again")
			f.BoolVar(&c.opt.DropUnknown, "drop-unknown", false, "drop sections that are not known")
			return c.run
		},
	}
}

// iprofPrune is one run of "profuse iprof prune".
type iprofPrune struct {
	iprofRewriting
	opt  iprof.PruneOptions
	drop cli.List
}

func (c *iprofPrune) run(_ context.Context, env *cli.Env, args []string) error {
	if c.opt.Top < 0 || c.opt.MaxFrames < 0 || c.opt.MinCount < 0 {
		return cli.Usagef("options --min-count, --top and --max-frames take numbers from 0 up")
	}
	for _, name := range c.drop {
		k, ok := iprof.KindOfSet(name)
		if !ok {
			return cli.Usagef("option --drop takes samples, calls, branches, receivers, type_checks or locks, not %q", name)
		}
		c.opt.Drop = append(c.opt.Drop, k)
	}
	return c.rewrite(env, args, func(p *iprof.Profile) (*iprof.Profile, error) {
		q, _, err := iprof.Prune(p, c.opt)
		return q, err
	})
}

func iprofFilterCommand() *cli.Command {
	return &cli.Command{
		Name:  "filter",
		Args:  "-o OUTPUT [OPTION]... FILE",
		Short: "keep or drop classes and methods",
		Long: `Keeps the counts of the classes and methods that a --keep PATTERN matches, of all
if there is none, without those that a --drop PATTERN matches, and the types and
methods that they need. In a PATTERN * stands for any text and ? for one
character:

    java.util.*           all methods of classes whose name begins so
    java.util.HashMap     all methods of this class
    *.HashMap.get*        by the names of class and method, with a dot between
    *Map#get              the same with class and method matched each on its own

Locks have no methods: there the types are matched as classes.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &iprofFilter{where: cli.Choice{Value: "leaf", Allowed: []string{"leaf", "anywhere", "root"}}}
			c.declare(f)
			f.Var(&c.keep, "keep", "`PATTERN` keep what matches; may be given again")
			f.Var(&c.drop, "drop", "`PATTERN` drop what matches; may be given again")
			f.Var(&c.where, "where", "`WHERE` to match: leaf, the method that a count is about; anywhere, its callers, too; root, the outermost caller in the context")
			f.BoolVar(&c.keepUnused, "keep-unused", false, "keep types and methods that no count is about any more")
			return c.run
		},
	}
}

// iprofFilter is one run of "profuse iprof filter".
type iprofFilter struct {
	iprofRewriting
	keep, drop cli.List
	where      cli.Choice
	keepUnused bool
}

func (c *iprofFilter) run(_ context.Context, env *cli.Env, args []string) error {
	if len(c.keep)+len(c.drop) == 0 {
		return cli.Usagef("--keep and --drop say what to filter and are missing")
	}
	opt := iprof.FilterOptions{Where: map[string]iprof.Where{"leaf": iprof.Leaf, "anywhere": iprof.Anywhere, "root": iprof.Root}[c.where.Value]}
	for _, list := range []struct {
		texts cli.List
		to    *[]iprof.Pattern
	}{{c.keep, &opt.Keep}, {c.drop, &opt.Drop}} {
		for _, text := range list.texts {
			p, err := iprof.ParsePattern(text)
			if err != nil {
				return cli.Usagef("%v", err)
			}
			*list.to = append(*list.to, p)
		}
	}
	return c.rewrite(env, args, func(p *iprof.Profile) (*iprof.Profile, error) {
		q, _ := iprof.Filter(p, opt)
		if c.keepUnused {
			return q, nil
		}
		q, _, err := iprof.Prune(q, iprof.PruneOptions{})
		return q, err
	})
}

func iprofRenumberCommand() *cli.Command {
	return &cli.Command{
		Name:  "renumber",
		Args:  "-o OUTPUT [OPTION]... FILE",
		Short: "bring a profile into an order that does not depend on the run",
		Long: `Sorts types, methods and counts, and numbers types and methods without gaps: two
profiles that say the same become the same file, and the differences of others
are small. With --entry-per-line version control shows them.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &iprofRewriting{}
			c.declare(f)
			return func(_ context.Context, env *cli.Env, args []string) error {
				return c.rewrite(env, args, iprof.Renumber)
			}
		},
	}
}
