package cc_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestLostMap: what makes profiles useless is said when linking.
func TestLostMap(t *testing.T) {
	b := newBench(t, "m.c", trivial,
		"discard.ld", "SECTIONS { /DISCARD/ : { *(__llvm_mipmap) } } INSERT AFTER .data;\n",
		"other.c", "int x __attribute__((section(\"__llvm_mipraw\"))) = 1;\n")
	cc := oracle.Tool(t, "gcc")
	r := b.cc(cc, generate, "m.c", "-o", "prog", "-Wl,-T,discard.ld")
	if r.code != 0 || !strings.Contains(r.stderr, "profuse cc: warning: prog has lost its section __llvm_mipmap") {
		t.Errorf("without map: %+v", r)
	}
	b.exec(nil, cc, "-c", "other.c", "-o", "other.o")
	r = b.cc(cc, generate, "other.o", "m.c", "-o", "prog")
	if r.code != 0 || !strings.Contains(r.stderr, "profuse cc: warning: section __llvm_mipraw does not begin with its header") {
		t.Errorf("without header: %+v", r)
	}
	r = b.exec(nil, b.path("prog"))
	if want := "[MIPRuntime]: No header in section __llvm_mipraw: Invalid argument\n"; r.stderr != want {
		t.Errorf("said %q, want %q", r.stderr, want)
	}
	if got := b.files("*.mipraw"); len(got) != 0 {
		t.Errorf("wrote %v", got)
	}
}

// TestNothingInstrumented: a program of objects made elsewhere links and runs,
// and so does one whose parts are linked in advance.
func TestNothingInstrumented(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		b := newBench(t, "a.c", aC, "b.c", bC, "h.h", hH)
		b.exec(nil, cc, "-c", "a.c", "b.c")
		b.build(cc, generate, "a.o", "b.o", "-o", "prog")
		b.prints("2\n", nil, "prog")
		if got := b.files("*.mipraw"); len(got) != 0 {
			t.Errorf("wrote %v", got)
		}
		b.build(cc, generate, "-r", "-nostdlib", "a.c", "b.c", "-o", "both.o")
		b.build(cc, generate, "both.o", "-o", "prog")
		b.run(nil, "prog")
		b.wantCalls(b.profile("prog", "default.mipraw"), map[string]uint64{"main": 1, "f": 1})
	})
}

// TestStripped: the map goes with strip -s of LLVM only, and profiles made by
// stripped programs fit the one that is not.
func TestStripped(t *testing.T) {
	cc := oracle.Tool(t, "gcc", "clang-19")
	b := newBench(t, "a.c", aC, "b.c", bC, "h.h", hH)
	b.build(cc, generate, "a.c", "b.c", "-o", "prog")
	if r := b.exec(nil, oracle.Tool(t, "objcopy"), "--strip-all", "--remove-section=__llvm_mipmap", "prog", "small"); r.code != 0 {
		t.Fatal(r)
	}
	b.run(nil, "small")
	b.wantCalls(b.profile("prog", "default.mipraw"), map[string]uint64{"main": 1, "f": 1})
}

// TestManyArguments: more than fit a command line.
func TestManyArguments(t *testing.T) {
	cc := oracle.Tool(t, "clang-19") // gcc starts cc1 with all of them
	b := newBench(t, "a.c", aC, "b.c", bC, "h.h", hH)
	var list strings.Builder
	for range 20000 {
		list.WriteString("-DSOMETHING_LONG_\"with quotes\"=\\\"1\\\" -I'some folder with blanks'\n")
	}
	b.write("list", list.String())
	b.build(cc, "@list", generate, "a.c", "b.c", "-o", "prog")
	b.prints("2\n", nil, "prog")
}

// TestLinkWithoutPart: linking without a part of the runtime that objects need
// says which flag is to be given, or not to be.
func TestLinkWithoutPart(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		b := newBench(t, "m.c", "int main(void) { return 0; }\n")
		for _, c := range []struct{ compile, link, want string }{
			{"-g", covers, "must not be linked with -fmachine-profile-function-coverage"},
			{"-fmachine-profile-runtime-buffer=1200", "-g", "must be linked with -fmachine-profile-runtime-buffer"},
		} {
			b.build(cc, generate, c.compile, "-c", "m.c", "-o", "m.o")
			r := b.cc(cc, generate, c.link, "m.o", "-o", "prog")
			if r.code != 1 || strings.Count(r.stderr, "profuse cc: an object ") != 1 || !strings.Contains(r.stderr, c.want) {
				t.Errorf("%+v: exit code %d, said %q", c, r.code, r.stderr)
			}
		}
	})
}

// TestLinkersOfMaps: what mold and gold cannot do with the map is said.
func TestLinkersOfMaps(t *testing.T) {
	cc := oracle.Tool(t, "clang-22")
	b := newBench(t, "m.c", "int dead(void) { return 1; }\nint main(void) { return 0; }\n")
	b.build(cc, generate, "-ffunction-sections", "-c", "m.c", "-o", "m.o")
	for args, want := range map[string]string{
		"-fuse-ld=mold":                   "mold cannot link the map",
		"-fuse-ld=gold -Wl,--gc-sections": "gold cannot drop instrumented functions",
	} {
		r := b.cc(append([]string{cc, generate, "m.o", "-o", "prog"}, strings.Fields(args)...)...)
		if r.code != 1 || !strings.Contains(r.stderr, "profuse cc: "+want) {
			t.Errorf("%s: %+v, want %q", args, r, want)
		}
	}
	b.build(cc, generate, "-fuse-ld=gold", "-r", "-nostdlib", "m.o", "-o", "part.o")
	if r := b.cc(cc, generate, "-fuse-ld=gold", "part.o", "-o", "prog"); r.code != 1 || !strings.Contains(r.stderr, "profuse cc: error: prog has two sections __llvm_mipmap") {
		t.Errorf("gold after gold -r: %+v", r)
	}
	b.build(cc, generate, "part.o", "-o", "prog")
	b.run(nil, "prog")
	b.wantCalls(b.profile("prog", "default.mipraw"), map[string]uint64{"main": 1, "dead": 0})
}

// TestDependencyFile: the makefile that linkers write has no temporary files, and names
// what the linker reads without the driver.
func TestDependencyFile(t *testing.T) {
	clang := oracle.Tool(t, "clang-22")
	for i, c := range []string{"-fuse-ld=lld", "-fuse-ld=bfd", "-fuse-ld=lld -flto=thin"} {
		t.Run(strings.ReplaceAll(c, "=", "_"), func(t *testing.T) {
			if i > 0 {
				oracle.Slow(t)
			}
			t.Parallel()
			b := newBench(t, "a.c", aC, "b.c", bC, "h.h", hH)
			build := func(name, option string, flags ...string) string {
				command := slices.Concat([]string{clang, "-O1", "-Wno-unused-command-line-argument"}, strings.Fields(c), flags)
				b.build(append(command, "-c", "a.c", "b.c")...)
				b.build(append(command, "a.o", "b.o", "-o", name, option)...)
				return strings.Replace(string(b.read("dep")), name+":", "plain:", 1)
			}
			want := build("plain", "-Wl,--dependency-file=dep")
			got := build("probed", "-Wl,--dependency-file,dep", generate)
			if strings.Contains(got, "profuse-cc-") {
				t.Errorf("instrumented: %s", got)
			}
			b.writeProfile("app.mip", b.profiled("probed"))
			if got := build("used", "-Wl,--dependency-file=dep", "-fmachine-profile-use=app.mip"); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
				t.Errorf("laid out:\n%s\nwant\n%s", got, want)
			}
		})
	}
}
