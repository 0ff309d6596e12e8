package mipdata

import (
	"github.com/profuse-pgo/profuse/internal/dropin/clopt"
	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
)

// Env holds the streams of a run, and the name of the tool.
type Env = clopt.Env

type tool struct {
	Env
	opt options
	msg withcolor.Messages
}

// Main runs the tool with the arguments that follow its name and returns the exit code: 0, or 1
// after any error.
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
		t.msg.Error(withcolor.Words(err))
		return 1
	}
	return 0
}

// noCommand runs the tool without a command, which is no error.
func (t *tool) noCommand() error {
	t.PrintHelp(helpTop)
	return nil
}

// version is the newest version of the formats, which the tool writes.
const version = 8
