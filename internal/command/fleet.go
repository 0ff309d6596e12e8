package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/profuse-pgo/profuse/internal/command/cli"
	"github.com/profuse-pgo/profuse/internal/command/console"
	"github.com/profuse-pgo/profuse/internal/command/fleet"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/store"
)

func fleetCommand() *cli.Command {
	return &cli.Command{
		Name:  "fleet",
		Args:  "COMMAND [OPTION]... [ARGUMENT]...",
		Short: "merge more profiles than one machine should, by tasks of a scheduler",
		Long: `Merges profiles in folders and buckets by an array of tasks, which any scheduler
starts: Kubernetes, Slurm, AWS Batch, Cloud Run. The result has the bytes of one
merge of all. JOB is a new folder, or a URL such as s3://bucket/jobs/monday, in which
the tasks meet; see docs/fleet.md.

    profuse fleet plan JOB SOURCE...       list the objects, divide them into shards
    profuse fleet task JOB                 merge one shard; once for each
    profuse fleet reduce JOB -o OUTPUT     add the shards up and judge the loss

A task may fail, be repeated, or run twice at once: each profile counts once.`,
		Commands: []*cli.Command{
			fleetPlanCommand(), fleetTaskCommand(), fleetReduceCommand(), fleetRunCommand(),
			fleetStatusCommand(), fleetGCCommand(), fleetRenderCommand(),
		},
	}
}

// fleetPlan has the options of a plan.
type fleetPlan struct {
	labels, programs string
	byDay            bool
	after            cli.List
	shard            cli.ByteSize
	objects          int
}

func (c *fleetPlan) declare(f *cli.Flags) {
	c.shard = 1 << 30
	f.Var(&c.shard, "shard-size", "`SIZE` of the objects of a shard, such as 256MiB (default 1GiB)")
	f.IntVar(&c.objects, "shard-objects", 50_000, "`N` at most N objects in a shard")
	f.StringVar(&c.labels, "labels", "", "`PATTERN` of paths below SOURCE, such as {region}/{day}/*: what braces match are labels, for reduce")
	f.BoolVar(&c.byDay, "by-day", false, "give each object the label day, of its last change in UTC")
	f.StringVar(&c.programs, "programs", "", "`URL` below which programs lie under their build ids, and MIP maps under module-HASH")
	f.Var(&c.after, "after", "`JOB` leave out what that job has; repeatable")
}

// plan makes the plan of a job.
func (c *fleetPlan) plan(env *cli.Env, job *fleet.Job, args []string, progress *cli.Progress) (*fleet.Plan, error) {
	if c.objects < 1 || c.shard < 1 {
		return nil, cli.Usagef("shards need at least one object")
	}
	opt := fleet.PlanOptions{ShardBytes: int64(c.shard), ShardObjects: c.objects, Now: time.Now(), Stores: env.Stores}
	opt.Labels, opt.ByDay, opt.Programs, opt.After = c.labels, c.byDay, c.programs, c.after
	for _, arg := range args {
		name, location, ok := strings.Cut(arg, "=")
		if !ok || strings.ContainsAny(name, "/:.") {
			name, location = "", arg
		}
		opt.Sources = append(opt.Sources, fleet.Source{Name: name, URL: location})
	}
	opt.Progress = func(n int) { progress.Done(int64(n), 0) }
	return fleet.MakePlan(job, opt)
}

func fleetPlanCommand() *cli.Command {
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
				progress := env.StartProgress("objects listed", false)
				p, err := c.plan(env, job, args[1:], progress)
				progress.Stop()
				if err != nil {
					return err
				}
				for _, why := range slices.Sorted(maps.Keys(p.Skipped)) {
					fmt.Fprintf(env.Stderr, "%s passed over: %s\n", cli.Quantity(uint64(p.Skipped[why]), "object", "objects"), why)
				}
				fmt.Fprintf(env.Stdout, "%s, %s, in %s\n", cli.Quantity(uint64(p.Objects), "object", "objects"),
					cli.Size(uint64(p.Bytes)), cli.Quantity(uint64(len(p.Shards)), "shard", "shards"))
				return nil
			}
		},
	}
}

// indexVariables are where schedulers say which task of an array a process is.
var indexVariables = []string{"JOB_COMPLETION_INDEX", "SLURM_ARRAY_TASK_ID", "AWS_BATCH_JOB_ARRAY_INDEX", "CLOUD_RUN_TASK_INDEX"}

// fleetMerge has the options of merges in tasks and reduces.
type fleetMerge struct {
	merging.Run
	scratch string
	adders  adders
}

func (c *fleetMerge) declare(f *cli.Flags) {
	f.StringVar(&c.scratch, "scratch", "", "`DIR` for copies of objects (default that of the system, TMPDIR)")
	f.IntVar(&c.Workers, "j", 0, "`N` read N inputs at the same time (default one per CPU)")
	c.adders.declare(f, true) // without options that need all inputs at once
}

// families returns all families.
func (c *fleetMerge) families(env *cli.Env) fleet.Families {
	c.Run.Open = sources.Options(env)
	if c.scratch == "" {
		c.scratch = os.TempDir()
	}
	all := fleet.Families{FamilyOf: func(name string, data []byte) int {
		i, _, _ := familyOf(name, data)
		return i
	}}
	for i, f := range families {
		all.List = append(all.List, &fleet.Family{Name: string(f.Kinds[0]), Origin: f.Origin, Adder: c.adders.all[i], Run: c.Run})
	}
	return all
}

// fleetTask has the options of tasks.
type fleetTask struct {
	fleetMerge
	quiet bool
}

// run runs the tasks of shards.
func (c *fleetTask) run(env *cli.Env, job *fleet.Job, p *fleet.Plan, shards []int) error {
	t := &fleet.Task{
		Job: job, Stores: env.Stores, Families: c.families(env), Open: sources.Options(env), Scratch: c.scratch, Workers: c.Workers, Now: time.Now,
		Log: func(event any) {
			if c.quiet {
				return
			}
			line, err := json.Marshal(event)
			if err == nil {
				fmt.Fprintf(env.Stderr, "%s\n", line)
			}
		},
	}
	for _, shard := range shards {
		if err := t.Run(p, shard); err != nil {
			return fmt.Errorf("shard %d: %w", shard, err)
		}
	}
	return nil
}

func fleetTaskCommand() *cli.Command {
	return &cli.Command{
		Name:  "task",
		Args:  "JOB [OPTION]...",
		Short: "merge one shard of a job into partial sums",
		Long: `Reads the objects of one shard once and writes a partial sum for each program, kind
of profile and combination of labels, and an account of what was lost. Nothing is
judged yet. The shard is that of --index or of the variable of a scheduler
(` + strings.Join(indexVariables, ", ") + `);
an index beyond the last shard has nothing to do. A shard that is done stays as it
is. For each shard a line of JSON goes to standard error.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := new(fleetTask)
			index, of := -1, 0
			f.IntVar(&index, "index", -1, "`N` index of the shard, from 0 (default that of the scheduler)")
			f.IntVar(&of, "of", 0, "`N` the array has N tasks: do the shards N apart, from the index on")
			c.declare(f)
			return func(ctx context.Context, env *cli.Env, args []string) error {
				if len(args) != 1 {
					return cli.Usagef("want one JOB")
				}
				at, err := taskIndex(env, index)
				if err != nil {
					return err
				}
				if of != 0 && at >= of {
					return cli.Usagef("option --of %d: there is no task %d in it", of, at)
				}
				job, err := fleet.OpenJob(ctx, env.Stores, args[0])
				if err != nil {
					return err
				}
				p, err := job.Plan()
				if err != nil {
					return err
				}
				var shards []int
				for ; at < len(p.Shards); at += of {
					if shards = append(shards, at); of == 0 {
						break
					}
				}
				if shards == nil {
					fmt.Fprintf(env.Stderr, "nothing to do: the plan has %s\n", cli.Quantity(uint64(len(p.Shards)), "shard", "shards"))
				}
				return c.run(env, job, p, shards)
			}
		},
	}
}

// taskIndex returns the index of the task, as the option or a scheduler says.
func taskIndex(env *cli.Env, option int) (int, error) {
	if option >= 0 {
		return option, nil
	}
	for _, name := range indexVariables {
		text := env.Getenv(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return 0, cli.Usagef("%s=%q: want a number from 0 up", name, text)
		}
		return n, nil
	}
	return 0, cli.Usagef("no --index, and none of %s is set", strings.Join(indexVariables, ", "))
}

// fleetReduce has the options of a reduce.
type fleetReduce struct {
	fleetMerge
	per, only cli.List
	weights   cli.List
	ages      string
	days      int
	absent    bool
	wait      durationOption
}

func (c *fleetReduce) declare(f *cli.Flags) {
	f.StringVar(&c.Output, "o", "", "`OUTPUT` file, or a folder with a file for each program if it ends with a slash; may be a URL")
	f.Var(&c.per, "per", "`LABEL` write a file for each value of a label; repeatable")
	f.Var(&c.only, "only", "`PROGRAM` only programs whose binary id begins so; repeatable")
	f.Var(&c.weights, "weight", "`LABEL=VALUE:W` multiply the counts of profiles with a label by W; repeatable")
	f.StringVar(&c.ages, "age-weights", "", "`W,W...` weights of the newest day, the one before …; older days do not count")
	f.IntVar(&c.days, "days", 0, "`N` only the N newest days count")
	f.BoolVar(&c.absent, "missing-shards", false, "count the objects of shards that are not done as lost")
	f.Var(&c.wait, "wait", "`TIME` wait so long until all shards are done, such as 2h")
	c.Loss.Declare(f)
	f.BoolVar(&c.Empty, "allow-empty", false, "write a profile even if no input has any function")
	f.BoolVar(&c.Quiet, "q", false, "print no progress, warnings or summary")
	c.fleetMerge.declare(f)
}

// run reduces jobs.
func (c *fleetReduce) run(ctx context.Context, env *cli.Env, jobs []*fleet.Job) error {
	if c.Output == "" {
		return cli.Usagef("missing option -o OUTPUT")
	}
	if c.Loss.Quarantines() {
		return cli.Usagef("option --quarantine is for merge; --report lists what was left out")
	}
	r := &fleet.Reduce{
		Stores: env.Stores, Jobs: jobs, Families: c.families(env), Run: &c.Run, Scratch: c.scratch,
		Per: c.per, Only: c.only, Days: c.days, Absent: c.absent,
	}
	for _, w := range c.weights {
		label, rest, ok := strings.Cut(w, "=")
		at := strings.LastIndexByte(rest, ':')
		if !ok || at < 0 || !merging.IsWeight(rest[at+1:]) {
			return cli.Usagef("option --weight takes LABEL=VALUE:W with a number W above 0, not %q", w)
		}
		r.Weigh = append(r.Weigh, fleet.Weight{Label: label, Value: rest[:at], Weight: rest[at+1:]})
	}
	if c.ages != "" {
		r.Ages = strings.Split(c.ages, ",")
		if i := slices.IndexFunc(r.Ages, func(w string) bool { return !merging.IsWeight(w) }); i >= 0 {
			return cli.Usagef("option --age-weights takes numbers above 0, such as 8,4,2,1, not %q", r.Ages[i])
		}
	}
	for _, job := range jobs {
		if err := job.Wait(c.wait.Duration); err != nil {
			return err
		}
	}
	return r.Merge(ctx, env)
}

func openJobs(ctx context.Context, env *cli.Env, args []string) (jobs []*fleet.Job, err error) {
	if len(args) == 0 {
		return nil, cli.Usagef("want at least one JOB")
	}
	for _, arg := range args {
		job, err := fleet.OpenJob(ctx, env.Stores, arg)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

func fleetReduceCommand() *cli.Command {
	return &cli.Command{
		Name:  "reduce",
		Args:  "JOB... -o OUTPUT [OPTION]...",
		Short: "add up the partial sums of jobs, and judge the loss",
		Long: `Adds up the partial sums of all shards of each JOB and writes a profile for each
program. The loss budget is judged over all inputs, and the report and the exit codes
are those of merge: 0 if OUTPUT was written, 4 if the loss would exceed the budget, 2
if the command line is wrong, and 1 for any other failure, such as shards that are
not done.

Jobs of several days make a rolling profile, without reading profiles again:

    profuse fleet reduce jobs/2026-11-2? -o app.profdata --age-weights 8,4,2,1`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := new(fleetReduce)
			c.declare(f)
			return func(ctx context.Context, env *cli.Env, args []string) error {
				jobs, err := openJobs(ctx, env, args)
				if err != nil {
					return err
				}
				return c.run(ctx, env, jobs)
			}
		},
	}
}

func fleetRunCommand() *cli.Command {
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
			location := ""
			f.StringVar(&location, "job", "", "`JOB` folder or URL for the plan and the partial sums (default a folder that is removed)")
			plan.declare(f)
			reduce.declare(f)
			return func(ctx context.Context, env *cli.Env, args []string) error {
				if len(args) == 0 {
					return cli.Usagef("want at least one SOURCE")
				}
				if location == "" {
					dir, err := os.MkdirTemp(reduce.scratch, "profuse-fleet-")
					if err != nil {
						return err
					}
					defer os.RemoveAll(dir)
					location = dir
				}
				job, err := fleet.OpenJob(ctx, env.Stores, location)
				if err != nil {
					return err
				}
				p, err := job.Plan()
				if err != nil {
					progress := env.StartProgress("objects listed", reduce.Quiet)
					p, err = plan.plan(env, job, args, progress)
					progress.Stop()
				}
				if err != nil {
					return err
				}
				shards := make([]int, len(p.Shards))
				for i := range shards {
					shards[i] = i
				}
				task := &fleetTask{reduce.fleetMerge, reduce.Quiet}
				if err := task.run(env, job, p, shards); err != nil {
					return err
				}
				return reduce.run(ctx, env, []*fleet.Job{job})
			}
		},
	}
}

func fleetStatusCommand() *cli.Command {
	return &cli.Command{
		Name:  "status",
		Args:  "JOB [OPTION]...",
		Short: "say which shards of a job are done",
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

func fleetGCCommand() *cli.Command {
	return &cli.Command{
		Name:  "gc",
		Args:  "JOB [OPTION]...",
		Short: "delete what tasks that died have left in a job",
		Long: `Deletes partial sums, accounts and lists that neither the plan nor a finished shard
names. The result of reduce does not depend on it.`,
		Setup: func(f *cli.Flags) cli.Action {
			age, dry := durationOption{24 * time.Hour}, false
			f.Var(&age, "age", "`TIME` only what is older: running tasks may name what is younger (default 24h)")
			f.BoolVar(&dry, "n", false, "only count")
			return func(ctx context.Context, env *cli.Env, args []string) error {
				if len(args) != 1 {
					return cli.Usagef("want one JOB")
				}
				job, err := fleet.OpenJob(ctx, env.Stores, args[0])
				if err != nil {
					return err
				}
				c, err := job.Collect(age.Duration, time.Now(), !dry)
				what := "deleted"
				if dry {
					what = "would delete"
				}
				fmt.Fprintf(env.Stdout, "%s %s, %s; %d younger than %s stay\n", what, cli.Quantity(uint64(c.Objects), "object", "objects"),
					cli.Size(uint64(c.Bytes)), c.Young, age.Duration)
				return err
			}
		},
	}
}

func fleetRenderCommand() *cli.Command {
	return &cli.Command{
		Name:  "render",
		Args:  "SCHEDULER JOB -o OUTPUT [OPTION]... [-- REDUCE-OPTION...]",
		Short: "print the definition of a job for " + strings.Join(fleet.Schedulers, ", "),
		Long: `Prints what starts the tasks of a planned JOB, and the reduce after them: a manifest
for Kubernetes or Cloud Run, or a script for Slurm or AWS Batch.`,
		Setup: func(f *cli.Flags) cli.Action {
			d := fleet.Definition{}
			var size, scratch cli.ByteSize = 4 << 30, 0
			f.StringVar(&d.Output, "o", "", "`OUTPUT` of reduce")
			f.StringVar(&d.Name, "name", "profuse-fleet", "`NAME` of the job in the scheduler")
			f.StringVar(&d.Image, "image", "", "`IMAGE` container image with profuse; for all but Slurm")
			f.StringVar(&d.Program, "path", "", "`PATH` of the program (default profuse-fleet, and its own path for Slurm)")
			f.IntVar(&d.Parallelism, "parallelism", 50, "`N` tasks at the same time")
			f.IntVar(&d.CPU, "cpu", 2, "`N` CPUs of a task")
			f.Var(&size, "memory", "`SIZE` memory of a task (default 4GiB)")
			f.Var(&scratch, "scratch-size", "`SIZE` scratch space of a task (default that of the largest shard, and a half)")
			f.IntVar(&d.Minutes, "minutes", 60, "`N` time limit of a task")
			f.IntVar(&d.Attempts, "attempts", 4, "`N` attempts at a task")
			f.StringVar(&d.Account, "account", "", "`NAME` service account, role of AWS, or partition of Slurm")
			return func(ctx context.Context, env *cli.Env, args []string) error {
				if len(args) < 2 || d.Output == "" {
					return cli.Usagef("want SCHEDULER, JOB and -o OUTPUT")
				}
				scheduler := args[0]
				d.Job, d.Reduce = args[1], args[2:]
				job, err := fleet.OpenJob(ctx, env.Stores, d.Job)
				if err != nil {
					return err
				}
				p, err := job.Plan()
				if err != nil {
					return err
				}
				if err := fillDefinition(&d, scheduler, p, int64(size), int64(scratch)); err != nil {
					return err
				}
				text, err := d.Render(scheduler)
				if err != nil {
					return cli.Usagef("%v", err)
				}
				_, err = env.Stdout.Write(text)
				return err
			}
		},
	}
}

// fillDefinition sets what follows from the plan and the scheduler.
func fillDefinition(d *fleet.Definition, scheduler string, p *fleet.Plan, size, scratch int64) error {
	if d.Image == "" && scheduler != "slurm" {
		return cli.Usagef("missing option --image IMAGE")
	}
	if d.CPU < 1 || d.Parallelism < 1 || d.Minutes < 1 || d.Attempts < 1 {
		return cli.Usagef("options --cpu, --parallelism, --minutes and --attempts take numbers from 1 up")
	}
	if d.Program == "" {
		d.Program = "profuse-fleet"
		if scheduler == "slurm" {
			path, err := os.Executable()
			if err != nil {
				return err
			}
			d.Program = path
		}
	}
	if scratch == 0 {
		for _, s := range p.Shards {
			scratch = max(scratch, s.Bytes+s.Bytes/2)
		}
		scratch += 64 << 20
	}
	const mib = 1 << 20
	d.Tasks, d.MemoryMiB, d.ScratchMiB = len(p.Shards), int((size+mib-1)/mib), int((scratch+mib-1)/mib)
	d.Parallelism = min(d.Parallelism, d.Tasks)
	if scheduler == "slurm" && !store.IsURL(d.Job) {
		for _, path := range []*string{&d.Job, &d.Output} { // tasks run in other folders
			if err := absolute(path); err != nil {
				return err
			}
		}
	}
	return nil
}

func absolute(path *string) error {
	if store.IsURL(*path) {
		return nil
	}
	slash := strings.HasSuffix(*path, "/")
	abs, err := filepath.Abs(*path)
	if err != nil {
		return errors.New("the folder of the process is gone")
	}
	if *path = abs; slash {
		*path += "/"
	}
	return nil
}
