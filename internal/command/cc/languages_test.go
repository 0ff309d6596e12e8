package cc_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestLanguages: the compilers of gcc for other languages print assembly like that of C.
func TestLanguages(t *testing.T) {
	for _, c := range []struct {
		name, cc, file, source, flags, prints string
		calls                                 map[string]uint64
	}{
		{"Fortran", "gfortran", "a.f90", `module m
contains
  recursive integer function fact(n) result(r)
    integer, intent(in) :: n
    r = 1
    if (n > 1) r = n * fact(n - 1)
  end function
end module
program p
  use m
  print '(I0)', fact(5)
end program
`, "-fno-inline -fno-optimize-sibling-calls", "120", map[string]uint64{"main": 1, "MAIN__": 1, "__m_MOD_fact": 5}},
		{"Objective-C", "gcc", "a.m", objectiveC, "-std=c99 -lobjc", "6", map[string]uint64{"main": 1, "_c_Counter__twice_": 3, "_i_Counter__add_": 0}},
		{"Objective-C with clang", "clang-22", "a.m", objectiveC, "-fobjc-runtime=gcc -lobjc", "6", map[string]uint64{"main": 1, "_c_Counter__twice_": 3, "_i_Counter__add_": 0}},
		{"Go", "gccgo", "a.go", `package main
func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }
func main() { c := make(chan int); go func() { c <- fib(10) }(); print(<-c, "\n") }
`, "-fno-inline", "", map[string]uint64{"main.main": 1, "main.fib": 177}},
		{"D", "gdc", "a.d", `import core.stdc.stdio;
int twice(int x) { return 2 * x; }
void main() { int s; foreach (i; 0 .. 4) s += twice(i); printf("%d\n", s); }
`, "-fno-inline", "12", map[string]uint64{"_Dmain": 1, "_D1a5twiceFiZi": 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			oracle.Slow(t)
			t.Parallel()
			cc := oracle.Tool(t, c.cc)
			b := newBench(t, c.file, c.source)
			flags := strings.Fields(c.flags)
			if strings.Contains(c.flags, "-lobjc") {
				flags = append(flags, objcHeaders(t)...)
			}
			command := slices.Concat([]string{cc, "-O1", c.file}, flags)
			b.build(append(command, generate, withBB, "-o", "probed")...)
			want := b.exec(rawFile, b.path("probed"))
			if want.code != 0 || strings.TrimSpace(want.stdout) != c.prints {
				t.Errorf("%+v, want %q", want, c.prints)
			}
			p := b.profile("probed", "raw")
			b.wantCalls(p, c.calls)
			b.writeProfile("app.mip", p)
			b.build(append(command, "-fmachine-profile-use=app.mip", "-o", "used")...)
			if got := b.exec(nil, b.path("used")); got != want {
				t.Errorf("laid out: %+v, want %+v", got, want)
			}
		})
	}
}

const objectiveC = `#include <stdio.h>
#include <objc/Object.h>
@interface Counter : Object { int n; }
- (int)add:(int)x;
+ (int)twice:(int)x;
@end
@implementation Counter
- (int)add:(int)x { n += x; return n; }
+ (int)twice:(int)x { return 2 * x; }
@end
int main(void) { int s = 0; for (int i = 0; i < 3; i++) s += [Counter twice:i]; printf("%d\n", s); return 0; }
`

// objcHeaders returns the options with which compilers find gcc's library of
// Objective-C; without it the test is skipped.
func objcHeaders(t *testing.T) []string {
	t.Helper()
	compiler, err := exec.Command(oracle.Tool(t, "gcc"), "-print-prog-name=cc1obj").Output()
	if err != nil {
		t.Fatal(err)
	}
	oracle.Tool(t, strings.TrimSpace(string(compiler)))
	include, err := exec.Command("gcc", "-print-file-name=include").Output()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"-idirafter", strings.TrimSpace(string(include))}
}

// TestAda: gnatmake runs the driver as its compiler.
func TestAda(t *testing.T) {
	oracle.Slow(t)
	t.Parallel()
	oracle.Tool(t, "gnatbind")
	b := newBench(t, "hello.adb", `with Ada.Text_IO;
procedure Hello is
   function Twice (X : Integer) return Integer is
   begin
      return 2 * X;
   end Twice;
   S : Integer := 0;
begin
   for I in 1 .. 4 loop S := S + Twice (I); end loop;
   Ada.Text_IO.Put_Line (Integer'Image (S));
end Hello;
`)
	b.build(oracle.Tool(t, "gcc"), "-O1", "-fno-inline", generate, withBB, "-c", "hello.adb")
	if r := b.exec(nil, "gnatbind", "hello.ali"); r.code != 0 {
		t.Fatal(r)
	}
	b.write("profuse-gcc", "#!/bin/sh\nexec '"+b.self+"' "+generate+" -- gcc \"$@\"\n")
	if r := b.exec(nil, oracle.Tool(t, "gnatlink"), "hello.ali", "--GCC="+b.path("profuse-gcc")); r.code != 0 {
		t.Fatal(r)
	}
	b.prints(" 20\n", rawFile, "hello")
	b.wantCalls(b.profile("hello", "raw"), map[string]uint64{"_ada_hello": 1, "hello__twice.0": 4})
}

// TestOtherCompilers: for compilers that cannot be used a sentence says what to do.
func TestOtherCompilers(t *testing.T) {
	b := newBench(t, "a.go", "package main\nfunc main() {}\n")
	for name, want := range map[string]string{
		"go": "gccgo does", "swiftc": "-profile-generate", "swift": "-profile-generate", "zig": "use clang", "ldc2": "use gdc", "dmd": "use gdc",
		"flang": "use gfortran", "flang-new-22": "use gfortran", "flang-22": "use gfortran", "nvcc": "compiler of the host", "clang-cl-19": "only ELF and Mach-O",
	} {
		b.write(name, "#!/bin/sh\nexit 1\n")
		r := b.cc(b.path(name), generate, "build", "a.go")
		if r.code != 1 || !strings.HasPrefix(r.stderr, "profuse cc: error: "+name+": ") || !strings.Contains(r.stderr, want) || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%s: %+v, want %q", name, r, want)
		}
	}
	r := b.cc(oracle.Tool(t, "clang-22"), generate, "-c", "a.go")
	if r.code != 1 || r.stderr != "profuse cc: error: a.go: clang does not compile this; gccgo, gdc and gnat do\n" {
		t.Errorf("clang: %+v", r)
	}
}
