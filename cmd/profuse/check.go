package main

import (
	"bufio"
	"context"
	"encoding/json"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/family"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/responsefile"
)

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:  "check",
		Args:  "[OPTION]... FILE...",
		Short: "tell whether profiles are sound",
		Long: `Reads each FILE from end to end, as strictly as possible, and prints a line for it
and one for everything that is wrong. Takes what "profuse merge" takes, folders
and archives included. A remark is something that sound profiles seldom have.

With --against the one FILE is also judged by the last profile that was good: a
pipeline stops here before it ships one of too few runs. Of what formats they
are does not matter.

The exit code is 0 if all files are sound and no limit is broken, 1 if not, 2 if
the command line is wrong.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &checkRun{}
			f.BoolVar(&c.json, "json", false, "print the findings as a JSON array with one object per file, and with --against the verdict in the object")
			f.BoolVar(&c.markdown, "markdown", false, "with --against: print the verdict as Markdown, for a comment on a change")
			f.BoolVar(&c.quiet, "q", false, "print nothing of files that are sound")
			c.programs.Declare(f)
			c.programs.DeclareClasses(f)
			for _, known := range families {
				c.checkers = append(c.checkers, known.Check())
			}
			c.gate.flags(f)
			return c.run
		},
	}
}

// checkRun is one run of "profuse check".
type checkRun struct {
	json     bool
	quiet    bool
	markdown bool
	gate     gate
	programs sources.Programs
	checkers []family.Checker // by family
}

func (c *checkRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if len(args) == 0 {
		return cli.Usagef("no files to check")
	}
	var verdict *judgement
	if c.gate.base != "" {
		if len(args) != 1 {
			return cli.Usagef("--against judges one profile, not %d", len(args))
		}
		if c.json && c.markdown {
			return cli.Usagef("options --json and --markdown exclude each other")
		}
		var err error
		c.gate.programs = &c.programs
		if verdict, err = c.gate.judge(env, args[0]); err != nil {
			return err
		}
	} else if name := c.gate.idle(); name != "" {
		return cli.Usagef("option --%s goes with --against, which is missing: nothing is judged", name)
	}
	args, err := responsefile.Expand(args)
	if err != nil {
		return err
	}
	defer c.programs.Close()
	for _, k := range c.checkers {
		if err := k.Open(env, &c.programs); err != nil {
			return err
		}
		defer k.Close()
	}
	out := bufio.NewWriter(env.Stdout)
	all := []family.Checked{}
	sound := true
	add := func(r family.Checked) {
		r.Sound = len(r.Findings) == 0
		sound = sound && r.Sound
		if verdict != nil && c.json {
			r.Against = verdict.json()
		}
		switch {
		case c.json && (!c.quiet || !r.Sound || r.Against != nil):
			all = append(all, r)
		case c.json || c.markdown && r.Sound:
		case c.quiet && r.Sound:
		default:
			r.Print(&console.Printer{W: out, Term: env.Terminal(env.Stdout)})
		}
	}
	var r inputs.Reader
	defer r.Close()
	for _, arg := range args {
		ins, err := sources.Expand(env, arg)
		if err != nil {
			add(family.Checked{File: arg, Findings: []console.Finding{console.NewFinding(err)}})
		}
		for _, in := range ins {
			err := in.Each(&r, func(d *inputs.Data) error {
				for _, k := range c.checkers {
					if err := k.Admit(d.Name(), d.Bytes()); err != nil {
						return err
					}
				}
				at, format := familyOf(d.Name(), d.Bytes())
				add(c.checkers[at].Check(d.Name(), d.Bytes(), format))
				return ctx.Err()
			})
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				add(family.Checked{File: in.Name, Findings: []console.Finding{console.NewFinding(err)}})
			}
		}
	}
	if c.json {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		if err := enc.Encode(all); err != nil {
			return err
		}
	}
	if verdict != nil {
		switch {
		case c.markdown:
			verdict.markdown(out)
		case !c.json && (!c.quiet || !verdict.passed()):
			verdict.print(out, env)
		}
		sound = sound && verdict.passed()
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if !sound {
		return cli.ErrReported
	}
	return nil
}
