//go:build linux

package trial

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A Result is what became of a command.
type Result struct {
	Code   int            // exit code; -1 if a signal ended the command
	Signal syscall.Signal // that ended it; 0 if none
	Hung   bool           // it was ended because it took longer than [Patience]
	Greedy bool           // it was ended because it took more than [MaxMemory]
	Memory int64          // peak, bytes
	Stdout []byte
	Stderr []byte
}

// Patience is how long a command may take on an input of some MiB, and MaxMemory how many bytes.
const (
	Patience  = 10 * time.Second
	MaxMemory = 1 << 30
)

// Start starts a command. The function that it returns waits for its end, and ends it when it takes too long or too much.
func Start(argv ...string) (*exec.Cmd, func() Result, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second // for processes of the command that outlive it
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	return cmd, func() Result {
		var r Result
		done := make(chan struct{})
		var watch sync.WaitGroup
		// The guard looks every 20 ms; what grows faster shows in the peak, below.
		watch.Go(func() { r.Hung, r.Greedy = guard(cmd.Process, done) })
		_ = cmd.Wait() // ProcessState has the reason
		close(done)
		watch.Wait()
		state := cmd.ProcessState.Sys().(syscall.WaitStatus)
		r.Code = cmd.ProcessState.ExitCode()
		if state.Signaled() {
			r.Signal = state.Signal()
		}
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			// Linux counts ru_maxrss in KiB.
			r.Memory = int64(usage.Maxrss) << 10
		}
		r.Greedy = r.Greedy || r.Memory > MaxMemory
		r.Stdout, r.Stderr = stdout.Bytes(), stderr.Bytes()
		return r
	}, nil
}

// guard ends a process that takes too long or too much, and returns which.
func guard(p *os.Process, done chan struct{}) (hung, greedy bool) {
	end := time.After(Patience)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-done:
			return false, false
		case <-end:
			_ = p.Kill()
			return true, false
		case <-look.C:
			// The second number is the resident set, in pages.
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.Pid))
			if fields := strings.Fields(string(text)); err == nil && len(fields) > 1 {
				if pages, err := strconv.Atoi(fields[1]); err == nil && pages*os.Getpagesize() > MaxMemory {
					_ = p.Kill()
					return false, true
				}
			}
		}
	}
}

// Run runs a command to its end.
func Run(argv ...string) (Result, error) {
	_, wait, err := Start(argv...)
	if err != nil {
		return Result{}, err
	}
	return wait(), nil
}

// interrupted are the exit codes of profuse after a signal that asks it to end.
var interrupted = [...]int{128 + int(syscall.SIGHUP), 128 + int(syscall.SIGINT), 128 + int(syscall.SIGTERM)}

// Crashed reports whether the command ended by itself in a way that no command should: by a signal or a panic.
func (r *Result) Crashed() bool {
	return !r.Hung && !r.Greedy && (r.Signal != 0 || r.Code >= 128 && !slices.Contains(interrupted[:], r.Code) || r.Code == 2 && bytes.Contains(r.Stderr, []byte("\ngoroutine ")) ||
		bytes.Contains(r.Stderr, []byte("panic serving")) || bytes.Contains(r.Stderr, []byte("PLEASE submit a bug report")))
}

// Remarks returns the lines of standard error that are about the input. The summary of
// a merge, "merged …", is about the result.
func (r *Result) Remarks() []string {
	lines := strings.FieldsFunc(string(r.Stderr), func(c rune) bool { return c == '\n' })
	return slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "merged ") })
}

// Told reports whether a command said something about its input that it did not say about the intact one.
func (r *Result) Told(intact *Result) bool { return !slices.Equal(r.Remarks(), intact.Remarks()) }
