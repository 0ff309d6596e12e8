package fleetcmd

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/store"
	"github.com/profuse-pgo/profuse/internal/fleet"
)

// renderCommand is "profuse fleet render", which writes to standard output only: -o is that of
// the reduce in the definition.
func renderCommand() *cli.Command {
	return &cli.Command{
		Name:  "render",
		Args:  "SCHEDULER JOB -o OUTPUT [OPTION]... [-- REDUCE-OPTION...]",
		Short: "print the definition of a job for " + cli.AnyOf(fleet.Schedulers),
		Long: `Prints a manifest or a script for SCHEDULER that starts the tasks of a planned JOB
and then its reduce.`,
		Setup: func(f *cli.Flags) cli.Action {
			// Definition has the options as the templates of the schedulers use them.
			d := fleet.Definition{}
			var size, scratch cli.ByteSize = 4 << 30, 0
			f.StringVar(&d.Output, "o", "", "`OUTPUT` output of reduce")
			f.StringVar(&d.Name, "name", "", "`NAME` name of the job in the scheduler (default profuse- and the last word of JOB)")
			f.StringVar(&d.Image, "image", "", "`IMAGE` container image with profuse; for all but Slurm")
			f.StringVar(&d.Program, "path", "", "`PATH` path of the program (default profuse-fleet, and its own path for Slurm)")
			f.IntVar(&d.Tasks, "tasks", 1000, "`N` at most N tasks; if there are more shards, each task merges several")
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
				// What follows -- are options of the reduce, which are passed on as they are.
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
				// Slurm's nodes share file systems as a rule; containers see a folder only if it is
				// mounted.
				if scheduler != "slurm" && !store.IsURL(d.Job) {
					fmt.Fprintf(env.Stderr, "%s is a folder: mount it in the containers, under the same path\n", console.Printable(d.Job))
				}
				_, err = env.Stdout.Write(text)
				return err
			}
		},
	}
}

// fillDefinition sets what follows from the plan and the scheduler. The program is that of the
// image for containers. Locations become absolute, since tasks run elsewhere.
func fillDefinition(d *fleet.Definition, scheduler string, p *fleet.Plan, size, scratch int64) error {
	if d.Image == "" && scheduler != "slurm" {
		return cli.Usagef("missing option --image IMAGE")
	}
	if min(d.CPU, d.Tasks, d.Parallelism, d.Minutes, d.Attempts) < 1 {
		return cli.Usagef("options --cpu, --tasks, --parallelism, --minutes and --attempts take numbers from 1 up")
	}
	if d.Name == "" {
		d.Name = defaultName(d.Job)
	}
	if d.Program == "" {
		d.Program = "profuse-fleet"
		// Slurm runs the program of a shared file system, the others that of the image.
		if scheduler == "slurm" {
			path, err := os.Executable()
			if err != nil {
				return err
			}
			d.Program = path
		}
	}
	// A task holds the copies of its objects and its partial sums; 64 MiB are for small shards.
	if scratch == 0 {
		for _, s := range p.Shards {
			scratch = max(scratch, s.Bytes+s.Bytes/2)
		}
		scratch += 64 << 20
	}
	// Sizes are rounded up: a limit below what was asked for would end tasks.
	const mib = 1 << 20
	// More shards than tasks: each task merges every Nth shard, see --of.
	if len(p.Shards) > d.Tasks {
		d.Options = append(d.Options, "--of", strconv.Itoa(d.Tasks))
	}
	d.Tasks, d.MemoryMiB, d.ScratchMiB = min(d.Tasks, len(p.Shards)), int((size+mib-1)/mib), int((scratch+mib-1)/mib)
	d.Parallelism = min(d.Parallelism, d.Tasks)
	for _, path := range []*string{&d.Job, &d.Output} { // tasks run in other folders
		var err error
		if *path, err = store.Absolute(*path); err != nil {
			return err
		}
	}
	return nil
}

// notInName matches what names of jobs may not have in any of the schedulers.
var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// defaultName makes a name for a scheduler of the location of a job: "profuse-" and its last word,
// at most 40 characters of it. For example s3://bucket/jobs/Monday_1/ gives profuse-monday-1.
func defaultName(job string) string {
	job = strings.Trim(store.Shown(job), "/")
	name := notInName.ReplaceAllString(strings.ToLower(job[strings.LastIndexByte(job, '/')+1:]), "-")
	const most = 40
	return strings.Trim("profuse-"+name[:min(len(name), most)], "-")
}
