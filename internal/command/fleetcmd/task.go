package fleetcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/profuse-pgo/profuse/internal/command/families"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/fleet"
)

// indexVariables have the index of a task, from 0, in Kubernetes, Slurm, AWS Batch and Cloud Run.
var indexVariables = []string{"JOB_COMPLETION_INDEX", "SLURM_ARRAY_TASK_ID", "AWS_BATCH_JOB_ARRAY_INDEX", "CLOUD_RUN_TASK_INDEX"}

type mergeOptions struct {
	options merging.Options // the options that all families share
	adders  families.Adders // the options of each family
	scratch string          // folder for copies of objects
}

func (c *mergeOptions) declare(f *cli.Flags) {
	f.StringVar(&c.scratch, "scratch", "", "`DIR` folder for copies of objects (default TMPDIR, or else the system's folder for temporary files)")
	f.IntVar(&c.options.Workers, "j", 0, "`N` read N inputs at the same time (default one per CPU)")
	c.adders.Declare(f, true) // without options that need all inputs at once
}

// families returns the families for tasks and reduces, in the order of families.All.
func (c *mergeOptions) families(env *cli.Env) fleet.Families {
	c.options.Open = sources.Options(env)
	if c.scratch == "" {
		c.scratch = os.TempDir()
	}
	// The merge of the first family refuses an object of unknown format with a reason.
	all := fleet.Families{FamilyOf: func(name string, data []byte) int {
		i, _, _ := families.Of(name, data)
		return i
	}}
	for i, f := range families.All {
		all.List = append(all.List, &fleet.Family{Name: string(f.Kinds[0]), Origin: f.Origin, Adder: c.adders.List[i], Options: c.options})
	}
	return all
}

type taskRun struct {
	mergeOptions
	noPrograms bool // a profile without its program counts as lost
	index      int  // of the task; -1 for the variable of a scheduler
	numTasks   int  // the task merges every numTasks-th shard; 0 for one shard
}

const missingProgramsUsage = "count profiles as lost if they need their program and it is missing"

// mergeShards merges the shards of the task one after the other, up to the first failure. ended and warn get the events of
// the log.
func (c *taskRun) mergeShards(env *cli.Env, job *fleet.Job, p *fleet.Plan, ended func(fleet.ShardEnded), warn func(text string)) error {
	t := &fleet.Task{
		Job: job, Stores: env.Stores, Families: c.families(env), Open: sources.Options(env), Scratch: c.scratch, Workers: c.options.Workers, Now: time.Now,
		NoPrograms: c.noPrograms, Ended: ended, Warn: warn,
	}
	for shard := c.index; shard < len(p.Shards); shard += c.numTasks {
		if err := t.Run(p, shard); err != nil {
			return fmt.Errorf("shard %d: %w", shard, err)
		}
		if c.numTasks == 0 {
			break
		}
	}
	return nil
}

func taskCommand() *cli.Command {
	return &cli.Command{
		Name:  "task",
		Args:  "JOB [OPTION]...",
		Short: "merge one shard of a job into partial sums",
		Long: `Reads the objects of one shard once and writes a partial sum for each program, kind
of profile and combination of labels, and an account of its losses, which
reduce judges. The shard is that of --index or of the variable of a scheduler
(` + strings.Join(indexVariables, ", ") + `);
an index beyond the last shard has nothing to do. A finished shard does not change.
For each shard, task prints a line of JSON to standard error.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := new(taskRun)
			f.IntVar(&c.index, "index", -1, "`N` index of the shard, from 0, or -1 for the variable of the scheduler")
			f.IntVar(&c.numTasks, "of", 0, "`N` the array has N tasks: merge every Nth shard, from the index on")
			f.BoolVar(&c.noPrograms, "missing-programs", false, missingProgramsUsage)
			c.declare(f)
			return c.run
		},
	}
}

// run merges the shards of the task. Its log has an object of JSON on each line of standard error.
func (c *taskRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("want one JOB")
	}
	index, err := taskIndex(env, c.index)
	if err != nil {
		return err
	}
	if c.numTasks != 0 && index >= c.numTasks {
		return cli.Usagef("option --of %d: there is no task %d in it", c.numTasks, index)
	}
	job, err := fleet.OpenJob(ctx, env.Stores, args[0])
	if err != nil {
		return err
	}
	p, err := job.Plan()
	if err != nil {
		return err
	}
	if index >= len(p.Shards) {
		fmt.Fprintf(env.Stderr, "nothing to do: the plan has %s\n", cli.Quantity(len(p.Shards), "shard", "shards"))
	}
	log := func(event any) {
		line, _ := json.Marshal(event) // plain values
		fmt.Fprintf(env.Stderr, "%s\n", line)
	}
	c.index = index
	return c.mergeShards(env, job, p, func(e fleet.ShardEnded) { log(e) }, func(text string) {
		log(map[string]string{"event": "warning", "message": text})
	})
}

// taskIndex returns the index of the task: the value of the option, or of the first variable that is set.
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
