package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/profuse-pgo/profuse/internal/command/cc"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/interrupt"
)

// ccName is the name of the command. profuse started as "profuse-cc" also runs it, because RUSTC_WRAPPER
// takes a program without arguments.
const ccName = "cc"

// ccCommand is "profuse cc". Package cc parses its options, which stand among the compiler's options.
// docs/mip.md shows how builds use it.
func ccCommand() *cli.Command {
	return &cli.Command{
		Name:  ccName,
		Args:  "[--report FILE] [-fmachine-profile-...]... [--] COMPILER [ARGUMENT]...",
		Short: "run a compiler, and instrument or lay out its output with MIP",
		Long: `A compiler launcher like ccache: set CC="profuse cc -- clang" (or gcc, rustc),
or the compiler and linker launcher of CMake. -fmachine-profile-generate instruments
the program, which then writes a profile when it ends, to
$LLVM_MIP_PROFILE_FILENAME or default.mipraw. -fmachine-profile-use lays the
program out by such a profile. Without either, the compiler runs unchanged.

The flags may stand among the compiler's arguments, as in CFLAGS and LDFLAGS, or
before COMPILER:

    -fmachine-profile-generate                instrument, and link the runtime
    -fmachine-profile-function-coverage       record which functions ran, not how
                                              often and in which order
    -fmachine-profile-block-coverage          also record which basic blocks ran
    -fmachine-profile-link-unit-name=NAME     name of the program or library
    -fmachine-profile-min-instruction-count=N skip functions with fewer instructions
    -fmachine-profile-special-case-list=FILE  skip the functions that FILE lists
    -fmachine-profile-function-group-count=N  divide the functions into N groups;
                                              -fmachine-profile-selected-function-
                                              group=I instruments group I only
    -fmachine-profile-runtime-buffer=N        also record callers, in N bytes
    -fmachine-profile-atomic                  count exactly with several threads
    -fmachine-profile-threads                 with coverage: read before writing,
                                              for programs with threads
    -fmachine-profile-signals                 be able to write a profile on a signal
    -fmachine-profile-all-block-probes        probe every block, and infer none
    -fno-machine-profile-dump                 write no profile at exit
    -fno-machine-profile-runtime              do not link the runtime
    -fmachine-profile-use=FILE[,FILE]...      order functions by these profiles
    -fno-machine-profile-split                keep their cold blocks in place

--report FILE, or PROFUSE_CC_REPORT=FILE in the environment, appends to FILE the functions that were not instrumented or laid out, and why. When profuse is
started as profuse-cc, its first argument is COMPILER, as RUSTC_WRAPPER needs it.`,
		Foreign: runCC,
	}
}

// runCC runs the driver. It returns the compiler's exit code if the compiler ran.
func runCC(ctx context.Context, env *cli.Env, args []string) int {
	// Only the first argument asks for help: later ones may be the compiler's.
	if len(args) > 0 && (args[0] == "-h" || args[0] == "--help" || args[0] == "-help") {
		return app().Run(ctx, env, []string{"help", ccName})
	}
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	interrupt.Allow(ctx, interrupt.Forever) // the compiler also gets the signal, and may take its time
	err = cc.Run(ctx, cc.Env{
		Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr, Getenv: env.Getenv,
		Self: []string{self, ccName},
		// The compiler replaces this process if the driver has nothing to do afterwards.
		Replace: func(path string, argv []string) error { return syscall.Exec(path, argv, os.Environ()) },
	}, args)
	var exit *cc.ExitError
	switch {
	case err == nil:
		return cli.ExitOK
	case ctx.Err() != nil:
		return interrupt.Code(ctx)
	case errors.As(err, &exit): // the compiler has printed why
		return exit.Code
	case errors.Is(err, cc.ErrUsage):
		fmt.Fprintf(env.Stderr, "profuse cc: %v\nRun \"profuse help cc\" for its options.\n", err)
		return cli.ExitUsage
	}
	fmt.Fprintf(env.Stderr, "profuse cc: error: %v\n", err)
	if errors.Is(err, exec.ErrNotFound) {
		return exitNotFound
	}
	return cli.ExitFailure
}

// exitNotFound is the exit code of shells for a missing command.
const exitNotFound = 127
