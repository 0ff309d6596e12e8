package oracle

import (
	"errors"
	"os/exec"
)

// plainRuns is how many runs of a tool go without the fork server: a test binary
// that runs a tool only a few times does not pay for starting the server.
const plainRuns = 3

// Exec runs a command and returns its exit code, -1 if a signal ended it. An error means that the command did not
// run. Where possible Exec forks a tool of LLVM from a process that has already loaded it: a short run spends most
// of its time linking libraries.
func Exec(cmd *exec.Cmd) (code int, err error) {
	if code, served, err := runServed(cmd); served {
		return code, err
	}
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), nil
}
