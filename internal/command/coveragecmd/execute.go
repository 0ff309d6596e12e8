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
	"github.com/profuse-pgo/profuse/internal/command/families"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/interrupt"
	"github.com/profuse-pgo/profuse/internal/files/screen"
)

const coverageFlags = `compile and link with clang -fprofile-instr-generate -fcoverage-mapping -Wl,--build-id, or set RUSTFLAGS="-C instrument-coverage"`

// reportCommand runs the command and reports the coverage of its processes, also if the command fails,
// as tests do. The error is the command's, or else the report's.
func (c *command) reportCommand(ctx context.Context, env *cli.Env) error {
	folder, err := os.MkdirTemp("", "profuse-coverage-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	failed, err := c.runArgv(ctx, env, folder)
	if err != nil {
		return err
	}
	ins, err := inputs.Expand([]string{folder}, inputs.Options{})
	switch {
	case err != nil:
	case len(ins) == 0:
		err = errors.New("the command wrote no profile: " + coverageFlags)
	default:
		if len(c.merge.Programs.Paths) == 0 {
			c.merge.Programs.Paths = c.buildFolders()
		}
		err = c.reportInputs(ctx, env, []string{folder})
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

// runArgv runs the command, whose processes write their profiles to the folder. failed is an ExitError
// if the command ended with another exit code than 0; err says why it did not run to its end.
func (c *command) runArgv(ctx context.Context, env *cli.Env, folder string) (failed, err error) {
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	// The command gets the files themselves: a wrapped file would be no terminal.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = env.Stdin, screen.Unwrap(env.Stdout), screen.Unwrap(env.Stderr)
	pool := families.NewPool(folder)
	cmd.Env = append(os.Environ(), pool.Environment())
	// An interrupt lets test runners end their tests before they are killed.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 2 * time.Second
	err = pool.Run(ctx, cmd.Run)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &exit):
		return &cli.ExitError{Code: interrupt.CodeOf(exit.ProcessState), Err: fmt.Errorf("%s: %s", c.argv[0], exit)}, nil
	}
	return nil, err
}

// buildFolders returns the folders to search for programs: the folders below the current one in which cargo, CMake and
// other tools build, and the folder in the command's path. If there is none, it returns the current folder.
func (c *command) buildFolders() (folders []string) {
	add := func(dir string) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	for _, pattern := range []string{"target", "build*", "cmake-build*", "_build", "out", "bin"} {
		found, _ := filepath.Glob(pattern) // the patterns are valid
		for _, dir := range found {
			add(dir)
		}
	}
	if program := c.argv[0]; strings.ContainsRune(program, filepath.Separator) {
		add(filepath.Dir(program))
	}
	if len(folders) == 0 {
		add(".")
	}
	return folders
}
