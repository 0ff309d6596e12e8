package cc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/profuse-pgo/profuse/internal/command/cc"
)

// Stand in front of a compiler, as profuse cc does, and end with its exit code.
func Example() {
	env := cc.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Self: []string{os.Args[0]},
	}
	err := cc.Run(context.Background(), env, []string{
		"--", "no-such-clang", "-O2", "-fmachine-profile-generate", "-fmachine-profile-function-coverage", "-c", "x.c",
	})
	if exit := (*cc.ExitError)(nil); errors.As(err, &exit) {
		os.Exit(exit.Code)
	}
	fmt.Println(errors.Is(err, exec.ErrNotFound))
	// Output:
	// true
}
