//go:build linux

package trial

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A Result is what became of a command.
type Result struct {
	Code   int            // exit code; -1 if a signal ended the command
	Signal syscall.Signal // that ended it; 0 if none
	Hung   bool           // it was ended because it took longer than [Patience]
	Memory int64          // peak, bytes
	Stdout []byte
	Stderr []byte
}

// Start starts a command. The function that it returns waits for its end, and ends it
// when [Patience] does.
func Start(argv ...string) (*exec.Cmd, func() Result, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	return cmd, func() Result {
		var r Result
		timer := time.AfterFunc(Patience, func() { r.Hung = true; _ = cmd.Process.Kill() })
		_ = cmd.Wait() // ProcessState has the reason
		if !timer.Stop() {
			r.Hung = true
		}
		state := cmd.ProcessState.Sys().(syscall.WaitStatus)
		r.Code = cmd.ProcessState.ExitCode()
		if state.Signaled() {
			r.Signal = state.Signal()
		}
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			r.Memory = usage.Maxrss << 10
		}
		r.Stdout, r.Stderr = stdout.Bytes(), stderr.Bytes()
		return r
	}, nil
}

// Run runs a command to its end.
func Run(argv ...string) (Result, error) {
	_, wait, err := Start(argv...)
	if err != nil {
		return Result{}, err
	}
	return wait(), nil
}

// Crashed reports whether the command ended by itself in a way that no command should:
// by a signal or a panic.
func (r *Result) Crashed() bool {
	return !r.Hung && (r.Signal != 0 || r.Code >= 128 || r.Code == 2 && bytes.Contains(r.Stderr, []byte("\ngoroutine ")) ||
		bytes.Contains(r.Stderr, []byte("PLEASE submit a bug report")))
}

// Remarks returns the lines of standard error that are about the input. The summary of
// a merge, "merged …", is about the result.
func (r *Result) Remarks() []string {
	lines := strings.FieldsFunc(string(r.Stderr), func(c rune) bool { return c == '\n' })
	return slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "merged ") })
}

// Told reports whether a command said something about its input that it did not say
// about the intact one.
func (r *Result) Told(intact *Result) bool { return !slices.Equal(r.Remarks(), intact.Remarks()) }
