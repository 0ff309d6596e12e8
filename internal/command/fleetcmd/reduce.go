package fleetcmd

import (
	"context"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/fleet"
)

// reduceRun is one run of "profuse fleet reduce", whose options "profuse fleet run" has as well. See [fleet.Reduce].
type reduceRun struct {
	mergeOptions
	per, only cli.List
	weights   cli.List
	ages      string
	days      int
	absent    bool
	wait      cli.Duration // until all shards are done
}

func (c *reduceRun) declare(f *cli.Flags) {
	f.StringVar(&c.options.Output, "o", "", "`OUTPUT` file, or a folder with a file for each program if it ends with a slash; may be a URL")
	f.Var(&c.per, "per", "`LABEL` write a file for each value of a label; repeatable")
	f.Var(&c.only, "only", "`PROGRAM` write only PROGRAM: a binary id or its beginning, with .ir or another kind after it if needed; repeatable")
	f.Var(&c.weights, "weight", "`LABEL=VALUE:W` multiply the counts of profiles with a label by W, in addition to --age-weights; repeatable")
	f.StringVar(&c.ages, "age-weights", "", "`W,W...` weights of the newest day, the one before …; older days do not count")
	f.IntVar(&c.days, "days", 0, "`N` only the N newest days count")
	f.BoolVar(&c.absent, "missing-shards", false, "count the objects of shards that are not done as lost")
	f.Var(&c.wait, "wait", "`TIME` wait up to TIME until all shards are done, such as 2h")
	c.options.Loss.Declare(f, true)
	f.BoolVar(&c.options.Empty, "allow-empty", false, "write a profile even if no input has any function")
	f.BoolVar(&c.options.Quiet, "q", false, "print no progress, warnings or summary")
	c.mergeOptions.declare(f)
}

// reduce checks the options, waits until the jobs are done (--wait) and reduces them.
func (c *reduceRun) reduce(ctx context.Context, env *cli.Env, jobs []*fleet.Job) error {
	if c.options.Output == "" {
		return cli.Usagef("missing option -o OUTPUT")
	}
	if c.days < 0 {
		return cli.Usagef("option --days takes a number from 1 up")
	}
	r := &fleet.Reduce{
		Jobs: jobs, Families: c.families(env), Options: &c.options, Scratch: c.scratch,
		Per: c.per, Only: c.only, Days: c.days, Absent: c.absent,
	}
	for _, w := range c.weights {
		label, rest, ok := strings.Cut(w, "=")
		colon := strings.LastIndexByte(rest, ':')
		if !ok || colon < 0 || !merging.IsWeight(rest[colon+1:]) {
			return cli.Usagef("option --weight takes LABEL=VALUE:W with a number W above 0, not %q", w)
		}
		r.Weigh = append(r.Weigh, fleet.Weight{Label: label, Value: rest[:colon], Weight: rest[colon+1:]})
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
			c := new(reduceRun)
			c.declare(f)
			return c.run
		},
	}
}

func (c *reduceRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if len(args) == 0 {
		return cli.Usagef("want at least one JOB")
	}
	var jobs []*fleet.Job
	for _, arg := range args {
		job, err := fleet.OpenJob(ctx, env.Stores, arg)
		if err != nil {
			return err
		}
		jobs = append(jobs, job)
	}
	return c.reduce(ctx, env, jobs)
}
