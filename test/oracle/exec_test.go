package oracle

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExec: what is loaded once runs as what is started each time, also after
// the environment or the working folder has changed.
func TestExec(t *testing.T) {
	exe := LLVM(t, 22)
	text := "# IR level\n:ir\nmain\n1\n2\n3\n4\n\nf\n5\n1\n7\n"
	type outcome struct {
		stdout, stderr, file string
		code                 int
	}
	run := func(dir, stdin string, start func(*exec.Cmd) (int, error), args ...string) outcome {
		t.Helper()
		here := t.TempDir()
		if dir == "" {
			t.Chdir(here)
		}
		WriteFile(t, filepath.Join(here, "a"), []byte(text))
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(exe, args...)
		cmd.Args[0] = "llvm-profdata"
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if dir != "" {
			cmd.Dir = here
		}
		if stdin != "" {
			cmd.Stdin = strings.NewReader(stdin)
		}
		code := Must(start(cmd))(t)
		file, _ := os.ReadFile(filepath.Join(here, "out"))
		return outcome{stdout.String(), stderr.String(), string(file), code}
	}
	plain := func(cmd *exec.Cmd) (int, error) {
		if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			return 0, err
		}
		return cmd.ProcessState.ExitCode(), nil
	}
	servedHere(t, exe)
	for _, c := range []struct {
		stdin string
		args  []string
	}{
		{"", []string{"merge", "-o", "out", "a", "a"}},
		{"", []string{"merge", "-text", "-j", "3", "a", "", "a"}},
		{"", []string{"merge", "a"}}, // into a pipe
		{text, []string{"show", "-all-functions", "-counts", "-"}},
		{"", []string{"show", "-"}}, // nothing to read
		{"", []string{"show", "nonesuch"}},
		{"", nil},
	} {
		for _, dir := range []string{"here", ""} {
			if got, want := run(dir, c.stdin, Exec, c.args...), run(dir, c.stdin, plain, c.args...); got != want {
				t.Errorf("%q: %+v, but started anew %+v", c.args, got, want)
			}
		}
	}
	// LLVM 22 ends itself with a signal for this.
	crash := []string{"show", "-hot-func-list", "-detailed-summary-cutoffs=200000", "a"}
	if got, want := run("here", "", Exec, crash...), run("here", "", plain, crash...); got.code != want.code || got.code == 0 || got.stdout != want.stdout {
		t.Errorf("a crash: %+v, but started anew %+v", got, want)
	}
	if _, err := Exec(exec.Command(filepath.Join(t.TempDir(), "llvm-none"))); err == nil {
		t.Error("a program that is not there ran")
	}
}

// TestExecServes: tools are in fact served, with the environment of the moment.
func TestExecServes(t *testing.T) {
	clang, sh := Tool(t, "clang-22"), Tool(t, "sh")
	if !servedHere(t, clang) {
		t.Skip("needs Linux, a C compiler and a clang with shared libraries")
	}
	source := filepath.Join(t.TempDir(), "a.c")
	WriteFile(t, source, []byte("int a = A;\n"))
	// CPATH is one of the variables that clang reads.
	include := t.TempDir()
	WriteFile(t, filepath.Join(include, "found.h"), nil)
	args := []string{"-fsyntax-only", "-DA=1", "-include", "found.h", source}
	for range 2 {
		if _, stderr, code := Run(t, clang, args...); code == 0 || !strings.Contains(stderr, "found.h") {
			t.Errorf("exit code %d, %q", code, stderr)
		}
	}
	t.Setenv("CPATH", include)
	if _, stderr, code := Run(t, clang, args...); code != 0 || stderr != "" {
		t.Errorf("with CPATH: exit code %d, %q", code, stderr)
	}
	if servedHere(t, sh) {
		t.Error("a shell is served")
	}
}

// servedHere reports whether a tool is served after its first runs.
func servedHere(t *testing.T, exe string) bool {
	t.Helper()
	for range plainRuns {
		if _, err := Exec(exec.Command(exe, "--version")); err != nil {
			t.Fatal(err)
		}
	}
	_, served, err := runServed(exec.Command(exe, "--version"))
	if err != nil {
		t.Fatal(err)
	}
	return served
}
