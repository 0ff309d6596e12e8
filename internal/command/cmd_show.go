package command

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/families"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/packing"
	"github.com/profuse-pgo/profuse/internal/files/responsefile"
)

// showCommand is "profuse show". Each family collects and prints its own facts. docs/schema/show.schema.json
// describes the JSON.
func showCommand() *cli.Command {
	return &cli.Command{
		Name:  "show",
		Args:  "[OPTION]... FILE...",
		Short: "show the contents of a profile",
		Long: `Shows the contents of each FILE, in any format that "profuse merge" takes: format,
version, the compilers that write it, the kind of instrumentation, and totals. It
shows a damaged profile up to the damage. What follows depends on the format:

` + shownOfFamilies() + `
--program also adds functions and source lines where the profile has addresses.

The exit code is 0 if all files could be read, 1 if not, and 2 if the command line
is wrong.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &showRun{}
			f.BoolVar(&c.json, "json", false, "print a JSON array with one object per file")
			f.IntVar(&c.top, "top", 10, "`N` list the N hottest functions")
			f.StringVar(&c.function, "function", "", "`REGEX` list functions whose mangled or demangled name matches REGEX")
			f.Alias("function", "functions")
			f.BoolVar(&c.counts, "counts", false, "print the counters, or the blocks of MIP, of the functions selected, or all")
			c.programs.Declare(f)
			f.Group("LLVM profiles")
			f.BoolVar(&c.cutoffs, "cutoffs", false, "list how many counters make up each share of the total count")
			f.BoolVar(&c.values, "values", false, "print the call targets, sizes and virtual tables of the functions selected, or all")
			for _, known := range families.All {
				k := known.Show()
				k.Declare(f)
				c.showers = append(c.showers, k)
			}
			f.Group("")
			f.BoolVar(&c.mangled, "mangled", false, "print mangled names")
			return c.run
		},
	}
}

func shownOfFamilies() string {
	var rows [][2]string
	for _, f := range families.All {
		rows = append(rows, f.Help.Show...)
	}
	return cli.Rows(rows)
}

type showRun struct {
	json     bool
	top      int    // hottest functions of each file
	function string // functions to list in full
	counts   bool   // print their counters
	values   bool   // print their values
	cutoffs  bool
	mangled  bool
	programs sources.Programs
	showers  []family.Shower // in the order of families.All
}

// run shows one file after the other, so that memory does not grow with their number. If a file cannot be
// read, the command shows the others and fails at the end.
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
	c.programs.Inputs = sources.Options(env)
	for _, k := range c.showers {
		if err := k.Open(&c.programs); err != nil {
			return err
		}
	}
	out := bufio.NewWriter(env.Stdout)
	list := &factsJSON{w: out}
	// The printer separates the files, so all share one.
	printer := &family.Printer{
		Printer: console.Printer{W: out, Term: env.Terminal(env.Stdout), Mangled: c.mangled},
		Cutoffs: c.cutoffs, Counts: c.counts, Values: c.values,
	}
	failed := false
	// show prints the facts as far as they go, then the error.
	show := func(f family.Facts, err error) {
		if c.json {
			list.add(f)
		} else {
			f.Print(printer)
		}
		if err != nil {
			failed = true
			out.Flush() // so that the error follows its facts
			fmt.Fprintf(env.Stderr, "profuse show: %s\n", console.Printable(cli.Message(err)))
		}
	}
	err = sources.Each(ctx, env, args, func(d *inputs.Data) error {
		name, data := d.Name(), d.Bytes()
		printer.Packed.Program, printer.Packed.BuildID = d.Program, d.BuildID
		index, format, err := families.Of(name, data)
		if err != nil {
			show(families.UnreadableFacts(name, len(data), err), err)
			return nil
		}
		facts, err := c.showers[index].Facts(name, data, format, opt)
		// The origin that a pack records is not in the bytes of the profile.
		if head, ok := facts.(interface{ SetPacked(packing.Origin) }); ok && printer.Packed != (packing.Origin{}) {
			head.SetPacked(printer.Packed)
		}
		show(facts, err)
		return nil
	}, func(name string, err error) {
		printer.Packed = packing.Origin{}
		show(families.UnreadableFacts(name, 0, err), err)
	})
	if err != nil {
		return err
	}
	if c.json {
		list.end()
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if failed {
		return cli.ErrReported
	}
	return nil
}

// check checks the command line. --counts and --values without --function choose all functions.
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
		opt.Choose, err = console.Pattern("function", c.function)
		return opt, err
	}
	return opt, nil
}

// factsJSON writes facts as one JSON array, without keeping them.
type factsJSON struct {
	w   io.Writer
	any bool
}

// add writes one object, indented as an element of the array.
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

// end closes the array, which is empty if there were no files.
func (j *factsJSON) end() {
	if !j.any {
		fmt.Fprint(j.w, "[")
	}
	fmt.Fprint(j.w, "\n]\n")
}
