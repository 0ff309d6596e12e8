package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/family"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/responsefile"
)

func showCommand() *cli.Command {
	return &cli.Command{
		Name:  "show",
		Args:  "[OPTION]... FILE...",
		Short: "show the contents of a profile",
		Long: `Shows the contents of each FILE: its format, version and the compilers that write
it, how the program was instrumented, functions, counters and the hottest
functions. Takes what "profuse merge" takes. A damaged profile is shown as far
as it can be read. For Machine IR profiles (MIP), and for programs with a map of
them, it shows coverage; for profiles of GraalVM native images (iprof) the hottest
methods, contexts and branches, calls with several types, and locks. For heap
profiles (MemProf) it shows what was allocated, what compilers will treat as cold,
and the largest contexts as trees: the allocating call first, its callers below.
Raw heap profiles need their program for that (--program), which also names the
functions and lines of others.

The exit code is 0 if all files could be read, 1 if not, 2 if the command line
is wrong.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &showRun{}
			f.BoolVar(&c.json, "json", false, "print everything as a JSON array with one object per file")
			f.IntVar(&c.top, "top", 10, "`N` list the N hottest functions")
			f.StringVar(&c.function, "function", "", "`REGEX` list the functions whose name, mangled or not, matches REGEX")
			f.Alias("function", "functions")
			f.BoolVar(&c.counts, "counts", false, "print the counters of those functions, or the blocks of MIP (of all, without --function)")
			c.programs.Declare(f)
			f.Group("LLVM profiles")
			f.BoolVar(&c.cutoffs, "cutoffs", false, "list how many counters make up which share of the total count")
			f.BoolVar(&c.values, "values", false, "print the call targets, sizes and tables seen in those functions")
			for _, known := range families {
				k := known.Show()
				k.Declare(f)
				c.showers = append(c.showers, k)
			}
			f.Group("")
			f.BoolVar(&c.mangled, "mangled", false, "print names as they are in the profile")
			return c.run
		},
	}
}

// showRun is one run of "profuse show".
type showRun struct {
	json     bool
	top      int
	cutoffs  bool
	function string
	counts   bool
	values   bool
	mangled  bool
	programs sources.Programs
	showers  []family.Shower // by family
}

func (c *showRun) run(ctx context.Context, env *cli.Env, args []string) error {
	opt, err := c.check(args)
	if err != nil {
		return err
	}
	args, err = responsefile.Expand(args)
	if err != nil {
		return err
	}
	defer c.programs.Close()
	for _, k := range c.showers {
		if err := k.Open(&c.programs); err != nil {
			return err
		}
		defer k.Close()
	}
	out := bufio.NewWriter(env.Stdout)
	var show factsSink = &factsJSON{w: out}
	if !c.json {
		show = &factsTables{family.Printer{
			Printer: console.Printer{W: out, Term: env.Terminal(env.Stdout), Mangled: c.mangled},
			Cutoffs: c.cutoffs, Counts: c.counts, Values: c.values,
		}}
	}
	failed := false
	note := func(err error) {
		if err != nil {
			failed = true
			out.Flush() // so that the error follows what it is about
			fmt.Fprintf(env.Stderr, "profuse show: %s\n", console.Printable(cli.Message(err)))
		}
	}
	var r inputs.Reader
	defer r.Close()
	for _, arg := range args {
		ins, err := sources.Expand(env, arg)
		if err != nil {
			show.add(factsOfNothing(arg, err))
			note(err)
		}
		for _, in := range ins {
			err := in.Each(&r, func(d *inputs.Data) error {
				note(c.show(show, d, opt))
				return ctx.Err()
			})
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				show.add(factsOfNothing(in.Name, err))
				note(err)
			}
		}
	}
	show.end()
	if err := out.Flush(); err != nil {
		return err
	}
	if failed {
		return cli.ErrReported
	}
	return nil
}

// show shows one file and returns what is wrong with it.
func (c *showRun) show(to factsSink, d *inputs.Data, opt *family.ShowOptions) error {
	at, format := familyOf(d.Name(), d.Bytes())
	f, err := c.showers[at].Facts(d.Name(), d.Bytes(), format, opt)
	to.add(f)
	return err
}

func (c *showRun) check(args []string) (*family.ShowOptions, error) {
	opt := &family.ShowOptions{Top: c.top, Blocks: c.counts}
	if len(args) == 0 {
		return opt, cli.Usagef("no files to show")
	}
	if c.top < 0 {
		return opt, cli.Usagef("option --top takes a number from 0 up")
	}
	if c.function != "" || c.counts || c.values {
		var err error
		if opt.Choose, err = regexp.Compile(c.function); err != nil {
			return opt, cli.Usagef("option --function: %v", err)
		}
	}
	return opt, nil
}

// A factsSink shows the facts of one profile after the other.
type factsSink interface {
	add(f family.Facts)
	end()
}

// factsTables prints facts.
type factsTables struct{ family.Printer }

func (t *factsTables) add(f family.Facts) { f.Print(&t.Printer) }

func (t *factsTables) end() {}

// factsJSON writes facts as one JSON array, without keeping them.
type factsJSON struct {
	w   io.Writer
	any bool
}

func (j *factsJSON) add(f family.Facts) {
	var b bytes.Buffer
	console.WriteJSON(&b, f, "  ")
	lead := "[\n  "
	if j.any {
		lead = ",\n  "
	}
	j.any = true
	fmt.Fprintf(j.w, "%s%s", lead, bytes.TrimRight(b.Bytes(), "\n"))
}

func (j *factsJSON) end() {
	if !j.any {
		fmt.Fprint(j.w, "[")
	}
	fmt.Fprint(j.w, "\n]\n")
}
