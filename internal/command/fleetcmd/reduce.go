package fleetcmd

import (
	"context"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/fleet"
)

// fleetReduce has the options of a reduce. Its Run has the loss budget, which is judged here over
// all tasks and not in any of them.
type fleetReduce struct {
	fleetMerge
	// per are labels whose values have a file each; only are the programs to write, by their ids.
	per, only cli.List
	// weights, ages and days all change how much a profile counts: weights by any label, ages by
	// the label "day", the newest first, and days leaves out older ones.
	weights cli.List
	ages    string
	days    int
	// absent takes shards that are not done for lost, after waiting for them.
	absent bool
	wait   cli.Duration
}

// declare declares the options of reduce. Those of merge that need all inputs at once are not among
// them.
func (c *fleetReduce) declare(f *cli.Flags) {
	f.StringVar(&c.Output, "o", "", "`OUTPUT` file, or a folder with a file for each program if it ends with a slash; may be a URL")
	f.Var(&c.per, "per", "`LABEL` write a file for each value of a label; repeatable")
	f.Var(&c.only, "only", "`PROGRAM` write only PROGRAM: a binary id or its beginning, with .ir or another kind after it if needed; repeatable")
	f.Var(&c.weights, "weight", "`LABEL=VALUE:W` multiply the counts of profiles with a label by W, in addition to --age-weights; repeatable")
	f.StringVar(&c.ages, "age-weights", "", "`W,W...` weights of the newest day, the one before …; older days do not count")
	f.IntVar(&c.days, "days", 0, "`N` only the N newest days count")
	f.BoolVar(&c.absent, "missing-shards", false, "count the objects of shards that are not done as lost")
	f.Var(&c.wait, "wait", "`TIME` wait up to TIME until all shards are done, such as 2h")
	c.Loss.Declare(f, true)
	f.BoolVar(&c.Empty, "allow-empty", false, "write a profile even if no input has any function")
	f.BoolVar(&c.Quiet, "q", false, "print no progress, warnings or summary")
	c.fleetMerge.declare(f)
}

// run checks the options, waits until the jobs are done (--wait) and reduces them.
func (c *fleetReduce) run(ctx context.Context, env *cli.Env, jobs []*fleet.Job) error {
	if c.Output == "" {
		return cli.Usagef("missing option -o OUTPUT")
	}
	if c.days < 0 {
		return cli.Usagef("option --days takes a number from 1 up")
	}
	r := &fleet.Reduce{
		Jobs: jobs, Families: c.families(env), Run: &c.Options, Scratch: c.scratch,
		Per: c.per, Only: c.only, Days: c.days, Absent: c.absent,
	}
	for _, w := range c.weights {
		label, rest, ok := strings.Cut(w, "=")
		// The value of a label may have colons, a weight has none.
		at := strings.LastIndexByte(rest, ':')
		if !ok || at < 0 || !merging.IsWeight(rest[at+1:]) {
			return cli.Usagef("option --weight takes LABEL=VALUE:W with a number W above 0, not %q", w)
		}
		r.Weigh = append(r.Weigh, fleet.Weight{Label: label, Value: rest[:at], Weight: rest[at+1:]})
	}
	if c.ages != "" {
		// Weights stay texts: the merge turns all of them into whole numbers over one denominator.
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

// openJobs opens the jobs that the arguments name, at least one.
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

// reduceCommand is "profuse fleet reduce".
func reduceCommand() *cli.Command {
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
