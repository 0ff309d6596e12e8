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

// slurm is the scheduler that runs a program without a container.
const slurm = "slurm"

// renderCommand is "profuse fleet render". Its -o is the output of the reduce in the definition.
func renderCommand() *cli.Command {
	return &cli.Command{
		Name:  "render",
		Args:  "SCHEDULER JOB -o OUTPUT [OPTION]... [-- REDUCE-OPTION...]",
		Short: "print the definition of a job for " + cli.AnyOf(fleet.Schedulers),
		Long: `Prints a manifest or a script for SCHEDULER that starts the tasks of a planned JOB
and then its reduce.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &renderRun{memory: 4 << 30}
			f.StringVar(&c.Output, "o", "", "`OUTPUT` output of reduce")
			f.StringVar(&c.Name, "name", "", "`NAME` name of the job in the scheduler (default profuse- and the last word of JOB)")
			f.StringVar(&c.Image, "image", "", "`IMAGE` container image with profuse; for all but Slurm")
			f.StringVar(&c.Program, "path", "", "`PATH` path of the program (default profuse-fleet, and its own path for Slurm)")
			f.IntVar(&c.Tasks, "tasks", 1000, "`N` at most N tasks; if there are more shards, each task merges several")
			f.IntVar(&c.Parallelism, "parallelism", 50, "`N` tasks at the same time")
			f.IntVar(&c.CPU, "cpu", 2, "`N` CPUs of a task")
			f.Var(&c.memory, "memory", "`SIZE` memory of a task (default 4GiB)")
			f.Var(&c.scratch, "scratch-size", "`SIZE` scratch space of a task (default 1.5 times the largest shard)")
			f.IntVar(&c.Minutes, "minutes", 60, "`N` time limit of a task")
			f.IntVar(&c.Attempts, "attempts", 4, "`N` attempts at a task")
			f.StringVar(&c.Account, "account", "", "`NAME` service account, role of AWS, or partition of Slurm")
			return c.run
		},
	}
}

type renderRun struct {
	fleet.Definition
	scheduler       string
	memory, scratch cli.ByteSize // of a task
}

func (c *renderRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if len(args) < 2 || c.Output == "" {
		return cli.Usagef("want SCHEDULER, JOB and -o OUTPUT")
	}
	c.scheduler, c.Job, c.Reduce = args[0], args[1], args[2:]
	job, err := fleet.OpenJob(ctx, env.Stores, c.Job)
	if err != nil {
		return err
	}
	p, err := job.Plan()
	if err != nil {
		return err
	}
	if err := c.complete(p); err != nil {
		return err
	}
	text, err := c.Render(c.scheduler)
	if err != nil {
		return cli.Usagef("%v", err)
	}
	// The nodes of Slurm usually share file systems, containers do not.
	if c.scheduler != slurm && !store.IsURL(c.Job) {
		fmt.Fprintf(env.Stderr, "%s is a folder: mount it in the containers, under the same path\n", console.Printable(c.Job))
	}
	_, err = env.Stdout.Write(text)
	return err
}

// complete sets the fields that follow from the plan and the scheduler, and makes locations absolute, because
// tasks run in other folders.
func (c *renderRun) complete(p *fleet.Plan) error {
	d := &c.Definition
	if d.Image == "" && c.scheduler != slurm {
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
		// Slurm runs the program of a shared file system, not of an image.
		if c.scheduler == slurm {
			path, err := os.Executable()
			if err != nil {
				return err
			}
			d.Program = path
		}
	}
	// A task has copies of its objects, and its partial sums; 64 MiB are for small shards.
	scratch := int64(c.scratch)
	if scratch == 0 {
		for _, s := range p.Shards {
			scratch = max(scratch, s.Bytes+s.Bytes/2)
		}
		scratch += 64 << 20
	}
	const mib = 1 << 20
	if len(p.Shards) > d.Tasks {
		d.Options = append(d.Options, "--of", strconv.Itoa(d.Tasks))
	}
	d.Tasks, d.MemoryMiB, d.ScratchMiB = min(d.Tasks, len(p.Shards)), int((c.memory+mib-1)/mib), int((scratch+mib-1)/mib)
	d.Parallelism = min(d.Parallelism, d.Tasks)
	for _, path := range []*string{&d.Job, &d.Output} {
		var err error
		if *path, err = store.Absolute(*path); err != nil {
			return err
		}
	}
	return nil
}

// notInName matches what a scheduler may not accept in the name of a job.
var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// defaultName makes the name in the scheduler from the location of a job: "profuse-" and at most 40 characters
// of its last word. For example s3://bucket/jobs/Monday_1/ gives profuse-monday-1.
func defaultName(job string) string {
	job = strings.Trim(store.Shown(job), "/")
	name := notInName.ReplaceAllString(strings.ToLower(job[strings.LastIndexByte(job, '/')+1:]), "-")
	const most = 40
	return strings.Trim("profuse-"+name[:min(len(name), most)], "-")
}
