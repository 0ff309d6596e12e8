package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/program/classfile"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// lcovTrace is what a tracefile contains.
type lcovTrace struct {
	lines  map[string]uint64 // by "FILE LINE"
	calls  map[string]uint64 // by "FILE FUNCTION"
	begins map[string]uint64 // lines, by "FILE FUNCTION"
}

// parseLCOV parses a tracefile; name shortens the paths of its source files.
func parseLCOV(t *testing.T, text string, name func(path string) string) lcovTrace {
	t.Helper()
	trace := lcovTrace{make(map[string]uint64), make(map[string]uint64), make(map[string]uint64)}
	file := ""
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		a, b, _ := strings.Cut(value, ",")
		set := func(to map[string]uint64, key, number string) {
			n, err := strconv.ParseUint(number, 10, 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			to[file+" "+key] = n
		}
		switch key {
		case "SF":
			file = name(value)
		case "FN":
			set(trace.begins, b, a)
		case "DA":
			set(trace.lines, a, b)
		case "FNDA":
			set(trace.calls, b, a)
		}
	}
	return trace
}

// The calls and the lines that ran are those of clang's own coverage, for all
// functions that are in the program and all lines that we tell anything of.
func TestLCOVAgreesWithLLVM(t *testing.T) {
	t.Parallel()
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
	want := parseLCOV(t, command(nil, cov, "export", "-format=lcov", "-instr-profile=all.profdata", "program"), filepath.Base)

	elf, mipFile := filepath.Join(fixtures, "shapes.elf"), filepath.Join(dir, "shapes.mip")
	profuse(t, "merge", "-o", mipFile, elf, filepath.Join(fixtures, "shapes-1.mipraw"), filepath.Join(fixtures, "shapes-2.mipraw"))
	got := parseLCOV(t, profuse(t, "export", "-q", "--to", "lcov", "--program", elf, mipFile), filepath.Base)

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

// What a view says of lines is what the tracefiles say, line by line.
func TestViewLinesAreThoseOfLCOV(t *testing.T) {
	t.Parallel()
	root := oracle.Root(t)
	shapes := filepath.Join(root, "internal", "command", "testdata", "mip", "shapes")
	mipFile := filepath.Join(t.TempDir(), "shapes.mip")
	profuse(t, "merge", "-o", mipFile, shapes+".elf", shapes+"-1.mipraw", shapes+"-2.mipraw")
	app := filepath.Join(root, "testdata", "iprof", "app.iprof")
	classes := filepath.Join(root, "testdata", "iprof", "app", "classes")
	index := classfile.NewIndex(classfile.Options{})
	if err := index.Add(classes); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file string
		opt        formats.ViewOptions
		lcov       []string
		lines      int // at least
	}{
		{
			"MIP", mipFile,
			formats.ViewOptions{Programs: []string{shapes + ".elf"}},
			[]string{"export", "-q", "--to", "lcov", "--program", shapes + ".elf", mipFile},
			15,
		},
		{
			"iprof", app,
			formats.ViewOptions{Classes: index},
			[]string{"export", "-q", "--to", "lcov", "--classes", classes, app},
			15,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := parseLCOV(t, profuse(t, c.lcov...), func(path string) string { return path })
			data := oracle.ReadFile(t, c.file)
			c.opt.Warn = func(w profile.Warning) { t.Error(w) }
			v, err := formats.View(c.file, data, c.opt)
			if err != nil {
				t.Fatal(err)
			}
			got := lcovTrace{make(map[string]uint64), make(map[string]uint64), make(map[string]uint64)}
			for l := range v.(profile.LineView).Lines() {
				at := l.File + " " + strconv.Itoa(int(l.Number))
				got.lines[at] = max(got.lines[at], l.Count)
			}
			for f := range v.Functions() {
				if f.StartLine > 0 {
					calls := f.Calls
					if f.Covered {
						calls = max(calls, 1)
					}
					at := f.File + " " + f.Name + f.Signature
					got.calls[at] += calls
					got.begins[at] = uint64(f.StartLine)
				}
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(lcovTrace{})); diff != "" || len(got.lines) < c.lines {
				t.Errorf("%d lines; tracefile and view (-/+):\n%s", len(got.lines), diff)
			}
		})
	}
}
