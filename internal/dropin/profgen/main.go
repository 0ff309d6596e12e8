package profgen

import (
	"fmt"
	"os"

	"github.com/profuse-pgo/profuse/internal/dropin/clopt"
	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
)

// Env holds the streams of a run, and the name of the tool.
type Env = clopt.Env

// toolName begins the messages of errors. It does not depend on how the tool was started.
const toolName = "llvm-profgen"

// A tool is one run of llvm-profgen.
type tool struct {
	Env
	opt options
	msg withcolor.Messages
}

// Main runs the tool with the arguments that follow its name and returns the exit code: 0, or 1 after an error.
func Main(args []string, env Env) int {
	t := &tool{Env: env, opt: defaults()}
	_, outcome := t.parser().Parse(args)
	switch outcome {
	case clopt.Failed:
		return 1
	case clopt.Answered:
		return 0
	}
	t.msg = withcolor.Messages{W: env.Stderr, Color: t.opt.color.Enabled(env.Stderr)}
	if err := t.run(); err != nil {
		fmt.Fprint(env.Stderr, toolName+": ")
		t.msg.Error(err.Error())
		return 1
	}
	return 0
}

func (t *tool) run() error {
	if err := t.check(); err != nil {
		return err
	}
	if t.opt.sampleProfile != "" {
		return t.refine()
	}
	return t.generate()
}

// check refuses command lines, with llvm-profgen's checks in their order.
func (t *tool) check() error {
	o := &t.opt
	inputs := 0
	for _, name := range []string{o.unsymbolized, o.perfScript, o.perfData} {
		if name != "" {
			inputs++
		}
	}
	if o.sampleProfile != "" {
		inputs++
	}
	switch {
	case o.disassemble && inputs == 0:
		return unsupported("--show-disassembly-only")
	case inputs == 0:
		return failure("Perf input file is missing, please use one of `--perfscript`, `--perfdata` and `--unsymbolized-profile` for the input.")
	case inputs > 1:
		return failure("`--perfscript`, `--perfdata` and `--unsymbolized-profile` cannot be used together.")
	}
	for _, input := range []string{o.unsymbolized, o.perfScript, o.perfData} {
		if input != "" && !exists(input) {
			return failuref("Input perf file(%s) doesn't exist.", input)
		}
	}
	switch {
	case !exists(o.binary):
		return failuref("Input binary(%s) doesn't exist.", o.binary)
	case o.compressRecursion < -1:
		return failure("Value of --compress-recursion should >= -1")
	case o.locations && !o.disassemble:
		return failure("--show-source-locations should work together with --show-disassembly-only!")
	case o.disassemble:
		return unsupported("--show-disassembly-only")
	case o.perfData != "":
		return unsupported("--perfdata")
	case o.perfScript != "":
		return unsupported("--perfscript")
	case o.dataAccess != "":
		return unsupported("--data-access-perftrace")
	case o.detailed:
		return unsupported("--show-detailed-warning")
	case o.probes:
		return unsupported("--show-pseudo-probe")
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func unsupported(what string) error { return fmt.Errorf("%s is not supported by profuse", what) }

// failure is an error in the words of llvm-profgen.
type failure string

func (f failure) Error() string { return string(f) }

func failuref(format string, args ...any) error { return failure(fmt.Sprintf(format, args...)) }
