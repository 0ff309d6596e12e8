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

type salvageRun struct {
	writer
	names    cli.List // files of --names-from
	output   string
	checksum console.Checksum
	format   cli.Choice
	quiet    bool
}

// run adds up the intact functions of all inputs. It reports an unreadable input and goes on. It
// fails if no function is intact.
func (c *salvageRun) run(ctx context.Context, env *cli.Env, args []string) error {
	c.text = c.format.Value == formatText
	switch {
	case c.output == "":
		return cli.Usagef("missing option -o OUTPUT")
	case len(args) == 0:
		return cli.Usagef("no inputs")
	case !c.text:
		if err := console.RefuseTerminal(env, c.output, "a binary profile", " or --format text"); err != nil {
			return err
		}
	}
	j := newJob(new(merging.Job))
	opt := sources.Options(env)
	opt.Skipped = j.Skipped
	ins, err := inputs.Expand(args, opt)
	if err != nil {
		return err
	}
	names, err := c.siblings(env)
	if err != nil {
		return err
	}
	// Text profiles also list the names of virtual tables and call targets.
	merger := irpgo.NewMerger(irpgo.MergeOptions{KeepSymbols: c.text, Warn: j.warnOfSum})
	var r inputs.Reader
	defer r.Close()
	whole, profiles := 0, 0 // intact functions, profiles read so far
	for _, in := range ins {
		err := in.Each(&r, func(d *inputs.Data) error {
			functions, info, err := c.addProfile(env, merger, d, names)
			if err != nil {
				fmt.Fprintf(env.Stderr, "not salvaged: %s\n", console.Printable(cli.Message(err)))
			} else {
				whole += functions
				j.addKind(profiles, info)
			}
			profiles++
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
		what, err = c.encode(w, merged, j)
		return err
	})
	if err != nil || c.quiet {
		return err
	}
	j.PrintWarnings(env.Stderr)
	fmt.Fprintf(env.Stderr, "salvaged %s → %s (%s)\n", c.contents(merged.Profile()), console.OutputName(c.output), what)
	return nil
}

// siblings reads the profiles of --names-from; nil if there are none. All of them must be readable.
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

// addProfile merges the intact functions of one profile, and prints what it loses of the others.
func (c *salvageRun) addProfile(env *cli.Env, m *irpgo.Merger, d *inputs.Data, names *irpgo.Siblings) (functions int, info *irpgo.Info, err error) {
	r, rep, err := irpgo.Salvage(d.Name(), d.Bytes(), names)
	// Of a truncated file in another format, "truncated" helps more than the format.
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
	return rep.Whole, r.Info, nil
}

func salvagedLine(s *irpgo.Salvaged) string {
	line := fmt.Sprintf("%s of %s intact", cli.Count(s.Whole), cli.Quantity(s.Functions, "function", "functions"))
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
		line += fmt.Sprintf("; value profiles lost: %s", cli.Quantity(s.ValuesLost, "function", "functions"))
	}
	if s.Missing > 0 {
		line += fmt.Sprintf("; %s missing", cli.Quantity(s.Missing, "byte", "bytes"))
	}
	return line
}
