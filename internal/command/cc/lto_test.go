package cc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// ltoFiles are a program whose parts are compiled for link-time optimization, those of libx.a and the ones in
// native not: optimization removes the only call of dead, but its constructor runs, before or after others.
var ltoFiles = []string{
	"main.c", `#include <stdio.h>
int used(int), dead(int), part(int), weak(int) __attribute__((weak)), same1(int), same2(int), zero(void);
extern __thread int tls;
__attribute__((constructor)) static void first(void) { puts("main"); }
__attribute__((noinline)) int called(int x) { return x * 3 + tls; }
int main(int argc, char **argv) {
  if (zero()) dead(1);
  int s = 0;
  for (int i = 0; i < 5; i++) s += called(i);
  printf("%d %d %d %d\n", s + used(2), part(3), weak ? weak(4) : -1, same1(argc) + same2(argc));
  return s % 100;
}
`,
	"part.c", `#include <stdio.h>
int used(int);
__thread int tls = 3;
int zero(void) { return 0; }
__attribute__((constructor)) static void first(void) { puts("part"); }
__attribute__((noinline)) int part(int x) { return used(x) + tls++; }
__attribute__((noinline)) int same1(int x) { return x * 17 + 3; }
__attribute__((noinline)) int same2(int x) { return x * 17 + 3; }
`,
	"weak.c", "int weak(int x) { return x + 5; }\n",
	"native/unused.c", "#include <stdio.h>\nint unused(int x) { return x; }\n__attribute__((constructor)) static void first(void) { puts(\"unused\"); }\n",
	"native/used.c", "#include <stdio.h>\nint used(int x) { return x + 100; }\n__attribute__((constructor)) static void first(void) { puts(\"used\"); }\n",
	"native/dead.c", "#include <stdio.h>\nint dead(int x) { return x; }\n__attribute__((constructor)) static void first(void) { puts(\"dead\"); }\n",
	"version", "V1 { global: part; used; same*; zero; tls; weak; local: *; };\n",
}

// An ltoBuild builds the program.
type ltoBuild struct {
	*bench
	cc, ar string
	lto    []string // flags of all steps
	link   []string // flags of linking
	shape  string   // "static", "shared" …; "" is a PIE
}

// build makes the program, plain or with flags of the driver.
func (b *ltoBuild) build(name string, flags ...string) {
	b.t.Helper()
	run := func(args ...string) {
		b.t.Helper()
		b.bench.build(slices.Concat([]string{b.cc, "-O2"}, args, flags)...)
	}
	pic := "-fPIC"
	if b.shape == "-no-pie" {
		pic = "-fno-pie"
	}
	run(append(b.lto, pic, "-c", "main.c", "part.c", "weak.c")...)
	run(pic, "-c", "native/unused.c", "native/used.c", "native/dead.c")
	os.Remove(b.path("libx.a"))
	how := "rcs"
	if b.shape == "thin archive" {
		how = "rcsT"
	}
	if r := b.exec(nil, b.ar, how, "libx.a", "unused.o", "part.o", "used.o", "weak.o", "dead.o"); r.code != 0 {
		b.t.Fatal(r)
	}
	link := slices.Concat(b.lto, b.link)
	switch b.shape {
	case "shared":
		run(append(link, "-shared", "part.o", "used.o", "weak.o", "dead.o", "-Wl,--version-script=version", "-o", "libx.so")...)
		run(append(link, "main.o", "libx.so", "libx.a", "-Wl,-rpath,"+b.dir, "-o", name)...)
	case "whole archive":
		run(append(link, "main.o", "-Wl,--whole-archive", "-L.", "-lx", "-Wl,--no-whole-archive", "-o", name)...)
	case "lib":
		run(append(link, "main.o", "-Wl,--start-lib", "unused.o", "part.o", "used.o", "weak.o", "dead.o", "-Wl,--end-lib", "-o", name)...)
	case "sources":
		run(append(link, "main.c", "-L.", "-lx", "-o", name)...)
	case "archive alone": // nothing but its members says that the linker optimizes
		run(pic, "-c", "main.c")
		run(append(b.link, "main.o", "-L.", "-lx", "-o", name)...)
	case "relocatable":
		run(append(link, "-r", "-nostdlib", "main.o", "part.o", "-o", "both.o")...)
		run(append(link, "both.o", "-L.", "-lx", "-o", name)...)
	case "-static", "-no-pie", "-static-pie":
		link = append(link, b.shape)
		fallthrough
	default:
		run(append(link, "main.o", "-L.", "-lx", "-o", name)...)
	}
}

// ltoShapes are the ways of linking in TestLTO.
var ltoShapes = []string{"", "shared", "-static", "-static-pie", "-no-pie", "whole archive", "thin archive", "lib", "sources", "relocatable", "archive alone"}

// TestLTO: programs whose code the linker generates behave as without the driver,
// in every way of linking; the profile counts calls, and the functions follow it.
func TestLTO(t *testing.T) {
	for _, c := range []struct {
		cc, ar, lto, ld string
		shapes          []string
		quick           bool
	}{
		{"clang-22", "llvm-ar-22", "-flto=thin", "lld", ltoShapes, true},
		{"clang-22", "llvm-ar-22", "-flto=full", "lld", []string{"sources", "shared"}, false},
		{"clang-22", "llvm-ar-22", "-flto=full -ffat-lto-objects", "lld", ltoShapes[:1], false},
		{"clang-22", "llvm-ar-22", "-flto=thin", "bfd", []string{"-static", "thin archive"}, false},
		{"clang-22", "llvm-ar-22", "-flto=full", "gold", []string{"-static", "shared"}, false},
		{"clang-16", "llvm-ar-16", "-flto=thin", "lld", ltoShapes[:1], false},
		{"gcc", "gcc-ar", "-flto=auto", "bfd", []string{"", "shared", "-static", "whole archive", "sources", "relocatable"}, true},
		{"gcc", "gcc-ar", "-flto=auto -flto-partition=1to1 -pipe", "gold", ltoShapes[:1], false},
		{"gcc", "gcc-ar", "-flto=auto -ffat-lto-objects", "bfd", ltoShapes[:1], false},
	} {
		for i, shape := range c.shapes {
			// gcc writes a makefile with the name of the folder.
			name := strings.ReplaceAll(strings.Join([]string{c.cc, c.lto, c.ld, shape}, " "), "=", "_")
			t.Run(name, func(t *testing.T) {
				switch {
				case i > 0 || !c.quick && c.ld != "gold":
					oracle.Exhaustive(t)
				case !c.quick:
					oracle.Slow(t)
				}
				t.Parallel()
				b := &ltoBuild{bench: newBench(t, ltoFiles...), cc: oracle.Tool(t, c.cc), ar: oracle.Tool(t, c.ar), shape: shape}
				b.lto, b.link = strings.Fields(c.lto), []string{"-fuse-ld=" + c.ld}
				if c.ld == "lld" && shape != "relocatable" {
					b.link = append(b.link, "-Wl,--gc-sections")
				}
				b.check()
			})
		}
	}
}

func (b *ltoBuild) check() {
	b.t.Helper()
	b.build("plain")
	want, libraries := b.exec(nil, b.path("plain")), b.needed("plain")
	if !strings.Contains(want.stdout, "dead\n") && b.shape != "relocatable" {
		b.t.Errorf("%s: plain: %+v", b.shape, want)
	}
	same := func(name string) {
		b.t.Helper()
		if got := b.exec([]string{"LLVM_MIP_PROFILE_FILENAME=%h.raw"}, b.path(name)); got != want {
			b.t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		if got := b.needed(name); !slices.Equal(got, libraries) {
			b.t.Errorf("%s: needs %v, want %v", name, got, libraries)
		}
	}
	b.build("probed", generate, withBB)
	same("probed")
	raws := b.files("*.raw")
	if b.shape == "shared" {
		raws = []string{fmt.Sprintf("%04x.raw", guid.LinkUnit("probed")&0xffff)}
	}
	p := b.profile("probed", raws...)
	wants := map[string]uint64{"main": 1, "called": 5, "used": 2}
	if b.shape == "shared" {
		delete(wants, "used")
	}
	b.wantCalls(p, wants)
	b.writeProfile("app.mip", p)
	b.build("used", "-fmachine-profile-use=app.mip")
	same("used")
	places := b.places("used")
	switch {
	case slices.Contains(b.link, "-fuse-ld=lld"):
		for f, section := range map[string]string{"main": ".text.startup", "called": ".text.hot"} {
			if places[f].section != section {
				b.t.Errorf("%s is in %s, want %s", f, places[f].section, section)
			}
		}
	case b.shape != "shared":
		wantOrder(b.t, places, "main", "called", "used")
	}
	// Nothing is left beside the sources.
	if left := slices.Concat(b.files("*.s"), b.files("*/*.s"), b.files("*.lto*")); len(left) > 0 {
		b.t.Errorf("left %v", left)
	}
}

func (b *bench) needed(program string) []string {
	b.t.Helper()
	return oracle.Must(b.elf(program).ImportedLibraries())(b.t)
}

// TestLTOFolding: of equal functions, which --icf=all folds, the profile has each, and
// the program that is laid out by it has one.
func TestLTOFolding(t *testing.T) {
	oracle.Slow(t)
	for _, lto := range []string{"-fno-lto", "-flto=thin", "-flto=full"} {
		t.Run(strings.ReplaceAll(lto, "=", "_"), func(t *testing.T) {
			t.Parallel()
			b := &ltoBuild{bench: newBench(t, ltoFiles...), cc: oracle.Tool(t, "clang-22"), ar: oracle.Tool(t, "llvm-ar-22")}
			b.lto, b.link = []string{lto, "-ffunction-sections"}, []string{"-fuse-ld=lld", "-Wl,--icf=all"}
			b.check()
			b.wantCalls(b.profile("probed", b.files("*.raw")...), map[string]uint64{"same1": 1, "same2": 1})
			if p := b.places("used"); p["same1"] != p["same2"] {
				t.Errorf("same1 at %v, same2 at %v", p["same1"], p["same2"])
			}
		})
	}
}

// TestLTORefused: where no assembly can be had, a sentence says what to do.
func TestLTORefused(t *testing.T) {
	clang := oracle.Tool(t, "clang-22")
	b := &ltoBuild{bench: newBench(t, ltoFiles...), cc: clang, ar: oracle.Tool(t, "llvm-ar-22"), lto: []string{"-flto=thin"}, link: []string{"-fuse-ld=lld"}}
	b.build("plain")
	for _, c := range []struct{ args, want string }{
		{"-fuse-ld=lld -shared main.o libx.a -Wl,--exclude-libs,libx.a", "use a version script"},
		{"-fuse-ld=lld -shared main.o libx.a -Wl,--exclude-libs=ALL", "use a version script"},
		{"-fuse-ld=gold main.o -Wl,--start-lib part.o used.o weak.o dead.o -Wl,--end-lib", "lld does"},
		{"-fuse-ld=mold main.o libx.a", "has to be lld"},
		{"--target=arm64-apple-macos13 main.c -c", "possible on ELF"},
	} {
		r := b.bench.cc(append([]string{clang, "-flto=thin", generate, "-o", "prog"}, strings.Fields(c.args)...)...)
		if r.code != 1 || !strings.Contains(r.stderr, "profuse cc: error: -flto: ") || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: %+v, want %q", c.args, r, c.want)
		}
		b.noTemporaries()
	}
	if matches, _ := filepath.Glob(b.path("prog*")); len(matches) > 0 {
		t.Errorf("made %v", matches)
	}
}
