package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/instrument/driver"
)

// ccName is the subcommand, and with "profuse-" before it a name to start
// profuse under: RUSTC_WRAPPER and the like take a program without arguments.
const ccName = "cc"

func ccCommand() *cli.Command {
	return &cli.Command{
		Name:  ccName,
		Args:  "[--report FILE] [-fmachine-profile-...]... [--] COMPILER [ARGUMENT]...",
		Short: "run a compiler and instrument what it makes for MIP profiles",
		Long: `A launcher for clang, gcc and rustc, as ccache is one: CC="profuse cc -- clang", or
a compiler and linker launcher of CMake. Without -fmachine-profile-generate among
the arguments the compiler runs as it would have. With it the program is
instrumented and, when it ends, writes a profile to $LLVM_MIP_PROFILE_FILENAME
or else default.mipraw.

The flags may stand among the compiler's arguments, as in CFLAGS and LDFLAGS, or
before COMPILER: 

    -fmachine-profile-generate                instrument; at linking, add the runtime
    -fmachine-profile-function-coverage       which functions ran; without it, how
                                              often and in which order
    -fmachine-profile-block-coverage          also which basic blocks ran
    -fmachine-profile-link-unit-name=NAME     what the objects become part of
    -fmachine-profile-min-instruction-count=N leave smaller functions out
    -fmachine-profile-special-case-list=FILE  leave the functions listed out
    -fmachine-profile-function-group-count=N  with -fmachine-profile-selected-
                                              function-group=I: one of N parts
    -fmachine-profile-atomic                  count exactly in several threads
    -fmachine-profile-all-block-probes        infer no block's coverage
    -fno-machine-profile-dump                 no profile at exit
    -fno-machine-profile-runtime              do not link the runtime

--report FILE, or PROFUSE_CC_REPORT=FILE in the environment, appends to FILE what
is not instrumented and why. Started under the name profuse-cc, profuse takes
what follows as COMPILER: that is for RUSTC_WRAPPER.`,
		Foreign: func(_ context.Context, env *cli.Env, args []string) int { return runCC(env, args) },
	}
}

// runCC parses the driver's own options, which end where the compiler's name
// stands.
func runCC(env *cli.Env, args []string) int {
	job := driver.Job{Report: env.Getenv("PROFUSE_CC_REPORT")}
	usage := func(format string, a ...any) int {
		fmt.Fprintf(env.Stderr, "profuse cc: "+format+"\nRun \"profuse help cc\" for its options.\n", a...)
		return cli.ExitUsage
	}
	for len(args) > 0 {
		arg := args[0]
		var value *string
		switch {
		case arg == "--":
			args = args[1:]
			job.Command = args
		case !strings.HasPrefix(arg, "-"):
			job.Command = args
		case arg == "-h" || arg == "--help" || arg == "-help":
			return app().Run(context.Background(), env, []string{"help", ccName})
		case strings.HasPrefix(arg, "-fmachine-profile-") || strings.HasPrefix(arg, "-fno-machine-profile-"):
			job.Flags = append(job.Flags, arg)
			args = args[1:]
			continue
		case arg == "--report":
			value = &job.Report
		case arg == "--rust-assembly": // from the driver to itself
			value = &job.RustAssembly
		default:
			return usage("unknown option %s", arg)
		}
		if value == nil {
			break
		}
		if len(args) < 2 {
			return usage("option %s needs a value", arg)
		}
		*value, args = args[1], args[2:]
	}
	if len(job.Command) == 0 {
		return usage("no compiler")
	}
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	ctx, stop := notify()
	defer stop()
	return driver.Run(ctx, driver.Env{
		Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr, Getenv: env.Getenv,
		Self:    []string{self, ccName},
		Replace: func(path string, argv []string) error { return syscall.Exec(path, argv, os.Environ()) },
	}, job)
}

// notify returns a context that ends with the first signal that asks the
// process to, which is its cause.
func notify() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		if s, ok := (<-signals).(syscall.Signal); ok {
			cancel(driver.Interrupted{Signal: s})
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(errors.New("done"))
	}
}
