package profdata

import (
	"fmt"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/internal/dropin/clopt"
	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
)

// Env holds the streams of a run, and the name of the tool.
type Env = clopt.Env

// A tool is one run of llvm-profdata.
type tool struct {
	Env
	opt options
	msg messages

	stdinTaken atomic.Bool           // several goroutines open inputs
	explained  map[llvmerr.Code]bool // problems of functions explained so far
	correlate  *correlator           // of merge; nil without
	rename     func(string) string   // of merge; nil without
	heap       heapPrograms
}

// Main runs the tool with the arguments that follow its name and returns the exit code: 0, or 1 after any error.
func Main(args []string, env Env) int {
	if len(args) == 0 {
		fmt.Fprintf(env.Stderr, "%s: No subcommand specified! Run llvm-profdata --help for usage.\n", env.Name())
		return 1
	}
	t := &tool{Env: env, opt: defaults(), explained: make(map[llvmerr.Code]bool)}
	cmd, outcome := t.parser().Parse(args)
	switch outcome {
	case clopt.Failed:
		return 1
	case clopt.Answered:
		return 0
	}
	t.msg = messages{withcolor.Messages{W: env.Stderr, Color: t.opt.color.Enabled(env.Stderr)}}
	defer t.heap.close()
	if err := cmd.Run(); err != nil {
		// Some messages have no "error:" and are printed where they arise.
		if err != errSilent {
			t.msg.fail(err)
		}
		return 1
	}
	return 0
}

func (t *tool) noCommand() error {
	t.msg.plain("%s: Unknown command. Run llvm-profdata --help for usage.", t.Name())
	return errSilent
}
