package command

import (
	"context"
	"strings"
	"time"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/families"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/command/ui/interrupt"
	"github.com/profuse-pgo/profuse/internal/files/store"
	"github.com/profuse-pgo/profuse/internal/watch"
)

// watchCommand is "profuse watch". Package watch finds files and counts each once; the adder of a family
// merges them. docs/watch.md describes the journal, and what a crash leaves at each point.
func watchCommand() *cli.Command {
	return &cli.Command{
		Name:  "watch",
		Args:  "DIR -o OUTPUT [OPTION]...",
		Short: "merge profiles as they arrive in a folder",
		Long: `Merges profiles as they arrive in DIR or a folder below it, and adds them to OUTPUT
if that exists. OUTPUT is what "profuse merge" writes for the same files. The name
of OUTPUT, its contents, the options or else the files in DIR decide what to merge;
other profiles stay in place.

Once OUTPUT is on disk, watch deletes or moves the profiles in it, as the options
say, or remembers them. Each profile counts exactly once, even after a crash: the
journal OUTPUT.watch lists the profiles in OUTPUT. A file that is written again
counts as another profile.

watch waits for files that change or are open for writing. It reports a file that
it cannot merge once, and leaves it in place or moves it (--quarantine).

On SIGINT or SIGTERM it merges the complete files and ends with exit code 0. The
exit code is 1 if OUTPUT could not be written or, with --once, if a file could not
be merged, and 2 if the command line is wrong.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &watchRun{}
			c.settle.Duration, c.every.Duration = time.Second, 5*time.Second
			f.StringVar(&c.options.Output, "o", "", "`OUTPUT` profile to add to or create")
			f.BoolVar(&c.delete, "delete", false, "delete merged profiles")
			f.StringVar(&c.archive, "archive", "", "`DIR` move merged profiles to DIR")
			f.StringVar(&c.quarantine, "quarantine", "", "`DIR` move files that cannot be merged, wholly or in part, to DIR")
			f.BoolVar(&c.once, "once", false, "merge the profiles in DIR and end")
			f.Var(&c.settle, "settle", "`TIME` merge a file once it has not changed for TIME")
			f.Var(&c.every, "every", "`TIME` write OUTPUT at most once per TIME, unless --batch files wait")
			f.IntVar(&c.batch, "batch", 1000, "`N` merge at most N files at the same time")
			f.Var(&c.poll, "poll", "scan DIR every two seconds, or every TIME with --poll=TIME, instead of waiting for notifications of the "+
				"system; always on where the system has none")
			c.options.Checksum.Declare(f)
			c.options.Programs.Declare(f)
			f.IntVar(&c.options.Workers, "j", 0, "`N` read N files at the same time (default one per CPU)")
			f.BoolVar(&c.options.Quiet, "q", false, "print only failures and files that cannot be merged")
			c.adders.Declare(f, true)
			return c.run
		},
	}
}

type watchRun struct {
	options merging.Options // the options that it shares with "profuse merge"
	adders  families.Adders // the options of each family

	// See [watch.Options].
	delete     bool
	archive    string // folder
	quarantine string // folder
	once       bool
	settle     cli.Duration
	every      cli.Duration
	batch      int
	poll       pollOption
}

// run watches until an interrupt, and then merges the files that are complete; or with --once until no file is left.
func (c *watchRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if err := c.check(env, args); err != nil {
		return err
	}
	family := c.chooseFamily(args[0])
	if err := c.adders.Refuse(family, &c.options); err != nil {
		return err
	}
	ignoreFileSizeSignal()
	log := newWatchLog(env, args[0], &c.options)
	defer log.line.Clear()
	opt := watch.Options{
		Dir: args[0], Output: c.options.Output, Delete: c.delete, Archive: c.archive, Quarantine: c.quarantine, Checksum: bool(c.options.Checksum),
		Settle: c.settle.Duration, Every: c.every.Duration, Batch: c.batch, Poll: c.poll.interval,
		Once: c.once, Report: log.event,
	}
	adder := c.adders.List[family]
	opt.Ignore = c.options.Programs.Paths
	opt.Merge = c.options.Watched(adder, log.warn)
	if err := adder.Open(&c.options, log.warn); err != nil {
		return err
	}
	defer c.options.Programs.Close()
	interrupt.Allow(ctx, interrupt.Forever) // it merges the files that are complete
	err := watch.Run(ctx, opt)
	if err != nil && ctx.Err() != nil {
		log.line.Urgentf("profuse watch: %s", console.Printable(cli.Message(err)))
		return cli.ErrReported
	}
	return err
}

func (c *watchRun) check(env *cli.Env, args []string) error {
	switch {
	case len(args) == 0:
		return cli.Usagef("no folder to watch")
	case len(args) > 1:
		return cli.Usagef("want one folder, got %d", len(args))
	case c.options.Output == "-":
		return cli.Usagef("standard output cannot be the output: a watch rewrites it")
	case store.IsURL(args[0]):
		return cli.Usagef("%s is no folder: for buckets there is \"fleet plan --after\"", store.Shown(args[0]))
	case store.IsURL(c.options.Output):
		return cli.Usagef("the output of a watch is a file, not %s", store.Shown(c.options.Output))
	case c.delete && c.archive != "":
		return cli.Usagef("options --delete and --archive exclude each other")
	case c.batch < 1:
		return cli.Usagef("option --batch takes a number from 1 up")
	}
	if err := c.options.Check(env, args, false); err != nil {
		return err
	}
	return c.adders.Check(&c.options)
}

// chooseFamily returns the index of the family to merge. The name of the output decides, its contents, an
// option that only one family has, or the files in the folder; without any of them it is the first family.
func (c *watchRun) chooseFamily(dir string) int {
	out := inputs.File(c.options.Output, c.options.Open)
	if f, ok := formats.BySuffix(strings.TrimSuffix(c.options.Output, console.Compression(c.options.Output))); ok {
		c.options.Family = f.Family()
	} else if f := sources.PeekFormat(out, false); f != 0 {
		c.options.Family = f.Family()
	} else if f := sources.PeekFormat(out, true); f != 0 {
		c.options.Family = f.Family()
	} else if index := c.adders.Given(); index >= 0 {
		c.options.Family = families.All[index].Kinds[0]
	} else if ins, err := inputs.Expand([]string{dir}, c.options.Open); err == nil {
		c.options.Family = merging.InputFamily(ins)
	}
	index := families.Index(c.options.Family)
	if c.options.Family == "" {
		c.options.Family = families.All[index].Kinds[0]
	}
	return index
}

// A pollOption is an option with an optional duration.
type pollOption struct{ interval time.Duration }

// String returns the default for package flag: none.
func (p *pollOption) String() string { return "" }

// IsBoolFlag makes the value optional.
func (p *pollOption) IsBoolFlag() bool { return true }

// Set takes a duration, or "true", which package flag passes without a value.
func (p *pollOption) Set(s string) error {
	switch s {
	case "true":
		p.interval = watch.DefaultPoll
		return nil
	case "false":
		p.interval = 0
		return nil
	}
	d := cli.Duration{}
	err := d.Set(s)
	p.interval = max(d.Duration, time.Millisecond)
	return err
}
