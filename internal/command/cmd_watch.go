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

// watchCommand is "profuse watch". Package internal/watch finds files and counts each once; a
// family's adder merges them. docs/watch.md describes the journal, and what a crash leaves at each
// point.
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
			f.StringVar(&c.Output, "o", "", "`OUTPUT` profile to add to or create")
			f.BoolVar(&c.delete, "delete", false, "delete merged profiles")
			f.StringVar(&c.archive, "archive", "", "`DIR` move merged profiles to DIR")
			f.StringVar(&c.quarantine, "quarantine", "", "`DIR` move files that cannot be merged, wholly or in part, to DIR")
			f.BoolVar(&c.once, "once", false, "merge the profiles in DIR and end")
			f.Var(&c.settle, "settle", "`TIME` merge a file once it has not changed for TIME")
			f.Var(&c.every, "every", "`TIME` write OUTPUT at most once per TIME, unless --batch files wait")
			f.IntVar(&c.batch, "batch", 1000, "`N` merge at most N files at the same time")
			f.Var(&c.poll, "poll", "scan DIR every two seconds, or every TIME with --poll=TIME, instead of waiting for notifications of the "+
				"system; always on where the system has none")
			c.Checksum.Declare(f)
			c.Programs.Declare(f)
			f.IntVar(&c.Workers, "j", 0, "`N` read N files at the same time (default one per CPU)")
			f.BoolVar(&c.Quiet, "q", false, "print only failures and files that cannot be merged")
			c.adders.Declare(f, true)
			return c.run
		},
	}
}

// watchRun is one run of "profuse watch". The merge in it has the options of "profuse merge". The
// rest says when files are merged and what becomes of them afterwards, see [watch.Options].
type watchRun struct {
	merging.Run
	// Merged files are deleted, moved to archive, or else left in place and remembered.
	delete  bool
	archive string
	// quarantine is the folder for files that cannot be merged, or only in part; "" leaves them.
	quarantine string
	once       bool // end when all files are merged
	// A file is complete once it has not changed for settle; OUTPUT is written at most once per
	// every, but sooner if batch files wait.
	settle, every cli.Duration
	batch         int
	poll          pollOption // instead of notifications of the system; 0 for these
	adders        families.Adders
}

// run watches until an interrupt, at which it merges what is complete, or with --once until nothing
// is left.
func (c *watchRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if err := c.check(env, args); err != nil {
		return err
	}
	// The family is chosen once: a folder in which another kind of profile arrives later does not
	// change it.
	at := c.choose(args[0])
	if err := c.adders.Refuse(at, &c.Run); err != nil {
		return err
	}
	ignoreFileSizeSignal()
	log := newWatchLog(env, args[0], &c.Run)
	defer log.line.Clear()
	opt := watch.Options{
		Dir: args[0], Output: c.Output, Delete: c.delete, Archive: c.archive, Quarantine: c.quarantine, Checksum: bool(c.Checksum),
		Settle: c.settle.Duration, Every: c.every.Duration, Batch: c.batch, Poll: c.poll.interval,
		Once: c.once, Report: log.event,
	}
	adder := c.adders.List[at]
	// Programs may lie in the watched folder; they are no profiles.
	opt.Ignore = c.Programs.Paths
	opt.Merge = c.Watched(adder, log.warn)
	if err := adder.Open(&c.Run, log.warn); err != nil {
		return err
	}
	defer c.Programs.Close()
	interrupt.Allow(ctx, interrupt.Forever) // it merges what is complete
	err := watch.Run(ctx, opt)
	if err != nil && ctx.Err() != nil {
		// The interrupt did not cause this failure.
		log.line.Urgentf("profuse watch: %s", console.Printable(cli.Message(err)))
		return cli.ErrReported
	}
	return err
}

// check returns what is wrong with the command line.
func (c *watchRun) check(env *cli.Env, args []string) error {
	switch {
	case len(args) == 0:
		return cli.Usagef("no folder to watch")
	case len(args) > 1:
		return cli.Usagef("want one folder, got %d", len(args))
	case c.Output == "-":
		return cli.Usagef("standard output cannot be the output: a watch rewrites it")
	case store.IsURL(args[0]):
		return cli.Usagef("%s is no folder: for buckets there is \"fleet plan --after\"", store.Shown(args[0]))
	case store.IsURL(c.Output):
		return cli.Usagef("the output of a watch is a file, not %s", store.Shown(c.Output))
	case c.delete && c.archive != "":
		return cli.Usagef("options --delete and --archive exclude each other")
	case c.batch < 1:
		return cli.Usagef("option --batch takes a number from 1 up")
	}
	if err := c.Run.Check(env, args, false); err != nil {
		return err
	}
	return c.adders.Check(&c.Run)
}

// choose returns the index of the family to merge: by the name of the output, by
// its contents, by an option that only one family has, or by the files in the
// folder.
func (c *watchRun) choose(dir string) int {
	out := inputs.File(c.Output, c.Open)
	// PeekFormat looks at the first bytes of the output, the second time unpacked.
	if f, ok := formats.BySuffix(strings.TrimSuffix(c.Output, console.Compression(c.Output))); ok {
		c.Family = f.Family()
	} else if f := sources.PeekFormat(out, false); f != 0 {
		c.Family = f.Family()
	} else if f := sources.PeekFormat(out, true); f != 0 {
		c.Family = f.Family()
	} else if at := c.adders.Given(); at >= 0 {
		c.Family = families.All[at].Kinds[0]
	} else if ins, err := inputs.Expand([]string{dir}, c.Open); err == nil {
		c.Family = merging.InputFamily(ins)
	}
	at := families.Index(c.Family)
	// Nothing decides: the first family takes what arrives.
	if c.Family == "" {
		c.Family = families.All[at].Kinds[0]
	}
	return at
}

// A pollOption is an option with an optional duration.
type pollOption struct{ interval time.Duration }

// String is for package flag, which shows it as the default: there is none.
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
