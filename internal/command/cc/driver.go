package cc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/files/responsefile"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/instrument"
)

// commandLine is a compiler's command line with the driver's own options.
type commandLine struct {
	// flags are -fmachine-profile flags; they precede those among the compiler's arguments.
	flags []string
	// report is the file that lists the functions not instrumented, "" for none.
	report string
	// compiler is the compiler and its arguments.
	compiler []string
	// rustAssembly is the assembly of the crate that is linked, when rustc
	// calls the driver as its linker.
	rustAssembly string
	// assembles says how to rewrite the assembly, when gcc calls the driver as its assembler.
	assembles string
}

// ErrUsage is returned for command lines that the driver does not understand.
var ErrUsage = errors.New("invalid command line")

// parseCommandLine parses the driver's own options, an optional "--", the compiler and its arguments.
func parseCommandLine(args []string) (commandLine, error) {
	var job commandLine
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "--" {
		arg := args[0]
		args = args[1:]
		switch {
		case strings.HasPrefix(arg, "-f"+flagStem) || strings.HasPrefix(arg, "-fno-"+flagStem):
			job.flags = append(job.flags, arg)
			continue
		case arg != "--report" && arg != rustAssemblyOption && arg != assemblesOption:
			return job, fmt.Errorf("%w: unknown option %s", ErrUsage, arg)
		case len(args) == 0:
			return job, fmt.Errorf("%w: option %s needs a value", ErrUsage, arg)
		case arg == "--report":
			job.report = args[0]
		case arg == assemblesOption:
			job.assembles = args[0]
		default:
			job.rustAssembly = args[0]
		}
		args = args[1:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if job.compiler = args; len(args) == 0 {
		return job, fmt.Errorf("%w: no compiler", ErrUsage)
	}
	return job, nil
}

// rustAssemblyOption passes a crate's assembly from the driver to itself as rustc's linker.
const rustAssemblyOption = "--rust-assembly"

type driver struct {
	env    Env
	flags  machineFlags
	temp   string // folder of temporary files
	cache  string
	report reporter
	// evidence holds the profiles of -fmachine-profile-use, nil without it.
	evidence *instrument.Evidence
}

// Run carries out a command line: the driver's own options, an optional "--", the compiler and its
// arguments. The error is [ErrUsage] for options that the driver does not know, an [*ExitError] if the
// compiler fails, and the cause of the context if the context ends.
func Run(ctx context.Context, env Env, args []string) error {
	job, err := parseCommandLine(args)
	if err != nil {
		return err
	}
	if job.report == "" {
		job.report = env.Getenv("PROFUSE_CC_REPORT")
	}
	d := &driver{env: env, report: reporter{job.report}}
	err = d.main(ctx, job)
	if d.temp != "" {
		os.RemoveAll(d.temp)
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (d *driver) warn(format string, args ...any) {
	fmt.Fprintf(d.env.Stderr, "profuse cc: warning: "+format+"\n", args...)
}

func (d *driver) main(ctx context.Context, job commandLine) error {
	argv, given := splitCommand(job.compiler)
	args := responsefile.ExpandForCompiler(given)
	flags, rest, err := parseFlags(append(slices.Clone(job.flags), args...))
	if err != nil {
		return err
	}
	d.flags = flags
	plain := append(slices.Clone(argv), rest...)
	if len(rest) == len(args) { // no flags: leave response files alone
		plain = append(slices.Clone(argv), given...)
	}
	if !flags.Generate && flags.Use == "" {
		return d.passThrough(ctx, plain)
	}
	if d.temp, err = os.MkdirTemp("", "profuse-cc-"); err != nil {
		return err
	}
	d.cache = d.cacheDir()
	passes := !isRustc(argv) && slices.ContainsFunc(rest, compilesNothing)
	if flags.Use != "" && !passes {
		if d.evidence, err = readEvidence(flags.Use); err != nil {
			return err
		}
	}
	if job.assembles != "" {
		return d.assembleFor(ctx, job.assembles, plain)
	}
	if isRustc(argv) {
		return d.rustc(ctx, argv, rest)
	}
	if passes {
		d.discardTemp()
		return d.passThrough(ctx, plain)
	}
	return d.compileAndLink(ctx, argv, rest, plain, job.rustAssembly)
}

// discardTemp removes the temporary files before another program replaces the process.
func (d *driver) discardTemp() {
	os.RemoveAll(d.temp)
	d.temp = ""
}

func (d *driver) compileAndLink(ctx context.Context, argv, rest, plain []string, rustAssembly string) error {
	j := d.parseJob(rest)
	if j.isCompilersOwn() {
		for _, in := range j.inputs {
			if err := d.report.passed(in.value, "not compiled"); err != nil {
				return err
			}
		}
		d.discardTemp()
		return d.passThrough(ctx, plain)
	}
	if err := j.refuse(); err != nil {
		return err
	}
	if err := j.identify(ctx, argv, rustAssembly != ""); err != nil {
		return err
	}
	if j.lto && !j.fat && j.mode != modeLink && j.sources { // the linker will generate the code
		d.discardTemp()
		return d.passThrough(ctx, slices.Concat(argv, d.compilerFlags(j.family(), j.target), plain[len(argv):]))
	}
	return j.run(ctx, rustAssembly)
}

// parseJob reads what the arguments alone say: inputs, output and the last step.
func (d *driver) parseJob(args []string) *gnuJob {
	j := &gnuJob{driver: d, args: parseArguments(args)}
	for i := range j.args {
		a := &j.args[i]
		switch {
		case a.kind == argInput:
			j.inputs = append(j.inputs, a)
			j.sources = j.sources || a.input == inputSource
			j.assembler = j.assembler || a.input == inputAssembler && d.flags.Generate && d.flags.AssemblerSources
		case a.kind == argOutput:
			j.output = a.value
		case a.words[0] == "-c" || a.words[0] == "--compile":
			j.mode = max(j.mode, modeObjects)
		case a.words[0] == "-S" || a.words[0] == "--assemble":
			j.mode = modeAssembly
		}
	}
	return j
}

// isCompilersOwn reports whether the command is left to the compiler: it makes nothing to instrument, or
// the compiler reports what is wrong with it. [gnuJob.refuse] has an error for foreign inputs.
func (j *gnuJob) isCompilersOwn() bool {
	has := func(kind inputKind) bool {
		return slices.ContainsFunc(j.inputs, func(a *argument) bool { return a.input == kind })
	}
	switch {
	case has(inputForeign):
		return false
	case len(j.inputs) == 0, has(inputHeader), slices.ContainsFunc(j.inputs, isMissing):
		return true
	case j.mode == modeLink:
		return false
	}
	return !j.sources && !(j.assembler && j.mode == modeObjects) || j.output != "" && len(j.inputs) > 1
}

// identify asks the compiler what it is and sets what follows from that: the target, the options of
// instrumentation and the form of link-time optimization. It refuses what the compiler or target excludes.
func (j *gnuJob) identify(ctx context.Context, argv []string, threads bool) (err error) {
	if j.compiler, err = j.openCompiler(ctx, argv, machineWords(j.args)); err != nil {
		return err
	}
	for _, in := range j.inputs {
		if j.compiler.Clang && in.language == "" && gccOnly[filepath.Ext(in.value)] {
			return fmt.Errorf("%s: clang does not compile this; gccgo, gdc and gnat do", in.value)
		}
	}
	if j.target, err = j.compiler.target(j.args); err != nil {
		return err
	}
	if j.options, err = j.flags.Options(j.target, threads || j.has("-pthread", "-pthreads")); err != nil {
		return err
	}
	j.options.KeepAlignment = alignsBlocks(j.args)
	j.lto = j.last("-fno-lto", "-flto") != ""
	j.fat = j.last("-fno-fat-lto-objects", "-ffat-lto-objects") != "" && (!j.compiler.Clang || j.compiler.Major >= clangFat)
	switch {
	case j.target.Format != asm.MachO:
	case j.lto:
		return errors.New("-flto: the linkers of Mach-O print no assembly; link-time optimization is possible on ELF")
	case j.assembler:
		return errors.New("-fmachine-profile-assembler-sources: assembler sources of Mach-O do not say what is a function; this is possible on ELF")
	}
	return nil
}

// clangFat is the first release of clang that knows -ffat-lto-objects.
const clangFat = 17

func (j *gnuJob) family() instrument.Compiler {
	if j.compiler.Clang {
		return instrument.Clang
	}
	return instrument.GCC
}

func (j *gnuJob) has(options ...string) bool {
	return slices.ContainsFunc(j.args, func(a argument) bool { return slices.Contains(options, a.words[0]) })
}

// alignsBlocks reports whether the arguments ask for the alignment of blocks. The blocks then keep it.
func alignsBlocks(args []argument) bool {
	return slices.ContainsFunc(args, func(a argument) bool {
		for _, prefix := range []string{"-falign-loops", "-falign-jumps", "-falign-labels"} {
			if strings.HasPrefix(a.words[0], prefix) {
				return true
			}
		}
		return a.words[0] == "-mllvm" && len(a.words) > 1 && strings.HasPrefix(strings.TrimLeft(a.words[1], "-"), "align-")
	})
}

// isMissing reports whether an input is a source that does not exist.
func isMissing(a *argument) bool {
	if a.input != inputSource || a.value == "-" {
		return false
	}
	_, err := os.Stat(a.value)
	return errors.Is(err, fs.ErrNotExist)
}

// refuse returns an error for code that cannot be instrumented or laid out, and
// warns of options that make a profile doubtful.
func (j *gnuJob) refuse() error {
	for _, a := range j.args {
		switch {
		case a.words[0] == "-emit-llvm" && j.sources:
			return fmt.Errorf("%s: there is no machine code to instrument; leave it out, or -fmachine-profile flags", a.words[0])
		case a.kind == argInput && a.input == inputForeign:
			return fmt.Errorf("%s: cannot be instrumented, since it is compiled for two targets at once; compile it without profuse cc", a.value)
		}
	}
	flag := "-fmachine-profile-generate"
	if j.flags.Use != "" {
		flag = "-fmachine-profile-use"
	}
	blocks := j.flags.Generate && j.flags.BlockCoverage
	xray := j.last("-fno-xray-instrument", "-fxray-instrument")
	split := j.last("-gno-split-dwarf", "-gsplit-dwarf")
	coverage := j.last("", "--coverage", "-ftest-coverage", "-fprofile-arcs")
	traps := j.last("-fno-non-call-exceptions", "-fnon-call-exceptions")
	j.ignoreBlockSections(flag)
	switch {
	case xray != "" && j.flags.Generate:
		return fmt.Errorf("%s: probes would break the sleds of XRay; build without them", xray)
	case !j.sources:
		return nil
	case split != "" && j.last("-fno-lto", "-flto") != "":
		return fmt.Errorf("%s: not possible with %s and -flto; -gno-split-dwarf leaves debug information in the objects", split, flag)
	case coverage != "":
		return fmt.Errorf("%s: not possible together with %s; build a program for each", coverage, flag)
	case traps != "" && blocks && !j.flags.AllBlockProbes:
		j.warn("%s: blocks that end in a trap may count as covered; -fmachine-profile-all-block-probes prevents that", traps)
	}
	return nil
}

// ignoreBlockSections drops the options that put blocks of a function into different
// sections. They change where code is, not what it does.
func (j *gnuJob) ignoreBlockSections(flag string) {
	for i := range j.args {
		a := &j.args[i]
		name, value, _ := strings.Cut(a.words[0], "=")
		if name != "-fsplit-machine-functions" && (name != "-fbasic-block-sections" || value == "none" || value == "labels") {
			continue
		}
		a.kind = argIgnored
		if j.sources {
			j.warn("%s: ignored, since %s needs the blocks of a function together", a.words[0], flag)
		}
	}
}

// last returns the last of the options on, alone or with "=VALUE"; "" if none is
// given or the option off comes later.
func (j *gnuJob) last(off string, on ...string) (option string) {
	for _, a := range j.args {
		name, _, _ := strings.Cut(a.words[0], "=")
		switch {
		case slices.Contains(on, name):
			option = a.words[0]
		case a.words[0] == off:
			option = ""
		}
	}
	return option
}

func replaceExtension(path, ext string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ext
}
