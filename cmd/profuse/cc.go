package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
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
		Short: "run a compiler; instrument or lay out what it makes for MIP",
		Long: `A launcher for clang, gcc and rustc, as ccache is one: CC="profuse cc -- clang", or
a compiler and linker launcher of CMake. With -fmachine-profile-generate among the
arguments the program is instrumented and, when it ends, writes a profile to
$LLVM_MIP_PROFILE_FILENAME or else default.mipraw. With -fmachine-profile-use it
is laid out by such a profile. Without either the compiler runs as it would have.

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
    -fmachine-profile-runtime-buffer=N        also who calls whom, in a table of N bytes
    -fmachine-profile-atomic                  count exactly in several threads
    -fmachine-profile-threads                 coverage: look before storing, with threads
    -fmachine-profile-signals                 can write a profile on signals, too
    -fmachine-profile-all-block-probes        infer no block's coverage
    -fno-machine-profile-dump                 no profile at exit
    -fno-machine-profile-runtime              do not link the runtime
    -fmachine-profile-use=FILE[,FILE]...      place functions by these profiles
    -fno-machine-profile-split                but leave their cold blocks in them

--report FILE, or PROFUSE_CC_REPORT=FILE in the environment, appends to FILE what
is not instrumented, or laid out, and why. Started under the name profuse-cc, profuse takes
what follows as COMPILER: that is for RUSTC_WRAPPER.`,
		Foreign: func(_ context.Context, env *cli.Env, args []string) int { return runCC(env, args) },
	}
}

// runCC runs the driver. Its options end where the compiler's name stands.
func runCC(env *cli.Env, args []string) int {
	if len(args) > 0 && (args[0] == "-h" || args[0] == "--help" || args[0] == "-help") {
		return app().Run(context.Background(), env, []string{"help", ccName})
	}
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	ctx, stop := driver.NotifyContext(context.Background())
	defer stop()
	err = driver.Run(ctx, driver.Env{
		Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr, Getenv: env.Getenv,
		Self:    []string{self, ccName},
		Replace: func(path string, argv []string) error { return syscall.Exec(path, argv, os.Environ()) },
	}, args)
	var exit *driver.ExitError
	switch {
	case err == nil:
		return cli.ExitOK
	case errors.As(err, &exit):
		return exit.Code
	case errors.Is(err, driver.ErrUsage):
		fmt.Fprintf(env.Stderr, "profuse cc: %v\nRun \"profuse help cc\" for its options.\n", err)
		return cli.ExitUsage
	}
	fmt.Fprintf(env.Stderr, "profuse cc: error: %v\n", err)
	if errors.Is(err, exec.ErrNotFound) {
		return exitNotFound
	}
	return cli.ExitFailure
}

// exitNotFound is the exit code of shells for a command that does not exist.
const exitNotFound = 127
