package driver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Env is what the driver sees of the process it runs in.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// Self is the command line that runs the driver again, up to where its own
	// options begin: the driver is rustc's linker.
	Self []string
	// Replace, if set, runs a command in place of the process and returns only
	// if that fails. It is for commands that need nothing done after them.
	Replace func(path string, argv []string) error
}

// ExitError is a command that failed and has printed why, or a signal that asked
// the process to end: nothing is left to say.
type ExitError struct{ Code int }

// Error says "exit code N".
func (e *ExitError) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// interruptGrace is how long a compiler may take to end when it is asked to.
const interruptGrace = 5 * time.Second

// command prepares a command that ends with the context.
func (d *driver) command(ctx context.Context, argv []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = interruptGrace
	cmd.Stdin, cmd.Stdout, cmd.Stderr = d.env.Stdin, d.env.Stdout, d.env.Stderr
	return cmd
}

// run runs a compiler to its end. What it says of itself goes where it would
// have gone without the driver.
func (d *driver) run(ctx context.Context, argv []string) error {
	argv, err := d.shorten(argv)
	if err != nil {
		return err
	}
	return d.wait(ctx, d.command(ctx, argv))
}

func (d *driver) wait(ctx context.Context, cmd *exec.Cmd) error {
	err := cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return &ExitError{exitCode(exit.ProcessState)}
	}
	return err
}

// exitCode is the code of the process, for one that a signal has ended that of
// shells.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return signalCode(status.Signal())
	}
	return state.ExitCode()
}

// signalCode is the exit code that shells give to a process that a signal ends.
func signalCode(s syscall.Signal) int { return 128 + int(s) }

// maxArguments is the size from which arguments go into a response file; the
// least that systems allow is about that.
const maxArguments = 96 << 10

// shorten puts the arguments into a response file if they are too many.
func (d *driver) shorten(argv []string) ([]string, error) {
	n := 0
	for _, arg := range argv {
		n += len(arg) + 1
	}
	if n < maxArguments {
		return argv, nil
	}
	f, err := os.CreateTemp(d.temp, "args-*.rsp")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.WriteString(joinResponse(argv[1:])); err != nil {
		return nil, err
	}
	return []string{argv[0], "@" + f.Name()}, f.Close()
}

// passThrough runs the command as if the driver were not there.
func (d *driver) passThrough(ctx context.Context, argv []string) error {
	if d.env.Replace != nil {
		path, err := exec.LookPath(argv[0])
		if err != nil {
			return err
		}
		// Where a process cannot be replaced, the command is run.
		_ = d.env.Replace(path, argv)
	}
	return d.wait(ctx, d.command(ctx, argv))
}

// output runs a command that is not to be seen and returns what it printed.
func (d *driver) output(ctx context.Context, argv []string) ([]byte, error) {
	cmd := d.command(ctx, argv)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, &out, &out
	err := d.wait(ctx, cmd)
	return out.Bytes(), err
}

// tempDir returns a new folder inside of the driver's.
func (d *driver) tempDir() (string, error) {
	return os.MkdirTemp(d.temp, "")
}

// A lineFilter drops lines from a stream. Close writes what is left.
type lineFilter struct {
	w    io.Writer
	drop func(line []byte) bool
	line []byte
}

func (f *lineFilter) Write(p []byte) (int, error) {
	f.line = append(f.line, p...)
	for {
		i := bytes.IndexByte(f.line, '\n')
		if i < 0 {
			return len(p), nil
		}
		line := f.line[:i+1]
		if !f.drop(line) {
			if _, err := f.w.Write(line); err != nil {
				return 0, err
			}
		}
		f.line = slices.Delete(f.line, 0, i+1)
	}
}

func (f *lineFilter) Close() error {
	if len(f.line) > 0 && !f.drop(f.line) {
		_, err := f.w.Write(f.line)
		return err
	}
	return nil
}

// stem is a file's base name without its extension.
func stem(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}
