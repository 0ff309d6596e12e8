package oracle

import (
	"errors"
	"os/exec"
)

// plainRuns of a tool come before the first that is served: what runs it only a
// few times does not pay for the server.
const plainRuns = 3

// Exec runs a command and returns its exit code, -1 if a signal ended it. The
// error says that it did not run. Where possible a tool of LLVM is not started
// but forked from a process that has loaded it before: most of the time of a
// short run goes into linking its libraries.
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
