package irpgocmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/family"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/merging"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/irpgo"
)

// The formats of the result.
const (
	formatIndexed     = "indexed"
	formatText        = "text"
	formatMemProfYAML = "memprof-yaml"
	formatHeapYAML    = "yaml"
)

// merge is one run of "profuse merge" of IRPGO and heap profiles.
type merge struct {
	adding
	perBinary     bool
	rescueMode    cli.Choice
	only, without string // functions to keep, to leave out
	remap         string // file
	heaps         heapOptions
}

func (c *merge) Declare(f *cli.Flags) {
	c.adding.declare(f, "`N` version of the indexed format, "+
		fmt.Sprintf("%d to %d, or auto: the newest that every compiler reads which can have made the inputs",
			irpgo.IndexedVersionMinWritten, irpgo.IndexedVersionMax),
		"`PROGRAM` that raw profiles without functions and names (-profile-correlate) are of; may be given again")
	f.BoolVar(&c.perBinary, "per-binary", false, "write a profile for each binary into the folder OUTPUT, named by its binary id")
	c.rescueMode = cli.Choice{Value: rescueDrop, Allowed: []string{rescueDrop, rescueClamp, rescueOff}}
	f.Var(&c.rescueMode, "rescue", "`HOW` single damaged functions of a raw or indexed profile: drop leaves them out, clamp leaves them out "+
		"but replaces absurd counters (above 2^56), off leaves the input out and only warns of absurd counters")
	f.StringVar(&c.only, "function", "", "`REGEX` keep only the functions whose name, mangled or not, matches REGEX")
	f.StringVar(&c.without, "no-function", "", "`REGEX` leave out the functions whose name matches REGEX")
	f.StringVar(&c.remap, "remap", "", "`FILE` give functions other names: a line for each, OLD NEW")
	c.heaps.declare(f)
}

func (c *merge) Results() []family.Result {
	return []family.Result{
		{Name: formatIndexed, Family: formats.IRPGO, Text: false},
		{Name: formatText, Family: formats.IRPGO, Text: true},
		{Name: formatMemProfYAML, Family: formats.MemProf, Text: true},
		{Name: formatHeapYAML, Family: formats.MemProf, Text: true},
	}
}

func (c *merge) Refuses() []string { return nil }

const (
	rescueOff   = "off"
	rescueDrop  = "drop"
	rescueClamp = "clamp"
)

// rescue is what a reader is told.
func (c *merge) rescue() irpgo.Rescue {
	switch c.rescueMode.Value {
	case rescueDrop:
		return irpgo.RescueDrop
	case rescueClamp:
		return irpgo.RescueClamp
	}
	return irpgo.RescueOff
}

func (c *merge) Merge(ctx context.Context, env *cli.Env, r *merging.Run, ins []inputs.Input, common *merging.Report) error {
	if err := r.CheckWeights(); err != nil {
		return err
	}
	var err error
	if c.writer.heaps, err = c.heaps.options(); err != nil {
		return err
	}
	report := newReport(common)
	report.Progress.Expect(int64(len(ins)))
	from, err := c.openReading(merging.NumWorkers(r.Workers), report.mergeWarning)
	if err != nil {
		return err
	}
	defer from.heaps.Close()
	from.rescue = c.rescue()
	opt := irpgo.MergeOptions{AllowMixed: c.mixed, KeepVTableNames: c.keepVTables, KeepSymbols: c.text}
	if opt.Rename, err = c.renaming(); err != nil {
		return err
	}
	keep, err := c.selection()
	if err != nil {
		return err
	}
	if c.perBinary {
		return c.mergePerBinary(ctx, env, r, ins, opt, keep, from, report)
	}
	out, err := console.OpenOutput(env, r.Output, ins)
	if err != nil {
		return err
	}
	defer out.Discard()
	sum, err := addUp(ctx, ins, merging.NumWorkers(r.Workers), from, opt, report)
	report.Progress.Stop()
	if err != nil {
		return err
	}
	var contents, what string
	if keep == nil && !c.sparse && !c.text && !c.heapYAML(r) && report.asksNoFunction() {
		contents, what, err = c.writeSum(env, r, out, sum, report)
	} else {
		contents, what, err = c.writeProfile(env, r, out, sum.Profile(), keep, report)
	}
	if err != nil || r.Quiet {
		return err
	}
	report.PrintLoss(env.Stderr)
	fmt.Fprintf(env.Stderr, "merged %s: %s → %s (%s)\n", report.InputsLine(), contents, console.OutputName(r.Output), what)
	from.heaps.PrintLosses(env.Stderr)
	return nil
}

// writeProfile judges and writes the result, and prints what is to be said of
// it. It returns what it contains and in which format it is.
func (c *merge) writeProfile(env *cli.Env, r *merging.Run, out *console.Output, merged *irpgo.Profile, keep func(name string) bool, report *mergeReport) (contents, what string, err error) {
	report.foundIn(merged)
	if err := report.Judge(env.Stderr); err != nil {
		return "", "", err
	}
	if err := refuseEmpty(r, len(merged.Functions), merged, report); err != nil {
		return "", "", err
	}
	if keep != nil {
		merged.Functions = slices.DeleteFunc(merged.Functions, func(f irpgo.Function) bool { return !keep(f.Name) })
	}
	if c.heapYAML(r) {
		what, err = writeHeapYAML(r, out, merged, report)
	} else {
		what, err = c.write(out, r.Output, merged, report)
	}
	if err != nil || r.Quiet {
		return "", "", err
	}
	report.PrintWarnings(env.Stderr)
	report.printPrograms(env.Stderr, merged)
	return c.contents(merged), what, nil
}

// writeSum is writeProfile for a whole indexed profile of whose functions
// nothing is asked: it need not be built.
func (c *merge) writeSum(env *cli.Env, r *merging.Run, out *console.Output, sum *irpgo.Merged, report *mergeReport) (contents, what string, err error) {
	found := sum.Contents()
	report.Found(found.Functions, nil)
	if err := report.Judge(env.Stderr); err != nil {
		return "", "", err
	}
	if err := refuseEmpty(r, found.Functions, sum.Head(), report); err != nil {
		return "", "", err
	}
	version, what := c.chosenVersion(func() irpgo.VersionChoice { return sum.ChooseVersion(report.infos()) })
	if err = sum.WriteIndexed(out, c.indexedOptions(version, report)); err == nil {
		err = out.Commit()
	}
	if err != nil {
		return "", "", fmt.Errorf("%s is not written: %w", console.OutputName(r.Output), err)
	}
	if r.Quiet {
		return "", "", nil
	}
	report.PrintWarnings(env.Stderr)
	return contentsLine(uint64(found.Functions), 0, uint64(found.Counters), found.Total, sum.Head()), what, nil
}

// refuseEmpty says that a profile without functions is not what was asked for.
func refuseEmpty(r *merging.Run, functions int, p *irpgo.Profile, report *mergeReport) error {
	if functions == 0 && p.MemProf.Empty() && !r.Empty && !report.NeedsNoInput() {
		return fmt.Errorf("no input has any function; nothing is written (--allow-empty writes an empty profile)")
	}
	return nil
}
