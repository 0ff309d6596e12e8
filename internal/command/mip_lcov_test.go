package command

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// lcovTrace is what a tracefile says, by the base names of its files.
type lcovTrace struct {
	calls map[string]uint64 // by "file function"
	lines map[string]uint64 // by "file line"
}

func parseLCOV(t *testing.T, text string) lcovTrace {
	t.Helper()
	trace := lcovTrace{make(map[string]uint64), make(map[string]uint64)}
	file := ""
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		a, b, _ := strings.Cut(value, ",")
		switch key {
		case "SF":
			file = filepath.Base(value)
		case "DA":
			n, err := strconv.ParseUint(b, 10, 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			trace.lines[file+" "+a] = n
		case "FNDA":
			n, err := strconv.ParseUint(a, 10, 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			trace.calls[file+" "+b] = n
		}
	}
	return trace
}

// The calls and the lines that ran are those of clang's own coverage, for all
// functions that are in the program and all lines that we tell anything of.
func TestLCOVAgreesWithLLVM(t *testing.T) {
	clang, profdata, cov := oracle.Tool(t, "clang++-22"), oracle.LLVM(t, 22), oracle.Tool(t, "llvm-cov-22")
	fixtures := filepath.Join(oracle.Root(t), "internal", "command", "testdata", "mip")
	dir := t.TempDir()

	command := func(env []string, exe string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), exe, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %q: %v", exe, args, err)
		}
		return string(out)
	}
	command(nil, clang, "-O0", "-fprofile-instr-generate", "-fcoverage-mapping", "-o", "program", filepath.Join(fixtures, "shapes.cpp"))
	command([]string{"LLVM_PROFILE_FILE=1.profraw"}, filepath.Join(dir, "program"), "1", "2", "3")
	command([]string{"LLVM_PROFILE_FILE=2.profraw"}, filepath.Join(dir, "program"), "-5")
	command(nil, profdata, "merge", "-o", "all.profdata", "1.profraw", "2.profraw")
	want := parseLCOV(t, command(nil, cov, "export", "-format=lcov", "-instr-profile=all.profdata", "program"))

	elf, mipFile := filepath.Join(fixtures, "shapes.elf"), filepath.Join(dir, "shapes.mip")
	profuse := func(args ...string) string {
		t.Helper()
		var out, diag bytes.Buffer
		env := &cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &diag, Getenv: os.Getenv}
		if code := run(context.Background(), env, append([]string{"profuse"}, args...)); code != 0 {
			t.Fatalf("profuse %q: exit code %d\n%s", args, code, diag.String())
		}
		return out.String()
	}
	profuse("merge", "-o", mipFile, elf, filepath.Join(fixtures, "shapes-1.mipraw"), filepath.Join(fixtures, "shapes-2.mipraw"))
	got := parseLCOV(t, profuse("export", "-q", "--to", "lcov", "--program", elf, mipFile))

	if len(got.calls) < 5 || len(got.lines) < 15 {
		t.Fatalf("only %d functions and %d lines", len(got.calls), len(got.lines))
	}
	for name, calls := range got.calls {
		if w, ok := want.calls[name]; !ok || calls != w {
			t.Errorf("%s: %d calls, clang has %s", name, calls, known(w, ok))
		}
	}
	for line, count := range got.lines {
		if w, ok := want.lines[line]; !ok || (count > 0) != (w > 0) {
			t.Errorf("%s: %d, clang has %s", line, count, known(w, ok))
		}
	}
}

func known(n uint64, ok bool) string {
	if !ok {
		return "none"
	}
	return fmt.Sprint(n)
}
