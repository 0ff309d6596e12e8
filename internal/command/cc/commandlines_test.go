package cc_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/test/oracle"
)

const (
	aC = "#include <stdio.h>\n#include \"h.h\"\nint main(void) { printf(\"%d\\n\", f(1)); return 0; }\n"
	bC = "#include \"h.h\"\nint f(int x) { return x + 1; }\n"
	hH = "int f(int);\n"
)

// tree lists the files of a folder, and what is in those that say what was built.
func (b *bench) tree() map[string]string {
	b.t.Helper()
	m := map[string]string{}
	err := filepath.WalkDir(b.dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(b.dir, path)
		m[rel] = ""
		if filepath.Ext(path) == ".d" || filepath.Ext(path) == ".su" {
			data, err := os.ReadFile(path)
			m[rel] = string(data)
			return err
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

// TestCommandLines: files, dependencies, messages and exit codes are those of the compiler alone.
func TestCommandLines(t *testing.T) {
	lines := []string{
		"-c a.c", "-c a.c b.c", "-c a.c -o o/x.o", "a.c b.c -o prog", "a.c b.c", "-S a.c", "-S b.c -o o/b.s", "-o prog -x c a.c b.c -lm",
		"-MD -c a.c -o o/a.o", "-MMD -MP -c a.c", "-MD a.c b.c -o prog", "-MD a.c b.c", "-MD -MF x.d -c a.c", "-MD -MT t -c a.c", "-MMD -MQ $t -MF x.d -c a.c -o o/a.o",
		"-MD -S a.c", "-M a.c", "-E a.c", "-E a.c -o a.i", "-fsyntax-only a.c", "-fstack-usage -c a.c -o o/a.o",
		"-pipe -c a.c", "-c -lm a.c", "-c none.c", "-c a.c none.c", "-c bad.c", "-Wall -c warn.c", "-Wall -Werror -c warn.c", "-c a.c b.c -o x.o", "b.c", "-dumpmachine", "-c asm.s",
		"-c asm.S b.c", "asm.S a.c -o prog", "@args", "-c -x c-header h.h -o h.pch", "-Wa,--noexecstack -c a.c", "-nonsense -c a.c", "-g -c a.c", "",
		"-g -gsplit-dwarf -c a.c b.c", "-g -gsplit-dwarf -c a.c -o o/x.o", "-g -gsplit-dwarf a.c b.c -o prog", "-g -gsplit-dwarf=single -c a.c -o o/x.o", "-g -gsplit-dwarf -S a.c",
	}
	files := []string{
		"a.c", aC, "b.c", bC, "h.h", hH, "o/.keep", "", "bad.c", "int f( { return; }\n", "warn.c", "static int unused;\nint g(int x) { int y; return x; }\n",
		"asm.s", ".globl f\nf:\n\tmovl $2, %eax\n\tret\n", "asm.S", "#define V $2\n.globl f\nf:\n\tmovl V, %eax\n\tret\n.section .note.GNU-stack,\"\",@progbits\n",
		"args", "-c a.c\n-o 'o/with blank.o' @more\n", "more", "-DX=\"a b\" -MD\n",
	}
	compilers(t, func(t *testing.T, cc, _ string) {
		for i, line := range lines {
			if i%oracle.Step(3) > 0 {
				continue
			}
			plain, with := newBench(t, files...), newBench(t, files...)
			args := strings.Fields(line)
			want := plain.exec(nil, append([]string{cc}, args...)...)
			got := with.cc(slices.Concat([]string{cc, generate}, args)...)
			with.noTemporaries()
			if strings.Contains(line, "-S") {
				got.stdout, want.stdout = "", ""
			}
			// Messages of linkers have the names of temporary objects.
			if got.code != want.code || !strings.Contains(want.stderr, "/tmp/") && got.stderr != want.stderr || got.stdout != want.stdout {
				t.Errorf("%q: %+v\nwant %+v", line, got, want)
			}
			gotFiles, wantFiles := with.tree(), plain.tree()
			for name, text := range wantFiles {
				have, ok := gotFiles[name]
				if !ok {
					t.Errorf("%q: no %s", line, name)
				} else if filepath.Ext(name) == ".d" && have != text {
					t.Errorf("%q: %s has\n%s\nwant\n%s", line, name, have, text)
				}
			}
			for name := range gotFiles {
				if _, ok := wantFiles[name]; !ok {
					// Clang writes the statistics of all sources into one file.
					if filepath.Ext(name) != ".su" {
						t.Errorf("%q: made %s", line, name)
					}
				}
			}
		}
	})
}

// TestWithoutFlags: nothing changes, not a byte.
func TestWithoutFlags(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		b := newBench(t, "a.c", aC, "b.c", bC, "h.h", hH)
		b.build(cc, "-O2", "-g", "-c", "a.c", "-o", "x.o")
		b.exec(nil, cc, "-O2", "-g", "-c", "a.c", "-o", "y.o")
		x, _ := os.ReadFile(b.path("x.o"))
		y, _ := os.ReadFile(b.path("y.o"))
		if len(x) == 0 || string(x) != string(y) {
			t.Error("objects differ")
		}
		if r := b.cc(cc, "-fmachine-profile-generate", "-fno-machine-profile-generate", "-c", "a.c", "-o", "z.o"); r.code != 0 {
			t.Error(r.stderr)
		}
		if strings.Contains(cc, "clang") { // gcc does not know "--"
			b.build(cc, generate, "-c", "-o", "dashes.o", "--", "a.c")
		}
	}, "clang-22")
}

// TestRefused: what cannot be instrumented is an error that says so.
func TestRefused(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		b := newBench(t, "a.c", aC, "b.c", bC, "h.h", hH, "k.cu", "")
		for args, want := range map[string]string{
			"-fxray-instrument -c a.c":           "XRay",
			"-m32 -c a.c":                        "unsupported target: ",
			"-gsplit-dwarf -flto -c a.c":         "-gsplit-dwarf: not possible",
			"--coverage -c a.c":                  "--coverage: not possible",
			"-emit-llvm -c a.c":                  "no machine code",
			"-c k.cu":                            "cannot be instrumented",
			"-fmachine-profile-use=x.mip -c a.c": "exclude each other",
			"-fmachine-profile-call-graph -fmachine-profile-function-coverage -c a.c": "exclude each other",
			"-fmachine-profile-special-case-list=none -c a.c":                         "none: no such file",
		} {
			r := b.cc(slices.Concat([]string{cc, generate}, strings.Fields(args))...)
			if r.code != 1 || !strings.HasPrefix(r.stderr, "profuse cc: error: ") || !strings.Contains(r.stderr, want) {
				t.Errorf("%s: exit code %d, %q; want %q", args, r.code, r.stderr, want)
			}
			if got := b.files("*.o"); len(got) != 0 {
				t.Errorf("%s: made %v", args, got)
			}
			b.noTemporaries()
		}
	}, "clang-22")
	b := newBench(t)
	if r := b.cc("no-such-compiler", generate, "-c", "a.c"); r.code != 127 {
		t.Errorf("no compiler: %+v", r)
	}
}

// TestLinkUnits: the hash is that of the name given, else of the output.
func TestLinkUnits(t *testing.T) {
	b := newBench(t, "a.c", aC, "b.c", bC, "h.h", hH)
	cc := oracle.Tool(t, "gcc", "clang-19")
	for _, c := range []struct {
		unit []string
		want uint32
	}{
		{nil, 0}, {[]string{"-fmachine-profile-link-unit-name=foo"}, 0xDB18BDAC}, // low word of md5_64("foo")
	} {
		b.build(append([]string{cc, generate, "-c", "a.c", "b.c"}, c.unit...)...)
		b.build(append([]string{cc, generate, withBB, "a.o", "b.o", "-o", "o1"}, c.unit...)...)
		b.build(append([]string{cc, generate, withBB, "a.o", "b.o", "-o", "o2"}, c.unit...)...)
		b.run([]string{"LLVM_MIP_PROFILE_FILENAME=1"}, "o1")
		one, two := b.profile("o1", "1"), b.profile("o2")
		if c.want != 0 && (one.ModuleHash != c.want || two.ModuleHash != c.want) {
			t.Errorf("%v: hashes %#x, %#x; want %#x", c.unit, one.ModuleHash, two.ModuleHash, c.want)
		}
		if c.want == 0 && one.ModuleHash == two.ModuleHash {
			t.Errorf("both programs have hash %#x", one.ModuleHash)
		}
	}
}

// TestReport: what is not instrumented is listed with its reason.
func TestReport(t *testing.T) {
	b := newBench(t, "a.c", aC, "b.c", bC, "h.h", hH, "asm.s", ".globl g\ng:\n\tret\n", "list", "fun:f\n")
	cc := oracle.Tool(t, "gcc", "clang-19")
	b.succeeds(nil, b.self, "--report", "rep", generate, "-fmachine-profile-special-case-list=list", "--", cc, "-c", "a.c", "b.c", "asm.s")
	got, _ := os.ReadFile(b.path("rep"))
	if want := "b.c\tf\tin the special-case list\nasm.s\t\tassembler source\n"; string(got) != want {
		t.Errorf("report %q, want %q", got, want)
	}
}

// TestParallelBuild: many at once, with nothing in the cache.
func TestParallelBuild(t *testing.T) {
	make := oracle.Tool(t, "make")
	b := newBench(t, "Makefile", `
OBJS = $(patsubst %,o/%.o,0 1 2 3 4 5 6 7 8 9)
all: $(patsubst %,p/%,0 1 2 3 4 5 6 7 8 9)
o/%.o: %.c ; @$(CC) $(CFLAGS) -MMD -c $< -o $@
p/%: o/%.o ; @$(CC) $(LDFLAGS) $< -o $@
`, "o/.keep", "", "p/.keep", "")
	for i := range 10 {
		b.write(string(rune('0'+i))+".c", trivial)
	}
	b.env = append(b.env, "PROFUSE_CACHE="+b.path("cache"))
	b.succeeds(nil, make, "-j8", "CC="+b.self+" -- "+oracle.Tool(t, "gcc", "clang-19"), "CFLAGS=-O2 "+generate, "LDFLAGS="+generate)
	b.noTemporaries()
	for i := range 10 {
		b.run([]string{"LLVM_MIP_PROFILE_FILENAME=%h.raw"}, "p/"+string(rune('0'+i)))
	}
	if got := b.files("*.raw"); len(got) != 10 {
		t.Errorf("raw profiles %v, want ten", got)
	}
	if got := b.files("cache/*"); len(got) != 2 {
		t.Errorf("cache holds %v, want a compiler and a runtime", got)
	}
}

// TestInterrupted: a signal ends the compiler, too, and leaves nothing.
func TestInterrupted(t *testing.T) {
	b := newBench(t, "a.c", trivial, "slow", "#!/bin/sh\ncase \"$*\" in *-v) echo 'Target: x86_64-linux-gnu' >&2; exit;; esac\necho $$ > pid\nexec sleep 60\n")
	for sig, want := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130} {
		os.Remove(b.path("pid"))
		cmd := exec.Command(b.self, "--", b.path("slow"), generate, "-c", "a.c")
		cmd.Dir, cmd.Env = b.dir, b.env
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < 500; i++ {
			if data, err := os.ReadFile(b.path("pid")); err == nil && len(data) > 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%v: exit code %d, want %d", sig, got, want)
		}
		b.noTemporaries()
	}
}
