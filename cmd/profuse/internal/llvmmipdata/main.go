package llvmmipdata

import (
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/clopt"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/withcolor"
)

// Env is what a run of the tool touches besides the files it is told of.
type Env = clopt.Env

// tool is one run.
type tool struct {
	Env
	opt options
	msg withcolor.Messages
}

// Main runs the tool with the arguments that follow its name and returns the
// exit code: 0, or 1 after any error.
func Main(args []string, env Env) int {
	t := &tool{Env: env, opt: defaults()}
	cmd, outcome := t.parser().Parse(args)
	switch outcome {
	case clopt.Failed:
		return 1
	case clopt.Answered:
		return 0
	}
	t.msg = withcolor.Messages{W: env.Stderr, Color: t.opt.color.Enabled(env.Stderr)}
	if err := cmd.Run(); err != nil {
		t.msg.Error(words(err))
		return 1
	}
	return 0
}

// noCommand is the top level by itself, which is no error.
func (t *tool) noCommand() error {
	t.PrintHelp(helpTop)
	return nil
}

// version is the newest version of the formats, the one that is written.
const version = 8
