package cc_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/test/oracle"
)

const trivial = "int main(void) { return 0; }\n"

// TestFileNames: what LLVM_MIP_PROFILE_FILENAME may say.
func TestFileNames(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		b := newBench(t, "m.c", "#include <unistd.h>\nint main(int c, char **v) { return c > 1 ? chdir(v[1]) : 0; }\n", "sub/x", "", "50%h off/x", "")
		b.build(cc, generate, "m.c", "-o", "prog", "-Wl,--build-id=0xabcdef")
		hash := guid.LinkUnit("prog")
		short, long := fmt.Sprintf("%04x", hash&0xffff), fmt.Sprintf("%08x", hash)
		for pattern, want := range map[string]string{
			"":              "default.mipraw",
			"a.raw":         "a.raw",
			"%h.raw":        short + ".raw",
			"%h-%h.raw":     short + "-" + short + ".raw",
			"%m.raw":        long + "_abcdef.raw",
			"x%%h.raw":      "x%h.raw",
			"%q%":           "%q%",
			b.path("b.raw"): "b.raw",
			"sub/c.raw":     "sub/c.raw",
		} {
			for _, args := range [][]string{{"prog"}, {"prog", "sub"}} { // also after chdir
				b.run([]string{"LLVM_MIP_PROFILE_FILENAME=" + pattern}, args...)
				b.wantCalls(b.profile("prog", want), map[string]uint64{"main": 1})
				if err := os.Remove(b.path(want)); err != nil {
					t.Error(err)
				}
			}
		}
		// A percent sign in the working folder is one.
		r := b.exec([]string{"LLVM_MIP_PROFILE_FILENAME="}, "sh", "-c", "cd '50%h off' && ../prog")
		if r.code != 0 || r.stderr != "" {
			t.Error(r)
		}
		b.profile("prog", "50%h off/default.mipraw")
		if got := b.files("*.raw*"); len(got) != 0 {
			t.Errorf("left %v", got)
		}
	})
}

func TestFilesThatCannotBeWritten(t *testing.T) {
	b := newBench(t, "m.c", trivial)
	b.build(oracle.Tool(t, "gcc", "clang-19"), generate, "m.c", "-o", "prog")
	r := b.exec([]string{"LLVM_MIP_PROFILE_FILENAME=none/a.raw"}, b.path("prog"))
	if want := "[MIPRuntime]: Failed to open " + b.path("none/a.raw") + ": No such file or directory\n"; r.stderr != want || r.code != 0 {
		t.Errorf("said %q, exit code %d; want %q", r.stderr, r.code, want)
	}
	r = b.exec([]string{"LLVM_MIP_PROFILE_FILENAME=/dev/full"}, b.path("prog"))
	if want := "[MIPRuntime]: Failed to write to /dev/full: No space left on device\n"; r.stderr != want {
		t.Errorf("said %q, want %q", r.stderr, want)
	}
	b.run([]string{"LLVM_MIP_PROFILE_FILENAME=/dev/null"}, "prog")
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode().IsRegular() {
		t.Error("replaced /dev/null")
	}
	b.write("real.raw", "old")
	if err := os.Symlink("real.raw", b.path("link.raw")); err != nil {
		t.Fatal(err)
	}
	b.run([]string{"LLVM_MIP_PROFILE_FILENAME=link.raw"}, "prog")
	b.profile("prog", "real.raw")
}

// TestFork: parent and child both write; each its own with %p.
func TestFork(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		b := newBench(t, "m.c", `
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void in_parent(void) {}
void in_child(void) {}
int main(void) {
  pid_t p = fork();
  if (p == 0) { in_child(); exit(0); }
  in_parent();
  int status;
  waitpid(p, &status, 0);
  return status;
}`)
		b.build(cc, "-O0", generate, "m.c", "-o", "prog")
		b.run([]string{"LLVM_MIP_PROFILE_FILENAME=%p.raw"}, "prog")
		raws := b.files("*.raw")
		if len(raws) != 2 {
			t.Fatalf("raw profiles %v, want two", raws)
		}
		b.wantCalls(b.profile("prog", raws...), map[string]uint64{"in_parent": 1, "in_child": 1, "main": 2})
		b.run([]string{"LLVM_MIP_PROFILE_FILENAME=one.raw"}, "prog")
		b.wantCalls(b.profile("prog", "one.raw"), map[string]uint64{"in_parent": 1, "in_child": 0, "main": 1})
	})
}

// TestSeveralImages: a program, a library linked to it and one that it loads
// and unloads each leave their own profile.
func TestSeveralImages(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		b := newBench(t,
			"main.c", `
#include <dlfcn.h>
#include <stdio.h>
int linked(int);
int main(void) {
  void *h = dlopen("./libloaded.so", RTLD_NOW);
  if (!h) { puts(dlerror()); return 1; }
  int (*loaded)(int) = (int (*)(int))dlsym(h, "loaded");
  printf("%d %d\n", linked(1), loaded(2) + loaded(3));
  dlclose(h);
  if (dlopen("./libloaded.so", RTLD_NOW | RTLD_NOLOAD)) puts("still there");
  FILE *f = fopen("`+"loaded.there"+`", "w");
  fclose(f);
  return 0;
}`,
			"linked.c", "int linked(int x) { return x + 1; }\nint unused(void) { return 0; }\n",
			"loaded.c", "int loaded(int x) { return x + 2; }\n__attribute__((destructor)) static void last(void) {}\n")
		b.build(cc, "-O0", "-fPIC", "-shared", generate, "linked.c", "-o", "liblinked.so")
		b.build(cc, "-O0", "-fPIC", "-shared", generate, "loaded.c", "-o", "libloaded.so")
		b.build(cc, "-O0", generate, "main.c", "-o", "prog", "-L.", "-llinked", "-Wl,-rpath,"+b.dir, "-ldl")
		if got, want := b.run(nil, "prog"), "2 9\n"; got != want {
			t.Fatalf("printed %q, want %q", got, want)
		}
		for image, want := range map[string]map[string]uint64{
			"prog": {"main": 1}, "liblinked.so": {"linked": 1, "unused": 0}, "libloaded.so": {"loaded": 2, "last": 1},
		} {
			raw := fmt.Sprintf("default_%04x.mipraw", guid.LinkUnit(image)&0xffff)
			b.wantCalls(b.profile(image, raw), want)
		}
		if got := b.files("*.mipraw"); len(got) != 3 {
			t.Errorf("wrote %v, want three files", got)
		}
		// Libraries add nothing to what the dynamic linker sees.
		for line := range strings.Lines(b.exec(nil, oracle.Tool(t, "nm"), "-D", "liblinked.so").stdout) {
			// GNU ld exports the bounds of sections, hidden or not.
			if strings.Contains(line, "mip") && !strings.Contains(line, "__stop___llvm_mipraw") && !strings.Contains(line, "__start___llvm_mipraw") {
				t.Errorf("exports %s", line)
			}
		}
	})
}

// TestSignals: a profile on demand, and before a signal ends the program.
func TestSignals(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		b := newBench(t, "m.c", `
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
void before(void) {}
void after(void) {}
static void own(int s) { if (write(1, "own\n", 4)) {} (void)s; }
int main(int argc, char **argv) {
  if (argc > 2) signal(SIGTERM, own);
  before();
  raise(atoi(argv[1]));
  after();
  fflush(stdout);
  _exit(0);
}`)
		b.build(cc, "-O0", generate, "m.c", "-o", "prog")
		raw := "LLVM_MIP_PROFILE_FILENAME=raw"
		r := b.exec([]string{raw, "PROFUSE_MIP_DUMP_ON_SIGNAL=USR1"}, b.path("prog"), "0")
		if want := "[MIPRuntime]: PROFUSE_MIP_DUMP_ON_SIGNAL: not linked with -fmachine-profile-signals: Function not implemented\n"; r.stderr != want {
			t.Errorf("without the flag: said %q, want %q", r.stderr, want)
		}
		b.build(cc, "-O0", generate, "-fmachine-profile-signals", "m.c", "-o", "prog")
		for _, c := range []struct {
			on, number string
			code       int
		}{
			{"SIGUSR2", "12", 0},
			{"USR2", "12", 0},
			{"12", "12", 0},
			{"SIGUSR1,SIGTERM", "10", 0},
			{"SIGUSR1,SIGTERM", "15", -1},
			{"ABRT", "6", -1},
			{"SEGV", "11", -1},
		} {
			os.Remove(b.path("raw"))
			r := b.exec([]string{raw, "PROFUSE_MIP_DUMP_ON_SIGNAL=" + c.on}, b.path("prog"), c.number)
			if r.code != c.code || r.stderr != "" {
				t.Errorf("%+v: exit code %d, said %q", c, r.code, r.stderr)
			}
			b.wantCalls(b.profile("prog", "raw"), map[string]uint64{"before": 1, "after": 0, "main": 1})
		}
		// _exit leaves none.
		os.Remove(b.path("raw"))
		b.exec([]string{raw}, b.path("prog"), "0")
		if _, err := os.Stat(b.path("raw")); err == nil {
			t.Error("a profile in spite of _exit")
		}
		r = b.exec([]string{raw, "PROFUSE_MIP_DUMP_ON_SIGNAL=SIGNONE"}, b.path("prog"), "0")
		if want := "[MIPRuntime]: PROFUSE_MIP_DUMP_ON_SIGNAL: SIGNONE: Invalid argument\n"; r.stderr != want {
			t.Errorf("said %q, want %q", r.stderr, want)
		}
	})
}

// TestInterface: the functions that programs may call.
func TestInterface(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		b := newBench(t, "m.c", `
#include <string.h>
#include <stdio.h>
void __llvm_dump_mip_profile(void);
int __llvm_dump_mip_profile_with_filename(const char *);
void *__llvm_mip_profile_begin(void);
void *__llvm_mip_profile_end(void);
void early(void) {}
__attribute__((constructor)) static void first(void) { early(); }
void late(void) {}
int main(int argc, char **argv) {
  unsigned magic;
  memcpy(&magic, __llvm_mip_profile_begin(), 4);
  printf("%x %d\n", magic, (int)((char *)__llvm_mip_profile_end() - (char *)__llvm_mip_profile_begin()));
  if (argc > 1) printf("%d\n", __llvm_dump_mip_profile_with_filename(argv[1]));
  else __llvm_dump_mip_profile();
  late();
  return 0;
}`)
		b.build(cc, "-O0", generate, "-fno-machine-profile-dump", "m.c", "-o", "prog")
		size := 32 + 8*4
		if got, want := b.run([]string{"LLVM_MIP_PROFILE_FILENAME=env.raw"}, "prog", "named%h.raw"), fmt.Sprintf("50494dfb %d\n0\n", size); got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
		want := map[string]uint64{"early": 1, "first": 1, "main": 1, "late": 0}
		b.wantCalls(b.profile("prog", "named%h.raw"), want)
		if got := b.files("env.raw"); len(got) != 0 {
			t.Error("a profile at exit in spite of -fno-machine-profile-dump")
		}
		b.run([]string{"LLVM_MIP_PROFILE_FILENAME=env.raw"}, "prog")
		b.wantCalls(b.profile("prog", "env.raw"), want)

		b.build(cc, "-O0", generate, "m.c", "-o", "prog")
		b.run([]string{"LLVM_MIP_PROFILE_FILENAME=env.raw"}, "prog", "x.raw")
		want["late"] = 1
		b.wantCalls(b.profile("prog", "env.raw"), want)
		r := b.cc(cc, "-O0", generate, "-fno-machine-profile-runtime", "m.c", "-o", "prog")
		if r.code == 0 || !regexp.MustCompile("undefined.*__llvm_dump_mip_profile").MatchString(r.stderr) {
			t.Errorf("without a runtime: exit code %d, %s", r.code, r.stderr)
		}
	})
}

// TestOrderOfFirstCalls: timestamps rank functions from 1.
func TestOrderOfFirstCalls(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		b := newBench(t, "m.c", "void a(void){} void b(void){} void c(void){}\nint main(void) { c(); a(); c(); b(); return 0; }\n")
		b.build(cc, "-O0", generate, "m.c", "-o", "prog")
		b.run(rawFile, "prog")
		var got []string
		for i, f := range b.profile("prog", "raw").Order() {
			got = append(got, f.Name)
			if f.TimestampSum != uint64(i+1) {
				t.Errorf("%s has rank %d, want %d", f.Name, f.TimestampSum, i+1)
			}
		}
		if s := strings.Join(got, " "); s != "main c a b" {
			t.Errorf("order %s", s)
		}
	})
}
