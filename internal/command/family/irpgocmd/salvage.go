package irpgocmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/profile"
)

// SalvageCommand is "profuse salvage".
func SalvageCommand() *cli.Command {
	return &cli.Command{
		Name:  "salvage",
		Args:  "-o OUTPUT [--names-from FILE]... INPUT...",
		Short: "recover the complete functions of truncated raw profiles",
		Long: `Reads truncated IRPGO raw profiles, whose process was killed or whose disk was
full, and writes their complete functions. The counts of these are right, but the
other functions are missing: compilers will optimize the functions in the result by
their counts, and have no data on the rest.

The names of functions are near the end of the file. If they are missing, salvage
takes them from other profiles of the same program (--names-from), raw, indexed or
text. It matches names by hash, and the function must have the same control flow
hash and number of counters in both profiles.

It lists what is lost. The exit code is 0 if a profile was written, 1 if no function
is complete or no file can be read, 2 if the command line is wrong.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &salvageRun{}
			c.format = cli.Choice{Allowed: []string{formatIndexed, formatText}}
			f.StringVar(&c.output, "o", "", "`OUTPUT` file to write; \"-\" is standard output")
			c.checksum.Declare(f)
			f.Var(&c.format, "format", "`FORMAT` "+c.format.Words()+" (default "+formatIndexed+")")
			f.Var(&c.names, "names-from", "`FILE` profile of the same program that has the names; repeatable")
			f.BoolVar(&c.quiet, "q", false, "print nothing but errors")
			return c.run
		},
	}
}

// salvageRun is one run of "profuse salvage". Its names are the files of --names-from.
type salvageRun struct {
	writer
	names    cli.List
	output   string
	checksum console.Checksum
	format   cli.Choice
	quiet    bool
}

// run adds up what is intact in all inputs. An input of which nothing can be read is told and does
// not stop the others; the run fails if no function is left.
func (c *salvageRun) run(ctx context.Context, env *cli.Env, args []string) error {
	c.text = c.format.Value == formatText
	switch {
	case c.output == "":
		return cli.Usagef("missing option -o OUTPUT")
	case len(args) == 0:
		return cli.Usagef("no inputs")
	// Text may go to a terminal.
	case !c.text:
		if err := console.RefuseTerminal(env, c.output, "a binary profile", " or --format text"); err != nil {
			return err
		}
	}
	report := newReport(new(merging.Job))
	opt := sources.Options(env)
	opt.Skipped = report.Skipped
	ins, err := inputs.Expand(args, opt)
	if err != nil {
		return err
	}
	names, err := c.siblings(env)
	if err != nil {
		return err
	}
	// Text lists the names of virtual tables and call targets, too.
	merger := irpgo.NewMerger(irpgo.MergeOptions{KeepSymbols: c.text, Warn: report.mergeWarning})
	var r inputs.Reader
	defer r.Close()
	// whole is the number of intact functions, n that of the profiles read so far.
	whole, n := 0, 0
	for _, in := range ins {
		err := in.Each(&r, func(d *inputs.Data) error {
			// The exit code tells only whether anything was written; each failure is told here.
			functions, info, err := c.add(env, merger, d, names)
			if err != nil {
				fmt.Fprintf(env.Stderr, "not salvaged: %s\n", console.Printable(cli.Message(err)))
			} else {
				whole += functions
				report.merged(n, info)
			}
			n++
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	if whole == 0 {
		return errors.New("no intact function found; nothing written")
	}
	merged := merger.Finish()
	var what string
	err = console.Write(env, c.output, ins, c.checksum, func(w io.Writer) (err error) {
		what, err = c.encode(w, merged, report)
		return err
	})
	if err != nil || c.quiet {
		return err
	}
	report.PrintWarnings(env.Stderr)
	fmt.Fprintf(env.Stderr, "salvaged %s → %s (%s)\n", c.contents(merged.Profile()), console.OutputName(c.output), what)
	return nil
}

// siblings reads the profiles of --names-from, nil if there are none. Unlike inputs, all of them
// must be readable: the user chose them to be.
func (c *salvageRun) siblings(env *cli.Env) (*irpgo.Siblings, error) {
	if len(c.names) == 0 {
		return nil, nil
	}
	ins, err := inputs.Expand(c.names, sources.Options(env))
	if err != nil {
		return nil, err
	}
	all := new(irpgo.Siblings)
	for _, in := range ins {
		err := in.Each(nil, func(d *inputs.Data) error {
			r, err := irpgo.NewReader(d.Name(), d.Bytes(), irpgo.ReaderOptions{})
			if err != nil {
				return err
			}
			return all.Add(r)
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// add merges the intact functions of one profile and reports the others.
func (c *salvageRun) add(env *cli.Env, m *irpgo.Merger, d *inputs.Data, names *irpgo.Siblings) (functions int, info *irpgo.Info, err error) {
	r, rep, err := irpgo.Salvage(d.Name(), d.Bytes(), irpgo.SalvageOptions{Names: names})
	// A truncated file of another format is told as truncated, which helps more.
	if f, _ := formats.Detect(d.Bytes()); err != nil && f != formats.IRPGORaw && profile.ClassOf(err) != profile.ErrTruncated {
		err = formats.WrongFormat(d.Name(), d.Bytes(), "an IRPGO raw profile")
	}
	if err != nil {
		return 0, nil, err
	}
	if _, err := m.Add(r, 1); err != nil {
		return 0, nil, err
	}
	if !c.quiet {
		fmt.Fprintf(env.Stderr, "%s: %s\n", console.Printable(d.Name()), salvagedLine(rep))
	}
	return rep.Whole, r.Info(), nil
}

// salvagedLine says how much of a profile is intact.
func salvagedLine(s *irpgo.Salvaged) string {
	line := fmt.Sprintf("%s of %s intact", cli.Count(uint64(s.Whole)), cli.Quantity(uint64(s.Functions), "function", "functions"))
	lost := cli.Parts(
		cli.Part{N: s.CutRecords, What: "without a data record"},
		cli.Part{N: s.CutCounters, What: "without all their counters"},
		cli.Part{N: s.Nameless, What: "without a name (--names-from)"},
		cli.Part{N: s.Mismatching, What: "different in the profiles with the names"},
		cli.Part{N: s.Damaged, What: "damaged"},
	)
	if len(lost) > 0 {
		line += "; lost: " + strings.Join(lost, ", ")
	}
	if s.ValuesLost > 0 {
		line += fmt.Sprintf("; value profiles lost: %s", cli.Quantity(uint64(s.ValuesLost), "function", "functions"))
	}
	if s.Missing > 0 {
		line += fmt.Sprintf("; %s missing", cli.Quantity(s.Missing, "byte", "bytes"))
	}
	return line
}
