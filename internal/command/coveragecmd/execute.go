package coveragecmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/interrupt"
	"github.com/profuse-pgo/profuse/internal/files/screen"
)

// poolSize is how many raw profiles the processes of one program write: a process adds its counts
// to one of them, so that thousands of tests leave a few files. %Nm in LLVM_PROFILE_FILE asks the
// runtime for such a pool.
const poolSize = 4

// runCommand runs the command that the profiles are to be of, with a folder of its own
// for them. It returns the folder, which remove removes, and the error of the command: an
// ExitError with its exit code.
func (c *coverageRun) runCommand(ctx context.Context, env *cli.Env) (folder string, remove func(), failed, err error) {
	folder, err = os.MkdirTemp("", "profuse-coverage-")
	if err != nil {
		return "", nil, nil, err
	}
	remove = func() { os.RemoveAll(folder) }
	cmd := exec.CommandContext(ctx, c.command[0], c.command[1:]...)
	// The command gets the files themselves: wrapped ones would be no terminal to it.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = env.Stdin, screen.Unwrap(env.Stdout), screen.Unwrap(env.Stderr)
	cmd.Env = append(os.Environ(), "LLVM_PROFILE_FILE="+filepath.Join(folder, fmt.Sprintf("%%%dm.profraw", poolSize)))
	// An interrupt lets test runners end their tests before they are killed.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 2 * time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	// An interrupted command has no coverage worth a report.
	case ctx.Err() != nil:
		remove()
		return "", nil, nil, ctx.Err()
	case errors.As(err, &exit):
		return folder, remove, &cli.ExitError{Code: interrupt.CodeOf(exit.ProcessState), Err: fmt.Errorf("%s: %s", c.command[0], exit)}, nil
	case err != nil:
		remove()
		return "", nil, nil, err
	}
	return folder, remove, nil, nil
}

// coverageFlags says how to compile for coverage.
const coverageFlags = `compile and link with clang -fprofile-instr-generate -fcoverage-mapping -Wl,--build-id, or set RUSTFLAGS="-C instrument-coverage"`

// ran runs the command and reports the coverage of its processes. The error is that of the command,
// or else of the report. A command that fails, as tests do, still has coverage, which is reported.
func (c *coverageRun) ran(ctx context.Context, env *cli.Env) error {
	folder, remove, failed, err := c.runCommand(ctx, env)
	if err != nil {
		return err
	}
	defer remove()
	ins, err := inputs.Expand([]string{folder}, inputs.Options{})
	switch {
	case err != nil:
	// Without instrumentation programs write nothing, and no command says so.
	case len(ins) == 0:
		err = errors.New("the command wrote no profile: " + coverageFlags)
	default:
		if len(c.Programs.Paths) == 0 {
			c.Programs.Paths = c.buildFolders()
		}
		err = c.report(ctx, env, []string{folder})
	}
	if failed == nil {
		return err
	}
	// Only one error can be returned, so this one is printed.
	if err != nil && !errors.Is(err, cli.ErrReported) {
		fmt.Fprintf(env.Stderr, "profuse coverage: %s\n", cli.Message(err))
	}
	return failed
}

// buildFolders returns where builds put programs below the current folder, and the folder of the
// command if it is given by its path. Those are of cargo, CMake and others. If there is none of
// them it is the current folder.
func (c *coverageRun) buildFolders() (folders []string) {
	add := func(dir string) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	for _, pattern := range []string{"target", "build*", "cmake-build*", "_build", "out", "bin"} {
		// The patterns are constant and valid, so there is no error.
		found, _ := filepath.Glob(pattern) // sorted
		for _, dir := range found {
			add(dir)
		}
	}
	if program := c.command[0]; strings.ContainsRune(program, filepath.Separator) {
		add(filepath.Dir(program))
	}
	if len(folders) == 0 {
		add(".")
	}
	return folders
}
