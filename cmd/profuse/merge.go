package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/inputs"
	"github.com/profuse-pgo/profuse/iprof"
	"github.com/profuse-pgo/profuse/irpgo"
)

func mergeCommand() *cli.Command {
	return &cli.Command{
		Name:  "merge",
		Args:  "-o OUTPUT [OPTION]... INPUT...",
		Short: "merge profiles of any version into one the compiler reads",
		Long: `Adds profiles up and writes the sum as the indexed profile that compilers read
(clang -fprofile-use=OUTPUT, rustc -C profile-use=OUTPUT).

An INPUT is a raw, indexed or text profile of any version, a folder of them, a
pattern, "-" for standard input, or @FILE, a file that lists more inputs. Inputs
may be compressed with gzip or zstd and packed with tar.

Heap profiles (MemProf, clang -fmemory-profile) may be among them, raw ones with
the programs that they are of (--profiled-binary), and go into the same OUTPUT,
for clang -fmemory-profile-use=OUTPUT, or alone into YAML.

Machine IR profiles (MIP) are merged into one .mip: the inputs are then raw or
merged ones of one program, and the program itself, or its .mipmap, or a merged
profile, which say what functions it has. Profiles of GraalVM native images
(iprof) are merged into one .iprof, compressed if the OUTPUT ends in .gz or .zst.
The name of the OUTPUT decides which it is, or --format, or else the first INPUT
that is a profile.

Inputs that cannot be used are left out as long as they are within a budget, and
named. A profile that exists already is replaced whole or left as it was.

The exit code is 0 if the profile was written, 4 if more would be lost than the
budget allows, 2 if the command line is wrong, 1 if something else is.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &mergeRun{
				format: cli.Choice{Allowed: []string{formatIndexed, formatText, formatMemProfYAML, formatMIP, formatYAML, formatIprof}},
			}
			f.StringVar(&c.output, "o", "", "`FILE` where to write the result; \"-\" is standard output")
			f.Var(&c.format, "format", "`FORMAT` indexed or text; memprof-yaml, of heap profiles; of a MIP profile mip or yaml; iprof (default indexed, mip or iprof)")
			f.StringVar(&c.version, "indexed-version", "auto", fmt.Sprintf("`N` version of the indexed format, %d to %d, or auto: "+
				"the newest that every compiler reads which can have made the inputs",
				irpgo.IndexedVersionMinWritten, irpgo.IndexedVersionMax))
			f.Var(&c.weighted, "weighted-input", "`W,INPUT` another input, its counts multiplied by W, of iprof also a fraction as 0.5; may be given again")
			f.BoolVar(&c.sparse, "sparse", false, "leave out functions that never ran")
			f.IntVar(&c.workers, "j", 0, "`N` read N inputs at a time (default one per CPU); the result is the same")
			f.BoolVar(&c.perBinary, "per-binary", false, "write a profile for each binary into the folder OUTPUT, named by its binary id")
			c.loss.declare(f)
			c.loss.declareRescue(f)
			f.BoolVar(&c.mixed, "allow-mixed", false, "merge profiles of different kinds of instrumentation too")
			f.BoolVar(&c.empty, "allow-empty", false, "write a profile also if no input has any function")
			f.BoolVar(&c.keepVTables, "keep-vtable-names", false, "keep the names of virtual tables")
			f.BoolVar(&c.quiet, "q", false, "print neither progress nor warnings nor summary")
			f.StringVar(&c.only, "function", "", "`REGEX` keep only the functions whose name, mangled or not, matches REGEX")
			f.StringVar(&c.without, "no-function", "", "`REGEX` leave out the functions whose name matches REGEX")
			f.StringVar(&c.remap, "remap", "", "`FILE` give functions other names: a line for each, OLD NEW")
			f.Var(&c.correlate, "correlate", "`PROGRAM` that raw profiles without functions and names (-profile-correlate) are of; may be given again")
			f.StringVar(&c.arch, "arch", "", "`ARCH` of a program for several architectures, the one that ran; for MIP only")
			c.memprof.declare(f)
			c.iprof.declare(f)
			c.flags = f
			return c.run
		},
	}
}

// The formats of the result.
const (
	formatIndexed     = "indexed"
	formatText        = "text"
	formatMemProfYAML = "memprof-yaml"
	formatMIP         = "mip"
	formatYAML        = "yaml" // of MIP or heap profiles
	formatIprof       = "iprof"
)

// mergeRun is one run of "profuse merge".
type mergeRun struct {
	output      string
	format      cli.Choice
	version     string // "auto" or a number
	weighted    cli.List
	sparse      bool
	workers     int
	loss        lossOptions
	perBinary   bool
	mixed       bool
	empty       bool // may be the result
	keepVTables bool
	quiet       bool
	arch        string
	correlate   cli.List
	only        string // functions to keep
	without     string // functions to leave out
	remap       string
	memprof     memprofMergeOptions
	iprof       iprofMergeOptions
	flags       *cli.Flags

	weights []iprof.Weight // by input
}

func (c *mergeRun) text() bool { return c.format.Value == formatText }

func (c *mergeRun) run(ctx context.Context, env *cli.Env, args []string) error {
	version, err := c.check(env, args)
	if err != nil {
		return err
	}
	progress := env.StartProgress("inputs read", c.quiet)
	defer progress.Stop()
	report := newMergeReport(progress)
	if err := report.start(&c.loss, "merge", c.output); err != nil {
		return err
	}
	return report.finish(c.merge(ctx, env, args, version, report))
}

// merge merges what the arguments name and writes the result.
func (c *mergeRun) merge(ctx context.Context, env *cli.Env, args []string, version uint32, report *mergeReport) error {
	ins, err := c.expand(env, args, report)
	if err != nil {
		return err
	}
	if err := report.apart(ins); err != nil {
		return err
	}
	family := c.family(ins)
	if family != formats.IRPGO && family != formats.MemProf {
		if err := c.refuse(onlyForMemProf, string(family)); err != nil {
			return err
		}
	}
	if family == formats.Iprof {
		return c.runIprof(ctx, env, ins, report)
	}
	if err := c.checkWeights(); err != nil {
		return err
	}
	if err := c.refuse(onlyForIprof, string(family)); err != nil {
		return err
	}
	if family == formats.MIP {
		return c.runMIP(ctx, env, ins, report)
	}
	if c.arch != "" {
		return cli.Usagef("option --arch is for MIP profiles, and these are not")
	}
	if err := c.memprof.check(); err != nil {
		return err
	}
	report.progress.Expect(int64(len(ins)))
	programs, err := c.openPrograms(report.mergeWarning)
	if err != nil {
		return err
	}
	defer programs.heaps.close()
	opt := irpgo.MergeOptions{AllowMixed: c.mixed, KeepVTableNames: c.keepVTables, KeepSymbols: c.text()}
	if opt.Rename, err = c.renaming(); err != nil {
		return err
	}
	keep, err := c.selection()
	if err != nil {
		return err
	}
	if c.perBinary {
		return c.runPerBinary(ctx, env, ins, version, opt, keep, programs, report)
	}
	out, err := openOutput(env, c.output, ins)
	if err != nil {
		return err
	}
	defer out.discard()
	sum, err := addUp(ctx, ins, numWorkers(c.workers), programs, opt, report)
	report.progress.Stop()
	if err != nil {
		return err
	}
	var contents, what string
	if keep == nil && !c.sparse && !c.text() && !c.heapYAML(family) && report.asksNoFunction() {
		contents, what, err = c.writeSum(env, out, sum, version, report)
	} else {
		contents, what, err = c.writeProfile(env, out, sum.Profile(), keep, family, version, report)
	}
	if err != nil || c.quiet {
		return err
	}
	report.printLoss(env.Stderr)
	fmt.Fprintf(env.Stderr, "merged %s: %s → %s (%s)\n", report.inputsLine(), contents, outputName(c.output), what)
	programs.heaps.printLosses(env.Stderr)
	return nil
}

// writeProfile judges and writes the result, and prints what is to be said of
// it. It returns what it contains and in which format it is.
func (c *mergeRun) writeProfile(env *cli.Env, out *output, merged *irpgo.Profile, keep func(name string) bool, family formats.Family, version uint32, report *mergeReport) (contents, what string, err error) {
	report.found(merged)
	if err := report.judge(env.Stderr); err != nil {
		return "", "", err
	}
	if err := c.refuseEmpty(len(merged.Functions), merged, report); err != nil {
		return "", "", err
	}
	if keep != nil {
		merged.Functions = slices.DeleteFunc(merged.Functions, func(f irpgo.Function) bool { return !keep(f.Name) })
	}
	if c.heapYAML(family) {
		what, err = c.writeHeapYAML(out, merged, report)
	} else {
		what, err = c.write(out, merged, version, report)
	}
	if err != nil || c.quiet {
		return "", "", err
	}
	report.printWarnings(env.Stderr)
	report.printPrograms(env.Stderr, merged)
	return c.contents(merged), what, nil
}

// writeSum is writeProfile for a whole indexed profile of whose functions
// nothing is asked: it need not be built.
func (c *mergeRun) writeSum(env *cli.Env, out *output, sum *irpgo.Merged, version uint32, report *mergeReport) (contents, what string, err error) {
	found := sum.Contents()
	report.functions += found.Functions
	if err := report.judge(env.Stderr); err != nil {
		return "", "", err
	}
	if err := c.refuseEmpty(found.Functions, sum.Head(), report); err != nil {
		return "", "", err
	}
	version, what = chosenVersion(version, func() irpgo.VersionChoice { return sum.ChooseVersion(report.infos()) })
	if err = sum.WriteIndexed(out, c.indexedOptions(version, report)); err == nil {
		err = out.commit()
	}
	if err != nil {
		return "", "", fmt.Errorf("%s is not written: %w", outputName(c.output), err)
	}
	if c.quiet {
		return "", "", nil
	}
	report.printWarnings(env.Stderr)
	return contentsLine(uint64(found.Functions), 0, uint64(found.Counters), found.Total, sum.Head()), what, nil
}

// refuseEmpty says that a profile without functions is not what was asked for.
func (c *mergeRun) refuseEmpty(functions int, p *irpgo.Profile, report *mergeReport) error {
	if functions == 0 && p.MemProf.Empty() && !c.empty && !report.budget.everything {
		return fmt.Errorf("no input has any function; nothing is written (--allow-empty writes an empty profile)")
	}
	return nil
}

// numWorkers returns the number of workers that option -j asks for.
func numWorkers(option int) int {
	if option == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return option
}

// check finds what is wrong with the command line itself and returns the
// version asked for, 0 for auto.
func (c *mergeRun) check(env *cli.Env, args []string) (version uint32, err error) {
	switch {
	case c.output == "":
		return 0, cli.Usagef("-o says where to write the result and is missing")
	case len(args) == 0 && len(c.weighted) == 0:
		return 0, cli.Usagef("no inputs")
	case c.workers < 0:
		return 0, cli.Usagef("option -j takes a number from 1 up")
	case !c.text() && !strings.HasSuffix(c.format.Value, formatYAML) && c.format.Value != formatIprof && toTerminal(env, c.output):
		return 0, cli.Usagef("a binary profile is nothing for a terminal; write it to a file, or try --format text, yaml or iprof")
	}
	if c.version == "auto" {
		return 0, nil
	}
	n, err := strconv.ParseUint(c.version, 10, 32)
	if err != nil || n < irpgo.IndexedVersionMinWritten || n > irpgo.IndexedVersionMax {
		return 0, cli.Usagef("option --indexed-version takes auto or %d to %d, not %q",
			irpgo.IndexedVersionMinWritten, irpgo.IndexedVersionMax, c.version)
	}
	if c.text() {
		return 0, cli.Usagef("options --indexed-version and --format text exclude each other")
	}
	return uint32(n), nil
}

// toTerminal reports whether an output would appear on a terminal.
func toTerminal(env *cli.Env, output string) bool {
	if output == "-" {
		return env.Terminal(env.Stdout).Interactive
	}
	if info, err := os.Stat(output); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	f, err := os.Open(output)
	if err != nil {
		return false
	}
	defer f.Close()
	return term.IsTerminal(int(f.Fd()))
}

// expand finds the inputs. Weighted ones come last, as for llvm-profdata: the
// order of the inputs shows in the order of records.
func (c *mergeRun) expand(env *cli.Env, args []string, report *mergeReport) ([]inputs.Input, error) {
	opt := inputs.Options{Stdin: env.Stdin, Skipped: report.skipped}
	args, err := inputs.ExpandResponse(args)
	if err != nil {
		return nil, err
	}
	ins, err := inputs.Expand(bundleFiles(args), opt)
	if err != nil {
		return nil, err
	}
	c.weights = make([]iprof.Weight, len(ins))
	for _, w := range c.weighted {
		number, name, ok := strings.Cut(w, ",")
		weight, err := strconv.ParseUint(number, 10, 64)
		exact := iprof.WeightOf(weight, 1)
		if ok && err != nil && strings.Contains(number, ".") {
			exact, err = iprof.ParseWeight(number)
			weight = 1 // see checkWeights
		}
		if !ok || err != nil || exact.String() == "0" || name == "" {
			return nil, badWeight(w)
		}
		more, err := inputs.Expand([]string{name}, opt)
		if err != nil {
			return nil, err
		}
		for i := range more {
			more[i].Weight = weight
			c.weights = append(c.weights, exact)
		}
		ins = append(ins, more...)
	}
	if len(ins) == 0 {
		return nil, fmt.Errorf("there are no files in %s", strings.Join(args, ", "))
	}
	return ins, nil
}

// checkWeights refuses fractions, which only iprof profiles have a use for.
func (c *mergeRun) checkWeights() error {
	for _, w := range c.weighted {
		if number, _, _ := strings.Cut(w, ","); strings.Contains(number, ".") {
			return badWeight(w)
		}
	}
	return nil
}

func badWeight(w string) error {
	return cli.Usagef("option --weighted-input takes a number from 1 up, a comma and an input, not %q", w)
}

// write writes the result and says in which format it is.
func (c *mergeRun) write(out *output, p *irpgo.Profile, version uint32, report *mergeReport) (what string, err error) {
	if what, err = c.encode(out, p, version, report); err == nil {
		err = out.commit()
	}
	if err != nil {
		return "", fmt.Errorf("%s is not written: %w", outputName(c.output), err)
	}
	return what, nil
}

// encode writes the result to where nothing is seen of it yet.
func (c *mergeRun) encode(out *output, p *irpgo.Profile, version uint32, report *mergeReport) (what string, err error) {
	if c.text() {
		what = "text"
		err = irpgo.WriteText(out, p, irpgo.TextOptions{Sparse: c.sparse, Warn: report.mergeWarning})
	} else {
		version, what = chosenVersion(version, func() irpgo.VersionChoice { return irpgo.ChooseIndexedVersion(p, report.infos()) })
		err = irpgo.WriteIndexed(out, p, c.indexedOptions(version, report))
	}
	return what, err
}

// chosenVersion returns the indexed version to write, which is the one asked
// for unless that is 0, and words for it.
func chosenVersion(asked uint32, choose func() irpgo.VersionChoice) (version uint32, what string) {
	if asked != 0 {
		return asked, fmt.Sprintf("indexed version %d", asked)
	}
	choice := choose()
	return choice.Version, fmt.Sprintf("indexed version %d: %s", choice.Version, choice.Reason)
}

func (c *mergeRun) indexedOptions(version uint32, report *mergeReport) irpgo.IndexedOptions {
	return irpgo.IndexedOptions{Version: version, Sparse: c.sparse, Warn: report.mergeWarning, MemProf: c.memprof.writing}
}

// contents sums up what was written.
func (c *mergeRun) contents(p *irpgo.Profile) string {
	var functions, dropped, counters, total uint64
	for i := range p.Functions {
		f := &p.Functions[i]
		if c.sparse && !ran(f) {
			dropped++
			continue
		}
		functions++
		for _, r := range f.Records {
			counters += uint64(len(r.Counts))
			if r.Pseudo() == 0 {
				sum, _, _ := sumCounts(r.Counts)
				total = addSaturating(total, sum)
			}
		}
	}
	return contentsLine(functions, dropped, counters, total, p)
}

// contentsLine puts into words what was written of a profile, and how many
// functions of it were not.
func contentsLine(functions, dropped, counters, total uint64, p *irpgo.Profile) string {
	heap := heapContents(p.MemProf)
	if heap != "" && functions == 0 && dropped == 0 {
		return heap
	}
	s := fmt.Sprintf("%s, %s, total count %s", cli.Quantity(functions, "function", "functions"),
		cli.Quantity(counters, "counter", "counters"), cli.Count(total))
	if dropped > 0 {
		s += fmt.Sprintf(", %s that never ran left out", cli.Count(dropped))
	}
	if heap != "" {
		s += ", " + heap
	}
	return s
}

// ran reports whether a function is kept in a sparse profile.
func ran(f *irpgo.Function) bool {
	return slices.ContainsFunc(f.Records, func(r *irpgo.Record) bool {
		return slices.Max(append([]uint64{0}, r.Counts...)) > 0 || slices.Max(append([]byte{0}, r.Bitmap...)) > 0
	})
}
