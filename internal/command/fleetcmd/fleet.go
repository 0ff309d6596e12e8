package fleetcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/store"
	"github.com/profuse-pgo/profuse/internal/fleet"
)

// Command is "profuse fleet". Package internal/command/fleetcmd does the work; here are the
// options.
func Command() *cli.Command {
	return &cli.Command{
		Name:  "fleet",
		Args:  "COMMAND [OPTION]... [ARGUMENT]...",
		Short: "merge profiles on many machines, as job arrays of any scheduler",
		Long: `Merges the profiles of folders and buckets with an array of tasks, which any
scheduler with job arrays can start; render writes the definitions for ` + cli.AnyOf(fleet.Schedulers) + `.
The result has the bytes of one merge of all profiles. JOB is a new folder, or a URL such as s3://bucket/jobs/monday,
that all tasks share; see docs/fleet.md.

    profuse fleet plan JOB SOURCE...       list the objects, divide them into shards
    profuse fleet task JOB                 merge one shard; once for each
    profuse fleet reduce JOB -o OUTPUT     add the shards up and judge the loss

A task may fail, be repeated, or run twice at once: each profile counts once.`,
		Commands: []*cli.Command{
			planCommand(), taskCommand(), reduceCommand(), runCommand(),
			statusCommand(), gcCommand(), renderCommand(),
		},
	}
}

// fleetPlan has the options of a plan. The plan is fixed once it is written: tasks and reduce find
// these decisions in it.
type fleetPlan struct {
	// labels is a pattern of paths whose parts become labels; byDay adds the label "day".
	labels string
	byDay  bool
	// programs is a folder or URL where tasks find programs by their build ids.
	programs string
	// after are jobs whose objects, and those of the jobs before them, are left out.
	after cli.List
	// shard, in bytes, and objects limit a shard: a task needs scratch space and time for no more.
	shard   cli.ByteSize
	objects int
}

// declare declares the options of plan, which run has, too.
func (c *fleetPlan) declare(f *cli.Flags) {
	// The help text names the default, since a size prints as "".
	c.shard = 1 << 30
	f.Var(&c.shard, "shard-size", "`SIZE` at most SIZE bytes of objects in a shard, such as 256MiB (default 1GiB)")
	f.IntVar(&c.objects, "shard-objects", 50_000, "`N` at most N objects in a shard")
	f.StringVar(&c.labels, "labels", "", "`PATTERN` pattern of the paths below SOURCE, such as {region}/{day}/*; the parts in braces become labels, for reduce")
	f.BoolVar(&c.byDay, "by-day", false, "give each object the label day, the day of its last change in UTC")
	f.StringVar(&c.programs, "programs", "", "`URL` folder with programs under their build ids, and MIP maps under module-HASH")
	f.Var(&c.after, "after", "`JOB` leave out the objects of JOB and of the jobs before it; repeatable")
}

// options returns the options of a plan of sources, each [NAME=]LOCATION; what has a slash, colon
// or point before the = is a location as a whole. Locations are those of folders wherever a task
// runs.
func (c *fleetPlan) options(args []string) (opt fleet.PlanOptions, err error) {
	if c.objects < 1 || c.shard < 1 {
		return opt, cli.Usagef("shards need at least one object")
	}
	opt = fleet.PlanOptions{ShardBytes: int64(c.shard), ShardObjects: c.objects, Now: time.Now()}
	opt.Labels, opt.ByDay = c.labels, c.byDay
	for _, arg := range args {
		// A label cannot be told from a path or URL with an equals sign but by these characters.
		name, location, ok := strings.Cut(arg, "=")
		if !ok || strings.ContainsAny(name, "/:.") {
			name, location = "", arg
		}
		if location, err = store.Absolute(location); err != nil {
			return opt, err
		}
		opt.Sources = append(opt.Sources, fleet.Source{Name: name, URL: location})
	}
	for _, job := range c.after {
		if job, err = store.Absolute(job); err != nil {
			return opt, err
		}
		opt.After = append(opt.After, job)
	}
	if c.programs != "" {
		opt.Programs, err = store.Absolute(c.programs)
	}
	return opt, err
}

// plan makes the plan of a job and prints why objects were passed over, with their numbers.
func (c *fleetPlan) plan(env *cli.Env, job *fleet.Job, opt fleet.PlanOptions, quiet bool) (*fleet.Plan, error) {
	// A bucket may have millions of objects.
	progress := env.StartProgress("objects listed", quiet)
	defer progress.Stop()
	var warnings []string
	opt.Stores, opt.Warn = env.Stores, func(text string) { warnings = append(warnings, text) }
	opt.Progress = func(n int) { progress.Done(int64(n), 0) }
	// Warnings wait, so that they do not break the progress line.
	p, err := fleet.MakePlan(job, opt)
	progress.Stop()
	if err != nil {
		return nil, err
	}
	for _, why := range slices.Sorted(maps.Keys(p.Skipped)) {
		warnings = append(warnings, fmt.Sprintf("%s passed over: %s", cli.Quantity(uint64(p.Skipped[why]), "object", "objects"), why))
	}
	printWarnings(env, warnings, quiet)
	return p, nil
}

// printWarnings prints warnings once the progress line is gone.
func printWarnings(env *cli.Env, warnings []string, quiet bool) {
	if quiet {
		return
	}
	for _, text := range warnings {
		fmt.Fprintln(env.Stderr, console.Printable(text))
	}
}

// planCommand is "profuse fleet plan".
func planCommand() *cli.Command {
	return &cli.Command{
		Name:  "plan",
		Args:  "JOB [NAME=]SOURCE...",
		Short: "list the objects to merge, and divide them into shards",
		Long: `Lists the objects in each SOURCE, a folder or a URL such as gs://bucket/raw, with
their sizes and tags, and writes the plan of JOB. Objects that arrive later are for
the next plan (--after JOB), and an object that changes after it was listed is a lost
input. NAME= gives the profiles of a SOURCE the label "source".`,
		Setup: func(f *cli.Flags) cli.Action {
			c := new(fleetPlan)
			c.declare(f)
			return func(ctx context.Context, env *cli.Env, args []string) error {
				if len(args) < 2 {
					return cli.Usagef("want JOB and at least one SOURCE")
				}
				job, err := fleet.OpenJob(ctx, env.Stores, args[0])
				if err != nil {
					return err
				}
				opt, err := c.options(args[1:])
				if err != nil {
					return err
				}
				p, err := c.plan(env, job, opt, false)
				if err != nil {
					return err
				}
				fmt.Fprintf(env.Stdout, "%s, %s, in %s\n", cli.Quantity(uint64(p.Objects), "object", "objects"),
					cli.Size(uint64(p.Bytes)), cli.Quantity(uint64(len(p.Shards)), "shard", "shards"))
				return nil
			}
		},
	}
}

// runCommand is "profuse fleet run", which takes the way through partial sums that tasks and
// reduce take. A plan that the job already has is used again, so that a second run continues the
// first.
func runCommand() *cli.Command {
	return &cli.Command{
		Name:  "run",
		Args:  "[NAME=]SOURCE... -o OUTPUT [OPTION]...",
		Short: "plan, task and reduce in one process",
		Long: `Does the work of plan, of all tasks and of reduce, one after the other, to try out
what an array of tasks will do. With --job the partial sums stay there, and a second
run goes on where the first ended.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			var plan fleetPlan
			var reduce fleetReduce
			var task fleetTask
			location := ""
			f.StringVar(&location, "job", "", "`JOB` folder or URL for the plan and the partial sums (default a folder that is removed)")
			plan.declare(f)
			reduce.declare(f)
			f.BoolVar(&task.noPrograms, "missing-programs", false, missingPrograms)
			return func(ctx context.Context, env *cli.Env, args []string) error {
				if len(args) == 0 {
					return cli.Usagef("want at least one SOURCE")
				}
				if location == "" {
					// Partial sums may be large, so they go where copies of objects go.
					dir, err := os.MkdirTemp(reduce.scratch, "profuse-fleet-")
					if err != nil {
						return err
					}
					defer os.RemoveAll(dir)
					// The job is a temporary folder, of which only the result is kept.
					location = dir
				}
				job, err := fleet.OpenJob(ctx, env.Stores, location)
				if err != nil {
					return err
				}
				opt, err := plan.options(args)
				if err != nil {
					return err
				}
				p, err := job.Plan()
				if errors.Is(err, fs.ErrNotExist) {
					p, err = plan.plan(env, job, opt, reduce.Quiet)
				}
				if err != nil {
					return err
				}
				// The shards of another plan may be merged already, and their partial sums would
				// count for these sources.
				if !p.Same(&opt.Plan) {
					return fmt.Errorf("%s has a plan with other sources or labels: name another job", job.URL(""))
				}
				// Finished shards are among them; a task finds that out and does nothing.
				shards := make([]int, len(p.Shards))
				for i := range shards {
					shards[i] = i
				}
				// The tasks and the reduce of this process share the options of merges, which are
				// declared once.
				task.fleetMerge = reduce.fleetMerge
				task.Options.Partial = true // the options about what is written are those of the reduce
				progress := env.StartProgress("shards merged", reduce.Quiet)
				progress.Expect(int64(len(shards)))
				var warnings []string
				err = task.run(env, job, p, shards, func(e fleet.ShardEnded) { progress.Done(1, e.Bytes) },
					func(text string) { warnings = append(warnings, "warning: "+text) })
				progress.Stop()
				if err != nil {
					return err
				}
				printWarnings(env, warnings, reduce.Quiet)
				return reduce.run(ctx, env, []*fleet.Job{job})
			}
		},
	}
}

// statusCommand is "profuse fleet status", as text, JSON
// (docs/schema/fleet-status.schema.json) or metrics.
func statusCommand() *cli.Command {
	return &cli.Command{
		Name:  "status",
		Args:  "JOB [OPTION]...",
		Short: "print which shards of a job are done",
		Long:  "Prints how many shards of JOB are done, and which are not.",
		Setup: func(f *cli.Flags) cli.Action {
			asJSON, metrics := false, false
			f.BoolVar(&asJSON, "json", false, "print JSON")
			f.BoolVar(&metrics, "metrics", false, "print metrics in the text format of OpenMetrics")
			return func(ctx context.Context, env *cli.Env, args []string) error {
				if len(args) != 1 || asJSON && metrics {
					return cli.Usagef("want one JOB, and --json or --metrics at most")
				}
				job, err := fleet.OpenJob(ctx, env.Stores, args[0])
				if err != nil {
					return err
				}
				s, err := job.Status()
				switch {
				case err != nil:
					return err
				case asJSON:
					console.WriteJSON(env.Stdout, s, "")
					return nil
				case metrics:
					return s.WriteMetrics(env.Stdout)
				}
				s.Print(env.Stdout)
				return nil
			}
		},
	}
}

// gcCommand is "profuse fleet gc". The age protects what a running task has written and its
// shard's result does not name yet.
func gcCommand() *cli.Command {
	return &cli.Command{
		Name:  "gc",
		Args:  "JOB [OPTION]...",
		Short: "delete the files that dead tasks left in a job",
		Long: `Deletes partial sums, accounts and lists that neither the plan nor a finished
shard names. This does not change the result of reduce.`,
		Setup: func(f *cli.Flags) cli.Action {
			age, dry := cli.Duration{Duration: 24 * time.Hour}, false
			f.Var(&age, "age", "`TIME` delete only files that are older; running tasks may still need younger ones")
			f.BoolVar(&dry, "n", false, "only print how many files would be deleted")
			return func(ctx context.Context, env *cli.Env, args []string) error {
				if len(args) != 1 {
					return cli.Usagef("want one JOB")
				}
				job, err := fleet.OpenJob(ctx, env.Stores, args[0])
				if err != nil {
					return err
				}
				c, err := job.Collect(age.Duration, time.Now(), !dry)
				// Files may have been deleted before the error: their number is printed
				// nevertheless.
				if err != nil && c.Objects == 0 {
					return err
				}
				what := "deleted"
				if dry {
					what = "would delete"
				}
				fmt.Fprintf(env.Stdout, "%s %s, %s", what, cli.Quantity(uint64(c.Objects), "object", "objects"), cli.Size(uint64(c.Bytes)))
				if c.Young > 0 {
					fmt.Fprintf(env.Stdout, "; %d more may be of running tasks, see --age", c.Young)
				}
				fmt.Fprintln(env.Stdout)
				return err
			}
		},
	}
}
