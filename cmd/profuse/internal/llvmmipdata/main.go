package llvmmipdata

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/clopt"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/withcolor"
	"github.com/profuse-pgo/profuse/internal/inputs"
)

// Env is what a run of the tool touches besides the files it is told of.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Prog is how the tool was started, "/usr/bin/llvm-mipdata" or "profuse
	// llvm-mipdata"; messages begin with its last element.
	Prog string
}

// tool is one run.
type tool struct {
	Env
	opt options
	msg withcolor.Messages
}

// Main runs the tool with the arguments that follow its name and returns the
// exit code: 0, or 1 after any error.
func Main(args []string, env Env) int {
	args, err := inputs.ExpandResponse(args)
	if err != nil {
		fmt.Fprintln(env.Stderr, err)
		return 1
	}
	t := &tool{Env: env, opt: defaults()}
	cmd, outcome := t.opt.parser(env).Parse(args)
	t.msg = withcolor.Messages{W: env.Stderr, Color: t.opt.color.Enabled(env.Stderr)}
	switch outcome {
	case clopt.Failed:
		return 1
	case clopt.Help:
		io.WriteString(env.Stdout, helpText(cmd.Name, filepath.Base(env.Prog)))
		return 0
	case clopt.Version:
		fmt.Fprintf(env.Stdout, "MIP Version %d\n", version)
		return 0
	}
	run, ok := map[string]func() error{
		"create":   t.create,
		"merge":    t.merge,
		"show":     t.show,
		"covered":  t.covered,
		"order":    t.order,
		"info":     t.info,
		"mip2yaml": t.mip2yaml,
		"yaml2mip": t.yaml2mip,
	}[cmd.Name]
	if !ok { // no command is no error
		io.WriteString(env.Stdout, helpText("", filepath.Base(env.Prog)))
		return 0
	}
	if err := run(); err != nil {
		t.msg.Error(words(err))
		return 1
	}
	return 0
}

// version is the newest version of the formats, the one that is written.
const version = 8
