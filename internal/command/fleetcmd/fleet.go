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

// Command is "profuse fleet". Package internal/fleet does the work; this package has the options.
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

// planOptions has the options of a plan, for plan and run. See [fleet.PlanOptions].
type planOptions struct {
	labels   string   // pattern
	byDay    bool     // adds the label "day"
	programs string   // folder or URL
	after    cli.List // jobs
	shard    cli.ByteSize
	objects  int // of a shard
}

func (c *planOptions) declare(f *cli.Flags) {
	// The help text names the default, since a size prints as "".
	c.shard = 1 << 30
	f.Var(&c.shard, "shard-size", "`SIZE` at most SIZE bytes of objects in a shard, such as 256MiB (default 1GiB)")
	f.IntVar(&c.objects, "shard-objects", 50_000, "`N` at most N objects in a shard")
	f.StringVar(&c.labels, "labels", "", "`PATTERN` pattern of the paths below SOURCE, such as {region}/{day}/*; the parts in braces become labels, for reduce")
	f.BoolVar(&c.byDay, "by-day", false, "give each object the label day, the day of its last change in UTC")
	f.StringVar(&c.programs, "programs", "", "`URL` folder with programs under their build ids, and MIP maps under module-HASH")
	f.Var(&c.after, "after", "`JOB` leave out the objects of JOB and of the jobs before it; repeatable")
}

// options returns the options of a plan of sources. Each argument is [NAME=]LOCATION; one with a slash, colon
// or point before the = is a location. Locations become absolute, because tasks run in other folders.
func (c *planOptions) options(args []string) (opt fleet.PlanOptions, err error) {
	if c.objects < 1 || c.shard < 1 {
		return opt, cli.Usagef("shards need at least one object")
	}
	opt = fleet.PlanOptions{ShardBytes: int64(c.shard), ShardObjects: c.objects, Now: time.Now()}
	opt.Labels, opt.ByDay = c.labels, c.byDay
	for _, arg := range args {
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

// makePlan makes the plan of a job and prints how many objects were passed over, and why.
func makePlan(env *cli.Env, job *fleet.Job, opt fleet.PlanOptions, quiet bool) (*fleet.Plan, error) {
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
		warnings = append(warnings, fmt.Sprintf("%s passed over: %s", cli.Quantity(p.Skipped[why], "object", "objects"), why))
	}
	printWarnings(env, warnings, quiet)
	return p, nil
}

func printWarnings(env *cli.Env, warnings []string, quiet bool) {
	if quiet {
		return
	}
	for _, text := range warnings {
		fmt.Fprintln(env.Stderr, console.Printable(text))
	}
}

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
			c := new(planRun)
			c.declare(f)
			return c.run
		},
	}
}

type planRun struct{ planOptions }

func (c *planRun) run(ctx context.Context, env *cli.Env, args []string) error {
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
	p, err := makePlan(env, job, opt, false)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "%s, %s, in %s\n", cli.Quantity(p.Objects, "object", "objects"),
		cli.Size(p.Bytes), cli.Quantity(len(p.Shards), "shard", "shards"))
	return nil
}

// runCommand is "profuse fleet run". It writes the same partial sums as tasks do. If the job has a plan, it
// continues the job.
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
			c := new(wholeRun)
			f.StringVar(&c.job, "job", "", "`JOB` folder or URL for the plan and the partial sums (default a folder that is removed)")
			c.planOptions.declare(f)
			c.reduceRun.declare(f)
			f.BoolVar(&c.noPrograms, "missing-programs", false, missingProgramsUsage)
			return c.run
		},
	}
}

// wholeRun is one run of "profuse fleet run".
type wholeRun struct {
	planOptions
	reduceRun
	job        string // folder or URL; "" for a temporary folder
	noPrograms bool   // see taskRun
}

func (c *wholeRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if len(args) == 0 {
		return cli.Usagef("want at least one SOURCE")
	}
	if c.job == "" {
		// Partial sums may be as large as copies of objects.
		dir, err := os.MkdirTemp(c.scratch, "profuse-fleet-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		c.job = dir
	}
	job, err := fleet.OpenJob(ctx, env.Stores, c.job)
	if err != nil {
		return err
	}
	p, err := c.planJob(env, job, args)
	if err != nil {
		return err
	}
	if err := c.mergeJob(env, job, p); err != nil {
		return err
	}
	return c.reduce(ctx, env, []*fleet.Job{job})
}

// planJob makes the plan of the job, or returns the plan that it has, which must be of the same sources.
func (c *wholeRun) planJob(env *cli.Env, job *fleet.Job, sources []string) (*fleet.Plan, error) {
	opt, err := c.planOptions.options(sources)
	if err != nil {
		return nil, err
	}
	p, err := job.Plan()
	if errors.Is(err, fs.ErrNotExist) {
		p, err = makePlan(env, job, opt, c.reduceRun.options.Quiet)
	}
	if err == nil && !p.Same(&opt.Plan) {
		err = fmt.Errorf("%s has a plan with other sources or labels: name another job", job.URL(""))
	}
	return p, err
}

// mergeJob merges all shards that are not finished.
func (c *wholeRun) mergeJob(env *cli.Env, job *fleet.Job, p *fleet.Plan) error {
	task := taskRun{mergeOptions: c.mergeOptions, noPrograms: c.noPrograms, numTasks: 1}
	task.options.Partial = true // options about the result are for the reduce
	quiet := c.reduceRun.options.Quiet
	progress := env.StartProgress("shards merged", quiet)
	progress.Expect(int64(len(p.Shards)))
	var warnings []string
	err := task.mergeShards(env, job, p, func(e fleet.ShardEnded) { progress.Done(1, e.Bytes) },
		func(text string) { warnings = append(warnings, "warning: "+text) })
	progress.Stop()
	if err == nil {
		printWarnings(env, warnings, quiet)
	}
	return err
}

// statusCommand is "profuse fleet status". docs/schema/fleet-status.schema.json describes its JSON.
func statusCommand() *cli.Command {
	return &cli.Command{
		Name:  "status",
		Args:  "JOB [OPTION]...",
		Short: "print which shards of a job are done",
		Long:  "Prints how many shards of JOB are done, and which are not.",
		Setup: func(f *cli.Flags) cli.Action {
			c := new(statusRun)
			f.BoolVar(&c.json, "json", false, "print JSON")
			f.BoolVar(&c.metrics, "metrics", false, "print metrics in the text format of OpenMetrics")
			return c.run
		},
	}
}

type statusRun struct{ json, metrics bool }

func (c *statusRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if len(args) != 1 || c.json && c.metrics {
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
	case c.json:
		console.WriteJSON(env.Stdout, s, "")
	case c.metrics:
		return s.WriteMetrics(env.Stdout)
	default:
		s.Print(env.Stdout)
	}
	return nil
}

func gcCommand() *cli.Command {
	return &cli.Command{
		Name:  "gc",
		Args:  "JOB [OPTION]...",
		Short: "delete the files that dead tasks left in a job",
		Long: `Deletes partial sums, accounts and lists that neither the plan nor a finished
shard names. This does not change the result of reduce.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &gcRun{age: cli.Duration{Duration: 24 * time.Hour}}
			f.Var(&c.age, "age", "`TIME` delete only files that are older; running tasks may still need younger ones")
			f.BoolVar(&c.dry, "n", false, "only print how many files would be deleted")
			return c.run
		},
	}
}

type gcRun struct {
	age cli.Duration // protects files that a running task has written and has not named yet
	dry bool
}

// run deletes the files and prints their number, also if it fails at a later file.
func (c *gcRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("want one JOB")
	}
	job, err := fleet.OpenJob(ctx, env.Stores, args[0])
	if err != nil {
		return err
	}
	deleted, err := job.Collect(c.age.Duration, time.Now(), !c.dry)
	if err != nil && deleted.Objects == 0 {
		return err
	}
	what := "deleted"
	if c.dry {
		what = "would delete"
	}
	fmt.Fprintf(env.Stdout, "%s %s, %s", what, cli.Quantity(deleted.Objects, "object", "objects"), cli.Size(deleted.Bytes))
	if deleted.Young > 0 {
		fmt.Fprintf(env.Stdout, "; %d more may be of running tasks, see --age", deleted.Young)
	}
	fmt.Fprintln(env.Stdout)
	return err
}
