// Package interrupt ends the process when a signal asks for it. A command that watches its context
// ends by itself. A command that cannot, because it opens a FIFO without a writer or decodes a large
// profile, is ended after [Grace]. Temporary files are removed in both cases.
package interrupt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
)

// Grace is how long a command may take to end by itself after the first signal,
// unless it asks for another time with [Allow].
const Grace = 700 * time.Millisecond

// Forever is an unlimited time for [Allow], for commands that finish their work after a signal. A
// second signal ends them at once.
const Forever time.Duration = 1<<63 - 1

// A Signal is the cause of a context that a signal ended.
type Signal struct{ Number syscall.Signal }

func (s *Signal) Error() string { return s.Number.String() }

// Code returns the exit code that shells give to a process that the signal ends.
func (s *Signal) Code() int { return 128 + int(s.Number) }

// Code returns the exit code of a process whose context has ended.
func Code(ctx context.Context) int {
	if s := (*Signal)(nil); errors.As(context.Cause(ctx), &s) {
		return s.Code()
	}
	return (&Signal{syscall.SIGINT}).Code()
}

// CodeOf returns the exit code of a process that has ended; if a signal ended it, the code that shells give.
func CodeOf(process *os.ProcessState) int {
	if status, ok := process.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return (&Signal{status.Signal()}).Code()
	}
	return process.ExitCode()
}

// graceKey is the context key of an *atomic.Int64: the grace in nanoseconds.
type graceKey struct{}

// Allow sets how long the command that runs in ctx may take to end after the first signal. ctx must
// descend from [Context]; otherwise Allow does nothing.
func Allow(ctx context.Context, d time.Duration) {
	if grace, ok := ctx.Value(graceKey{}).(*atomic.Int64); ok {
		grace.Store(int64(d))
	}
}

// Context returns a context that ends with the first signal that asks the process to end; its cause is a [*Signal].
// After the grace, or at a second signal, Context removes the temporary files, prints a message with the name of the
// program, and exits. It handles these signals for the life of the process.
func Context(program string) context.Context {
	grace := new(atomic.Int64)
	grace.Store(int64(Grace))
	ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), graceKey{}, grace))
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		number := func(s os.Signal) *Signal {
			n, _ := s.(syscall.Signal)
			return &Signal{n}
		}
		first := number(<-signals)
		cancel(first)
		select {
		case s := <-signals:
			end(program, number(s))
		case <-time.After(time.Duration(grace.Load())):
			end(program, first)
		}
	}()
	return ctx
}

func end(program string, s *Signal) {
	// Writing to standard error may block if its reader has stopped reading.
	time.AfterFunc(Grace/10, func() { os.Exit(s.Code()) })
	atomicfile.RemoveAll()
	fmt.Fprintf(os.Stderr, "%s: interrupted\n", program)
	os.Exit(s.Code())
}
