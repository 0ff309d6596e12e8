package cc_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestCross: other architectures, under emulation.
func TestCross(t *testing.T) {
	program := `
#include <pthread.h>
#include <stdio.h>
#include <stdarg.h>
int counted(int x) { return x + 1; }
int never(int x) { return x - 1; }
double sum(int n, ...) { va_list l; va_start(l, n); double d = 0; while (n--) d += va_arg(l, double); va_end(l); return d; }
struct big { double d[8]; };
struct big returns(double a) { struct big b = {{a, 2 * a, 3 * a}}; return b; }
static void *work(void *p) { for (int i = 0; i < 10; i++) *(int *)p = counted(*(int *)p); return 0; }
int main(int argc, char **argv) {
  pthread_t t;
  int n = 0;
  pthread_create(&t, 0, work, &n);
  pthread_join(t, 0);
  if (argc > 5) n = never(n);
  printf("%d %g %g\n", n, sum(3, 1.5, 2.5, 3.0), returns(2).d[2]);
  return 0;
}
`
	for _, c := range []struct {
		name, qemu string
		cc         []string
		modes      [][]string
	}{
		{"aarch64-gcc", "qemu-aarch64", []string{"aarch64-linux-gnu-gcc"}, [][]string{{withBB}, {covers, withBB}}},
		{"aarch64-clang", "qemu-aarch64", []string{"clang-19", "--target=aarch64-linux-gnu", "-fuse-ld=lld"}, [][]string{{withBB}, {covers, withBB}, {"-fmachine-profile-atomic"}}},
		{"arm-gcc", "qemu-arm", []string{"arm-linux-gnueabihf-gcc"}, [][]string{{withBB}, {covers}, {covers, "-marm"}, {withBB, "-marm"}, {"-fmachine-profile-atomic"}}},
		{"arm-clang", "qemu-arm", []string{"clang-19", "--target=arm-linux-gnueabihf", "-mthumb", "-march=armv7-a"}, [][]string{{withBB}, {covers, withBB}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.cc[0] == "clang-19" {
				oracle.Slow(t)
			}
			t.Parallel()
			qemu := oracle.Tool(t, c.qemu)
			cc := slices.Concat([]string{oracle.Tool(t, c.cc[0])}, c.cc[1:])
			for _, mode := range c.modes {
				for _, level := range []string{"-O0", "-O2"} {
					if !oracle.Everything() && (level != "-O0" || mode[0] != withBB) {
						continue
					}
					b := newBench(t, "m.c", program)
					b.build(slices.Concat(cc, []string{generate, level, "-g", "-static", "-pthread", "m.c", "-o", "prog"}, mode)...)
					r := b.exec([]string{"LLVM_MIP_PROFILE_FILENAME=%m.raw"}, qemu, b.path("prog"))
					if r.code != 0 || r.stderr != "" || r.stdout != "10 7 6\n" {
						t.Errorf("%v %s: %+v", mode, level, r)
						continue
					}
					want := map[string]uint64{"main": 1, "never": 0}
					if level == "-O0" {
						maps.Copy(want, map[string]uint64{"sum": 1, "returns": 1, "work": 1, "counted": 10})
						if slices.Contains(mode, covers) {
							want["counted"] = 1
						}
					}
					b.wantCalls(b.profile("prog", b.files("*.raw")...), want)
				}
			}
		})
	}
}
