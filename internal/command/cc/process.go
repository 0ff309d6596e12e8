package cc

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

	"github.com/profuse-pgo/profuse/internal/command/ui/interrupt"
	"github.com/profuse-pgo/profuse/internal/files/responsefile"
	"github.com/profuse-pgo/profuse/internal/files/screen"
)

// Env is the driver's view of its process.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// Self is the command line that runs the driver again, without the driver's
	// own options. The driver needs it to become rustc's linker.
	Self []string
	// Replace, if set, replaces the process by a command, for commands after which
	// the driver has nothing to do. It returns only if that fails.
	Replace func(path string, argv []string) error
}

// An ExitError is the exit code of a command that failed and printed why, or of a
// signal that asked the process to end. The caller prints nothing more.
type ExitError struct{ Code int }

// Error says "exit code N".
func (e *ExitError) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// interruptGrace is how long a compiler may take to end after it was asked to.
const interruptGrace = 5 * time.Second

func (d *driver) command(ctx context.Context, argv []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = interruptGrace
	cmd.Stdin, cmd.Stdout, cmd.Stderr = d.env.Stdin, screen.Unwrap(d.env.Stdout), screen.Unwrap(d.env.Stderr)
	return cmd
}

// run runs a compiler to its end. Its output goes where it would have gone without the driver.
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
		return &ExitError{interrupt.CodeOf(exit.ProcessState)}
	}
	return err
}

// maxArguments is the size in bytes from which arguments go into a response
// file; the lowest limit of a supported system is about that.
const maxArguments = 96 << 10

// shorten moves the arguments into a response file if they are too long.
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
	if _, err := f.WriteString(responsefile.Join(argv[1:])); err != nil {
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
		// If the process cannot be replaced, the command runs as a child.
		_ = d.env.Replace(path, argv)
	}
	return d.wait(ctx, d.command(ctx, argv))
}

// output runs a command without input and returns what it prints.
func (d *driver) output(ctx context.Context, argv []string) ([]byte, error) {
	cmd := d.command(ctx, argv)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, &out, &out
	err := d.wait(ctx, cmd)
	return out.Bytes(), err
}

// tempDir returns a new folder inside the driver's temporary folder.
func (d *driver) tempDir() (string, error) { return os.MkdirTemp(d.temp, "") }

// tempFile returns the path for a file of that name in a new folder.
func (d *driver) tempFile(name string) (string, error) {
	dir, err := d.tempDir()
	return filepath.Join(dir, name), err
}

// A lineFilter replaces each line of a stream by the result of edit, or drops the line if the result
// is empty. Close writes the last, incomplete line.
type lineFilter struct {
	w    io.Writer
	edit func(line []byte) []byte
	line []byte
}

func (f *lineFilter) Write(p []byte) (int, error) {
	f.line = append(f.line, p...)
	for {
		i := bytes.IndexByte(f.line, '\n')
		if i < 0 {
			return len(p), nil
		}
		if _, err := f.w.Write(f.edit(f.line[:i+1])); err != nil {
			return 0, err
		}
		f.line = slices.Delete(f.line, 0, i+1)
	}
}

func (f *lineFilter) Close() error {
	_, err := f.w.Write(f.edit(f.line))
	return err
}

// stem is a file's base name without its extension.
func stem(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}
