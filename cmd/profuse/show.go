package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/inputs"
	"github.com/profuse-pgo/profuse/memprof"
)

func showCommand() *cli.Command {
	return &cli.Command{
		Name:  "show",
		Args:  "[OPTION]... FILE...",
		Short: "tell what is in a profile",
		Long: `Tells what each FILE is and what is in it: format and version and which compilers
write them, how the program was instrumented, functions, counters, the hottest
functions. Takes what "profuse merge" takes. A damaged profile is shown as far
as it can be read. Of Machine IR profiles (MIP), and of programs with a map for
them, it tells what was covered; of profiles of GraalVM native images (iprof) the
hottest methods, contexts and branches, calls with several types, and locks. Of
heap profiles (MemProf) it tells what was allocated, what compilers will take for
cold, and the largest contexts as trees: the call that allocates first, its
callers below. Raw ones need their program for that (--profiled-binary), with
which the functions of others have names and lines, too.

The exit code is 0 if all files could be read, 1 if not, 2 if the command line
is wrong.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &showRun{by: cli.Choice{Value: byBytes, Allowed: append(rankings, byAll)}}
			f.BoolVar(&c.json, "json", false, "print everything as a JSON array with one object per file")
			f.IntVar(&c.top, "top", 10, "`N` list the N hottest functions")
			f.BoolVar(&c.cutoffs, "cutoffs", false, "list how many counters make up which share of the total count")
			f.StringVar(&c.functions, "functions", "", "`REGEX` list the functions whose name, mangled or not, matches REGEX")
			f.BoolVar(&c.counts, "counts", false, "print the counters of those functions, or the blocks of MIP (of all, without --functions)")
			f.BoolVar(&c.values, "values", false, "print the call targets, sizes and tables seen in those functions")
			f.Var(&c.by, "by", "`WHAT` list contexts of heap profiles by bytes, count, lifetime (average), density (of accesses, average) or all (default bytes)")
			declareProfiledBinary(f, &c.binaries)
			f.BoolVar(&c.mangled, "mangled", false, "print names as they are in the profile")
			return c.run
		},
	}
}

// showRun is one run of "profuse show".
type showRun struct {
	json      bool
	top       int
	cutoffs   bool
	functions string
	counts    bool
	values    bool
	mangled   bool
	by        cli.Choice
	binaries  cli.List

	programs *memprof.Binaries
}

func (c *showRun) run(ctx context.Context, env *cli.Env, args []string) error {
	opt, err := c.check(args)
	if err != nil {
		return err
	}
	args, err = inputs.ExpandResponse(args)
	if err != nil {
		return err
	}
	if c.programs, err = memprof.OpenBinaries(c.binaries, memprof.BinaryOptions{}); err != nil {
		return err
	}
	defer c.programs.Close()
	out := bufio.NewWriter(env.Stdout)
	show := c.tables(env, out)
	if c.json {
		show = &factsJSON{w: out}
	}
	failed := false
	note := func(err error) {
		if err != nil {
			failed = true
			out.Flush() // so that the error follows what it is about
			fmt.Fprintf(env.Stderr, "profuse show: %s\n", printable(cli.Message(err)))
		}
	}
	var r inputs.Reader
	defer r.Close()
	for _, arg := range bundleFiles(args) {
		ins, err := inputs.Expand([]string{arg}, inputs.Options{Stdin: env.Stdin})
		if err != nil {
			show.add(unreadable(arg, err))
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
				show.add(unreadable(in.Name, err))
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
func (c *showRun) show(to factsSink, d *inputs.Data, opt factsOptions) error {
	opt.heap = heapFactsOptions{top: opt.top, binaries: c.programs, named: len(c.binaries) > 0}
	if c.functions != "" {
		opt.heap.choose = opt.choose
	}
	f, _ := formats.Detect(d.Bytes())
	if f.Family() == formats.MemProf {
		facts, err := collectMemProfFacts(d.Name(), d.Bytes(), f, opt.heap)
		to.addMemProf(facts)
		return err
	}
	if f.Family() == formats.MIP {
		facts, err := collectMIPFacts(d.Name(), d.Bytes(), mipFactsOptions{top: opt.top, choose: opt.choose, blocks: c.counts})
		to.addMIP(facts)
		return err
	}
	if isIprof(d.Name(), d.Bytes()) {
		facts, err := collectIprofFacts(d.Name(), d.Bytes(), opt.top, opt.choose)
		to.addIprof(facts)
		return err
	}
	facts, err := collectFacts(d.Name(), d.Bytes(), opt)
	to.add(facts)
	return err
}

func (c *showRun) check(args []string) (factsOptions, error) {
	opt := factsOptions{top: c.top}
	if len(args) == 0 {
		return opt, cli.Usagef("no files to show")
	}
	if c.top < 0 {
		return opt, cli.Usagef("option --top takes a number from 0 up")
	}
	if c.functions != "" || c.counts || c.values {
		var err error
		if opt.choose, err = regexp.Compile(c.functions); err != nil {
			return opt, cli.Usagef("option --functions: %v", err)
		}
	}
	return opt, nil
}

// A factsSink shows the facts of one profile after the other.
type factsSink interface {
	add(*facts)
	addMIP(*mipFacts)
	addIprof(*iprofFacts)
	addMemProf(*memprofFacts)
	end()
}

func (c *showRun) tables(env *cli.Env, w io.Writer) factsSink {
	return &factsPrinter{
		printer: printer{w: w, term: env.Terminal(env.Stdout), mangled: c.mangled},
		cutoffs: c.cutoffs, counts: c.counts, values: c.values, by: c.by.Value,
	}
}

// factsJSON writes facts as one JSON array, without keeping them.
type factsJSON struct {
	w   io.Writer
	any bool
}

func (j *factsJSON) add(f *facts)           { j.value(f) }
func (j *factsJSON) addMIP(f *mipFacts)     { j.value(f) }
func (j *factsJSON) addIprof(f *iprofFacts) { j.value(f) }

func (j *factsJSON) addMemProf(f *memprofFacts) { j.value(f) }

func (j *factsJSON) value(f any) {
	var b bytes.Buffer
	writeJSON(&b, f, "  ")
	lead := "[\n  "
	if j.any {
		lead = ",\n  "
	}
	j.any = true
	fmt.Fprintf(j.w, "%s%s", lead, bytes.TrimRight(b.Bytes(), "\n"))
}

// writeJSON writes facts, indented by prefix from the second line on.
func writeJSON(b *bytes.Buffer, facts any, prefix string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	if err := enc.Encode(facts); err != nil {
		panic("facts as JSON: " + err.Error()) // they are plain values
	}
}

func (j *factsJSON) end() {
	if !j.any {
		fmt.Fprint(j.w, "[")
	}
	fmt.Fprint(j.w, "\n]\n")
}
