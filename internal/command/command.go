// Package command is the program profuse: its commands, and the tools of LLVM that it replaces.
//
// The command NAME is in cmd_NAME.go, which has
//
//   - nameCommand, the entry of the list in app: help text and options;
//   - nameRun, one run of the command with the values of its options;
//   - nameRun.run, which does the work and returns an error instead of an exit code, see [cli.Action].
//
// A command of several files is the package NAMEcmd: Command is its entry, the type command is its run,
// and its subcommands have the shape above. A command that parses its own options (cc and LLVM's tools)
// has a function with an exit code instead of nameRun, see [cli.Command].
//
// Most commands read profiles as views (sources.OpenViews), which all formats have. The commands that
// merge, show or check the format itself use package families, which lists package family/NAMEcmd for
// each family. Results go to standard output through one buffer, errors and notes to standard error.
//
// The scripts testdata/script/NAME*.txtar run a command and compare what it prints, its exit code
// and its files; "go test ./internal/command -update" writes what they expect. docs/commands.md
// consists of the help texts: a changed one needs -run Reference -update.
package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/coveragecmd"
	"github.com/profuse-pgo/profuse/internal/command/doctorcmd"
	"github.com/profuse-pgo/profuse/internal/command/family/iprofcmd"
	"github.com/profuse-pgo/profuse/internal/command/family/irpgocmd"
	"github.com/profuse-pgo/profuse/internal/command/family/mipcmd"
	"github.com/profuse-pgo/profuse/internal/command/fleetcmd"
	"github.com/profuse-pgo/profuse/internal/command/ordercmd"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/interrupt"
	"github.com/profuse-pgo/profuse/internal/dropin/clopt"
	"github.com/profuse-pgo/profuse/internal/dropin/cov"
	"github.com/profuse-pgo/profuse/internal/dropin/mipdata"
	"github.com/profuse-pgo/profuse/internal/dropin/profdata"
	"github.com/profuse-pgo/profuse/internal/dropin/profgen"
	"github.com/profuse-pgo/profuse/internal/files/screen"
	"github.com/profuse-pgo/profuse/internal/files/store"
	"github.com/profuse-pgo/profuse/internal/memlimit"
)

// Main runs the command line of the process and ends the process. Drivers open the buckets that the command line names.
func Main(drivers store.Drivers) {
	ctx := interrupt.Context(filepath.Base(os.Args[0]))
	memlimit.SetLimit(os.Getenv)
	env := &cli.Env{
		Stdin: os.Stdin, Stdout: screen.New(os.Stdout), Stderr: screen.New(os.Stderr), Getenv: os.Getenv,
		Stores: store.NewAccess(ctx, drivers),
	}
	code := cli.ExitUsage
	if err := readEnvironment(env); err != nil {
		fmt.Fprintln(env.Stderr, err)
	} else {
		code = run(ctx, env, os.Args)
	}
	// os.Exit runs no deferred calls.
	env.Stores.Close()
	for _, w := range []io.Writer{env.Stdout, env.Stderr} {
		if s, ok := w.(*screen.Screen); ok {
			s.Flush()
		}
	}
	os.Exit(code)
}

func readEnvironment(env *cli.Env) error {
	text := env.Getenv(memlimit.SizeVariable)
	if text == "" {
		return nil
	}
	if err := env.MaxInput.Set(text); err != nil {
		return fmt.Errorf("profuse: %s: invalid value %q: %w", memlimit.SizeVariable, text, err)
	}
	return nil
}

// run runs a command line, which begins with the program's name, and returns the exit code. A link named llvm-profdata
// makes it llvm-profdata, profuse-cc runs a compiler, and profuse-fleet also has the commands of "profuse fleet".
func run(ctx context.Context, env *cli.Env, argv []string) int {
	if len(argv) == 0 {
		argv = []string{"profuse"}
	}
	for _, t := range llvmTools {
		if isStartedAs(argv[0], t.name) {
			return t.run(ctx, env, argv[0], argv[1:])
		}
	}
	if isStartedAs(argv[0], "profuse-"+ccName) {
		return runCC(ctx, env, argv[1:])
	}
	a := app()
	if isStartedAs(argv[0], "profuse-fleet") {
		a.Name = "profuse-fleet"
		a.Commands = append(fleetcmd.Command().Commands, a.Commands...)
	}
	return a.Run(ctx, env, argv[1:])
}

// app returns the program with its commands, in the order of the help text. Each run needs its own app,
// because commands hold the values of their options.
func app() *cli.App {
	a := &cli.App{
		Name:  "profuse",
		Short: "a toolkit for compiler profiles (PGO)",
		Long: `Start with "profuse demo": it merges the profiles of three runs of a small
program and explains each step. "profuse help COMMAND" lists the options of a
command.`,
		Commands: []*cli.Command{
			mergeCommand(),
			watchCommand(),
			showCommand(),
			checkCommand(),
			irpgocmd.SalvageCommand(),
			doctorcmd.Command(),
			topCommand(),
			compareCommand(),
			reportCommand(),
			viewCommand(),
			coveragecmd.Command(),
			exportCommand(),
			mipcmd.Command(),
			iprofcmd.Command(),
			ordercmd.Command(),
			fleetcmd.Command(),
			packCommand(),
			demoCommand(),
			ccCommand(),
			llvmTools[0].command(),
			llvmTools[1].command(),
			llvmTools[2].command(),
			llvmTools[3].command(),
			schemaCommand(),
			versionCommand(),
		},
	}
	a.Commands = append(a.Commands, completionCommand(a), manualCommand(a))
	return a
}

type llvmTool struct {
	name string
	long string // of its help
	main func(args []string, env clopt.Env) int
}

// llvmTools are the tools that profuse replaces, with LLVM's command line (package clopt) and exit codes.
var llvmTools = [...]llvmTool{
	{"llvm-profdata", `Takes the command line of llvm-profdata and writes the same files and text as llvm-profdata of LLVM 22. profuse does the same when it is started as
llvm-profdata, for example through a link:

    ln -s "$(command -v profuse)" ~/bin/llvm-profdata

In the environment, PROFUSE_LLVM_RELEASE=23 chooses the words and bytes of LLVM 23 (docs/differences.md).

"profuse llvm-profdata --help" lists the commands.`, profdata.Main},
	{"llvm-cov", `Takes the command line of llvm-cov and writes the same tracefiles, JSON and text as llvm-cov of LLVM 22, for the commands export, report and show. profuse does the
same when it is started as llvm-cov, for example through a link. In the environment, PROFUSE_LLVM_RELEASE=23 chooses the
words and options of LLVM 23 (docs/differences.md).

"profuse llvm-cov export --help" lists the options of a command.`, cov.Main},
	{"llvm-mipdata", `Takes the command line of llvm-mipdata, the tool of the MIP branches of LLVM, and writes the same files and text. profuse does the same when it is started as
llvm-mipdata, for example through a link.

"profuse llvm-mipdata --help" lists the commands.`, mipdata.Main},
	{"llvm-profgen", `Takes the command line of llvm-profgen and writes the same profiles and messages as llvm-profgen of LLVM 22, of unsymbolized profiles and profiles by
lines. profuse does the same when it is started as llvm-profgen, for example through a link.

"profuse llvm-profgen --help" lists the options.`, profgen.Main},
}

// run runs the tool as the given program, whose name its messages have.
func (t *llvmTool) run(ctx context.Context, env *cli.Env, program string, args []string) int {
	interrupt.Allow(ctx, 0) // the tool does not watch ctx, and ends at a signal as LLVM's tools do
	release, err := clopt.ParseRelease(env.Getenv(clopt.ReleaseVariable))
	if err != nil {
		fmt.Fprintf(env.Stderr, "%s: error: %s\n", t.name, err)
		return 1
	}
	return t.main(args, clopt.Env{
		Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr, Prog: program, MaxInput: int64(env.MaxInput), Release: release,
	})
}

// command returns the tool as a subcommand. Its options are the tool's own.
func (t *llvmTool) command() *cli.Command {
	return &cli.Command{
		Name:  t.name,
		Args:  "COMMAND [OPTION]... [FILE]...",
		Short: "replace " + t.name + ", with its options and its output",
		Long:  t.long,
		Foreign: func(ctx context.Context, env *cli.Env, args []string) int {
			return t.run(ctx, env, "profuse "+t.name, args)
		},
	}
}

// isStartedAs reports whether the program was started under the name of a tool, with or without a release
// ("llvm-profdata-22") and ".exe".
func isStartedAs(program, tool string) bool {
	name := filepath.Base(program)
	if ext := filepath.Ext(name); strings.EqualFold(ext, ".exe") {
		name = strings.TrimSuffix(name, ext)
	}
	// What follows the name must be a release: llvm-cov-wrapper is not llvm-cov.
	rest, ok := strings.CutPrefix(name, tool)
	return ok && (rest == "" || strings.Trim(rest, "-.0123456789") == "" && rest[0] == '-')
}
