//go:build unix

package command

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestSignals sends signals to commands that do nothing but wait: for a FIFO to be opened, for bytes, for somebody to
// read what they write. Each ends with the exit code of the signal, and leaves no temporary file.
func TestSignals(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes that wait")
	}
	t.Parallel()
	profuse := asProfuse(t)
	root := oracle.Root(t)
	raw := filepath.Join(root, "testdata", "irpgo", "clang22", "ir-run1.profraw")
	var tests []signalTest
	for _, name := range []string{"show", "check", "top", "compare", "merge", "salvage", "report", "export", "order make"} {
		args := strings.Fields(name)
		switch name {
		case "compare":
			args = append(args, raw)
		case "merge", "salvage", "report", "order make":
			args = append(args, "-o", "out")
		case "export":
			args = append(args, "--to", "json", "-o", "out")
		}
		tests = append(tests,
			signalTest{name: name + " unopened", args: append(args[:len(args):len(args)], "fifo")},
			signalTest{name: name + " silent", args: append(args[:len(args):len(args)], "-"), stdin: "silence"})
	}
	tests = append(tests,
		signalTest{name: "endless", args: []string{"show", "/dev/zero"}, maybeDone: true},
		signalTest{name: "writing", args: []string{"export", "--to", "json", raw}, unread: true},
		signalTest{name: "writing a file", args: []string{"export", "--to", "json", raw, "-o", "fifo"}},
		signalTest{name: "llvm-profdata", args: []string{"llvm-profdata", "show", "fifo"}},
		signalTest{name: "llvm-mipdata", args: []string{"llvm-mipdata", "show", "-p", "fifo"}},
		signalTest{name: "mip", args: []string{"mip", "create", "-o", "out", "fifo"}},
		signalTest{name: "iprof", args: []string{"iprof", "prune", "-o", "out", "fifo"}})
	for i, test := range tests {
		if i%oracle.Step(3) > 0 {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, profuse)
		})
	}
}

type signalTest struct {
	name, stdin string
	args        []string
	unread      bool // standard output is a full pipe that nobody reads
	maybeDone   bool // the command may have failed before the signal
}

func (test *signalTest) run(t *testing.T, profuse string) {
	for sig, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		cmd := exec.Command(profuse, test.args...)
		cmd.Dir = t.TempDir()
		if err := syscall.Mkfifo(filepath.Join(cmd.Dir, "fifo"), 0o600); err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		cmd.Stdout, cmd.Stderr = io.Discard, &text
		if test.stdin != "" {
			if _, err := cmd.StdinPipe(); err != nil { // nothing is written into it
				t.Fatal(err)
			}
		}
		if test.unread {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			defer w.Close()
			if err := w.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(make([]byte, 1<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("filling the pipe: %v", err)
			}
			cmd.Stdout = w
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
		sent := time.Now()
		if err := cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		hung := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		if !hung.Stop() {
			t.Errorf("%v: it does not end", sig)
		}
		t.Logf("%v: ended after %v: %v, %s", sig, time.Since(sent), err, &text)
		// On a busy machine the signal may come before profuse is ready for it.
		status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
		early := status.Signaled() && status.Signal() == sig
		if got := cmd.ProcessState.ExitCode(); got != want && !early && !(test.maybeDone && got == 1) {
			t.Errorf("%v: exit code %d, want %d: %s", sig, got, want, &text)
		}
		entries, err := os.ReadDir(cmd.Dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if atomicfile.IsTemp(e.Name()) || e.Name() == "out" {
				t.Errorf("%v: %s is left", sig, e.Name())
			}
		}
	}
}
