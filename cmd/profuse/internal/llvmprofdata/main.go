package llvmprofdata

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/clopt"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/withcolor"
	"github.com/profuse-pgo/profuse/internal/inputs"
)

// Env is what a run of the tool touches besides the files it is told of.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Prog is how the tool was started, "/usr/bin/llvm-profdata" or "profuse
	// llvm-profdata"; messages begin with its last element.
	Prog string
}

func (e Env) name() string { return filepath.Base(e.Prog) }

// tool is one run.
type tool struct {
	Env
	opt options
	msg messages

	stdinTaken atomic.Bool
	correlate  *correlator         // of merge; nil without
	rename     func(string) string // of merge; nil without
	programCache
}

// Main runs the tool with the arguments that follow its name and returns the
// exit code: 0, or 1 after any error.
func Main(args []string, env Env) int {
	if len(args) == 0 {
		fmt.Fprintf(env.Stderr, "%s: No subcommand specified! Run llvm-profdata --help for usage.\n", env.name())
		return 1
	}
	t := &tool{Env: env, opt: defaults()}
	args, err := inputs.ExpandResponse(args)
	if err != nil {
		fmt.Fprintln(env.Stderr, err)
		return 1
	}
	cmd, outcome := t.opt.parser(env).Parse(args)
	t.msg = messages{withcolor.Messages{W: env.Stderr, Color: t.opt.color.Enabled(env.Stderr)}}
	switch outcome {
	case clopt.Failed:
		return 1
	case clopt.Help:
		io.WriteString(env.Stdout, helpText(cmd.Name, env.name()))
		return 0
	case clopt.Version:
		io.WriteString(env.Stdout, versionText)
		return 0
	}
	defer t.closePrograms()
	switch cmd.Name {
	case "merge":
		err = t.merge()
	case "show":
		err = t.show()
	case "order":
		err = t.order()
	case "overlap":
		err = t.overlap()
	default:
		fmt.Fprintf(env.Stderr, "%s: Unknown command. Run llvm-profdata --help for usage.\n", env.name())
		return 1
	}
	if err != nil {
		if err != errSilent {
			t.msg.fail(err)
		}
		return 1
	}
	return 0
}

// errSilent ends the run when the reason was told already.
var errSilent = errors.New("already told")

// unsupported is the refusal of what llvm-profdata can do and this tool
// cannot.
func unsupported(what string) error {
	return errors.New(what + " is not supported by profuse yet")
}
