package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/watch"
)

func watchCommand() *cli.Command {
	return &cli.Command{
		Name:  "watch",
		Args:  "DIR -o OUTPUT [OPTION]...",
		Short: "merge profiles as they arrive in a folder",
		Long: `Merges profiles like "profuse merge", as they arrive in DIR or a folder below it,
and adds them to OUTPUT if that exists. The kind of profiles to merge follows from
the name of OUTPUT, from its contents, from the options, or else from the files in
DIR; profiles of other kinds stay in place. OUTPUT is what "profuse merge" writes
for the same files.

When OUTPUT is on disk, the profiles in it are deleted or moved, if the options say
so, or else remembered. A profile counts exactly once, even after a crash: a
journal, OUTPUT.watch, lists the profiles in OUTPUT. A file that is written again
is another profile.

Files that change, or are open for writing, wait. Files that cannot be merged are
reported once and left in place, or moved to the --quarantine.

On SIGINT or SIGTERM it merges the complete files and ends. The exit
code is 0 then; it is 1 if OUTPUT could not be written, or with --once if there
was a file that could not be merged, and 2 if the command line is wrong.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &watchRun{}
			c.settle.Duration, c.every.Duration = time.Second, 5*time.Second
			f.StringVar(&c.Output, "o", "", "`OUTPUT` the profile to add to; it is made if there is none")
			f.BoolVar(&c.delete, "delete", false, "delete profiles that were merged")
			f.StringVar(&c.archive, "archive", "", "`FOLDER` move profiles there that were merged")
			f.StringVar(&c.quarantine, "quarantine", "", "`FOLDER` move files there that cannot be merged, or not wholly")
			f.BoolVar(&c.once, "once", false, "merge the profiles that are there and end")
			f.Var(&c.settle, "settle", "`TIME` for which a file must not have changed")
			f.Var(&c.every, "every", "`TIME` that passes at least between two writings of OUTPUT, unless --batch files wait")
			f.IntVar(&c.batch, "batch", 1000, "`N` merge at most N files at once")
			f.Var(&c.poll, "poll", "look through DIR every two seconds, or --poll=TIME, instead of waiting for the system to tell of "+
				"changes; it is done anyway where the system does not tell")
			c.Programs.Declare(f)
			f.IntVar(&c.Workers, "j", 0, "`N` read N files at a time (default one per CPU)")
			f.BoolVar(&c.Quiet, "q", false, "print only what cannot be merged and what fails")
			c.adders.declare(f, true)
			return c.run
		},
	}
}

// watchRun is one run of "profuse watch". What it shares with "profuse merge"
// has the same options.
type watchRun struct {
	merging.Run
	delete              bool
	archive, quarantine string
	once                bool
	settle, every       durationOption
	batch               int
	poll                pollOption
	adders              adders
}

func (c *watchRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if err := c.check(env, args); err != nil {
		return err
	}
	at := c.choose(args[0])
	if err := c.adders.refuse(at, &c.Run); err != nil {
		return err
	}
	ignoreFileSizeSignal()
	log := newWatchLog(env, args[0], &c.Run)
	defer log.line.Clear()
	opt := watch.Options{
		Dir: args[0], Output: c.Output, Archive: c.archive, Quarantine: c.quarantine,
		Settle: c.settle.Duration, Every: c.every.Duration, Batch: c.batch, Poll: c.poll.interval,
		Once: c.once, Report: log.event,
	}
	switch {
	case c.delete:
		opt.Done = watch.Delete
	case c.archive != "":
		opt.Done = watch.Archive
	}
	adder := c.adders.all[at]
	opt.Ignore = c.Programs.Paths
	opt.Merge = c.Watched(adder, log.warn)
	if err := adder.Open(&c.Run, log.warn); err != nil {
		return err
	}
	defer adder.Close()
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
		return cli.Usagef("there is no folder to watch")
	case len(args) > 1:
		return cli.Usagef("it watches one folder, with those below it, and not %d", len(args))
	case c.Output == "-":
		return cli.Usagef("the output is written again and again; it cannot be standard output")
	case c.delete && c.archive != "":
		return cli.Usagef("options --delete and --archive exclude each other")
	case c.batch < 1:
		return cli.Usagef("option --batch takes a number from 1 up")
	}
	if err := c.Run.Check(env, args, false); err != nil {
		return err
	}
	return c.adders.check(&c.Run)
}

// choose returns the index of the family to merge: by the name of the output, by
// its contents, by an option that only one family has, or by the files in the
// folder.
func (c *watchRun) choose(dir string) int {
	out := inputs.File(c.Output)
	if f, ok := formats.BySuffix(strings.TrimSuffix(c.Output, console.Compression(c.Output))); ok {
		c.Family = f.Family()
	} else if f := sources.PeekFormat(out, false); f != 0 {
		c.Family = f.Family()
	} else if f := sources.PeekFormat(out, true); f != 0 {
		c.Family = f.Family()
	} else if at := c.adders.given(); at >= 0 {
		c.Family = families[at].Kinds[0]
	} else if ins, err := inputs.Expand([]string{dir}, inputs.Options{}); err == nil {
		c.Family = merging.InputFamily(ins)
	}
	at := familyIndex(c.Family)
	if c.Family == "" {
		c.Family = families[at].Kinds[0]
	}
	return at
}

// A durationOption is a time.
type durationOption struct{ time.Duration }

// Set takes what [time.ParseDuration] does.
func (d *durationOption) Set(s string) error {
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return errors.New("it takes a time such as 500ms, 2s or 1m")
	}
	d.Duration = v
	return nil
}

// A pollOption is a time that need not be given.
type pollOption struct{ interval time.Duration }

func (p *pollOption) String() string { return "" }

// IsBoolFlag lets the option stand without a value.
func (p *pollOption) IsBoolFlag() bool { return true }

// Set takes a time, or what package flag passes where there is none.
func (p *pollOption) Set(s string) error {
	switch s {
	case "true":
		p.interval = watch.DefaultPoll
		return nil
	case "false":
		p.interval = 0
		return nil
	}
	d := durationOption{}
	err := d.Set(s)
	p.interval = max(d.Duration, time.Millisecond)
	return err
}
