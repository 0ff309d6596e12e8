//go:build !linux

package doctorcmd

import (
	"context"
	"fmt"
	"runtime"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
)

// traceCommand returns an error that says what to do instead.
func traceCommand(context.Context, *cli.Env, []string) ([]*patient, error) {
	return nil, fmt.Errorf("processes can be traced on Linux only, not on %s; "+
		"set LLVM_PROFILE_FILE to a name with %%p to see which processes left no file", runtime.GOOS)
}
