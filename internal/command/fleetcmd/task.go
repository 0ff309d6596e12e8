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

// indexVariables are where schedulers say which task of an array a process is: Kubernetes, Slurm,
// AWS Batch and Cloud Run, counted from 0.
var indexVariables = []string{"JOB_COMPLETION_INDEX", "SLURM_ARRAY_TASK_ID", "AWS_BATCH_JOB_ARRAY_INDEX", "CLOUD_RUN_TASK_INDEX"}

// fleetMerge has the options of merges in tasks and reduces. scratch is the folder for copies of
// objects.
type fleetMerge struct {
	merging.Run
	scratch string
	adders  families.Adders
}

// declare declares the options of all families.All, as "profuse watch" has them.
func (c *fleetMerge) declare(f *cli.Flags) {
	f.StringVar(&c.scratch, "scratch", "", "`DIR` folder for copies of objects (default TMPDIR, or else the system's folder for temporary files)")
	f.IntVar(&c.Workers, "j", 0, "`N` read N inputs at the same time (default one per CPU)")
	c.adders.Declare(f, true) // without options that need all inputs at once
}

// families returns all families with what the tasks need of them, in the order of the variable
// families.
func (c *fleetMerge) families(env *cli.Env) fleet.Families {
	c.Run.Open = sources.Options(env)
	if c.scratch == "" {
		c.scratch = os.TempDir()
	}
	// Objects of no known format belong to the first family, whose merge refuses them with a
	// reason.
	all := fleet.Families{FamilyOf: func(name string, data []byte) int {
		i, _, _ := families.Of(name, data)
		return i
	}}
	for i, f := range families.All {
		all.List = append(all.List, &fleet.Family{Name: string(f.Kinds[0]), Origin: f.Origin, Adder: c.adders.List[i], Run: c.Run})
	}
	return all
}

// fleetTask has the options of tasks. noPrograms lets profiles count as lost that cannot be read
// without a program that nobody has.
type fleetTask struct {
	fleetMerge
	noPrograms bool
}

// missingPrograms describes --missing-programs, of task and run.
const missingPrograms = "count profiles as lost if they need their program and it is missing"

// declare declares the options of task. There are none about what is written: those are for reduce.
func (c *fleetTask) declare(f *cli.Flags) {
	f.BoolVar(&c.noPrograms, "missing-programs", false, missingPrograms)
	c.fleetMerge.declare(f)
}

// run merges shards one after the other, up to the first failure, and passes what it has done and
// warned of.
func (c *fleetTask) run(env *cli.Env, job *fleet.Job, p *fleet.Plan, shards []int, ended func(fleet.ShardEnded), warn func(text string)) error {
	t := &fleet.Task{
		Job: job, Stores: env.Stores, Families: c.families(env), Open: sources.Options(env), Scratch: c.scratch, Workers: c.Workers, Now: time.Now,
		NoPrograms: c.noPrograms, Ended: ended, Warn: warn,
	}
	for _, shard := range shards {
		if err := t.Run(p, shard); err != nil {
			return fmt.Errorf("shard %d: %w", shard, err)
		}
	}
	return nil
}

// taskCommand is "profuse fleet task". Its log is for machines: an object of JSON on each line
// of standard error.
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
			c := new(fleetTask)
			index, of := -1, 0
			f.IntVar(&index, "index", -1, "`N` index of the shard, from 0, or -1 for the variable of the scheduler")
			f.IntVar(&of, "of", 0, "`N` the array has N tasks: merge every Nth shard, from the index on")
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
				// Without --of a task has one shard; with it, every of-th one from its index on.
				var shards []int
				for ; at < len(p.Shards); at += of {
					if shards = append(shards, at); of == 0 {
						break
					}
				}
				if shards == nil {
					fmt.Fprintf(env.Stderr, "nothing to do: the plan has %s\n", cli.Quantity(uint64(len(p.Shards)), "shard", "shards"))
				}
				// A line for each event, which collectors of logs can parse.
				log := func(event any) {
					line, _ := json.Marshal(event) // plain values
					fmt.Fprintf(env.Stderr, "%s\n", line)
				}
				return c.run(env, job, p, shards, func(e fleet.ShardEnded) { log(e) }, func(text string) {
					log(map[string]string{"event": "warning", "message": text})
				})
			}
		},
	}
}

// taskIndex returns the index of the task, as the option or a scheduler says. The first variable
// that is set decides.
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
