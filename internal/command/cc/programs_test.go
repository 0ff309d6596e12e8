package cc_test

import (
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestSectionsAreCollected: with --gc-sections what is not needed goes, with
// its records, and the profile is right about the rest.
func TestSectionsAreCollected(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		for _, ld := range []string{"bfd", "lld"} {
			for i, mode := range [][]string{{generate, covers, withBB}, {generate}} {
				if i > 0 && !oracle.Everything() {
					break
				}
				b := newBench(t, "gc.c", `
#include <stdio.h>
int used(int x) { return x + 1; }
int dead(int x) { return x + 2; }
static int deader(int x) { return dead(x); }
int deadest(int x) { return deader(x) + used(x); }
int main(void) { printf("%d\n", used(1)); return 0; }
`)
				args := []string{cc, "-O0", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-fuse-ld=" + ld, "-B" + lldTools(t), "gc.c", "-o", "prog"}
				b.build(append(args, mode...)...)
				p := b.profiled("prog")
				if len(p.Functions) != 2 {
					t.Errorf("%s: functions %v, want main and used", ld, calls(p))
				}
				b.wantCalls(p, map[string]uint64{"main": 1, "used": 1})
			}
		}
	})
}

// TestStaticAndPIE: the ways to link a program.
func TestStaticAndPIE(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		for _, flags := range [][]string{{"-static"}, {"-static-pie", "-fPIE"}, {"-pie", "-fPIE"}, {"-no-pie", "-fno-pie"}, {"-masm=intel"}, {"-fcf-protection=full"}, {"-fno-asynchronous-unwind-tables"}} {
			b := newBench(t, "m.c", "#include <stdio.h>\nint main(void) { puts(\"here\"); return 0; }\n")
			b.build(append([]string{cc, "-O2", generate, withBB, "m.c", "-o", "prog"}, flags...)...)
			if got := b.run(rawFile, "prog"); got != "here\n" {
				t.Errorf("%v: printed %q", flags, got)
			}
			b.wantCalls(b.profile("prog", "raw"), map[string]uint64{"main": 1})
		}
	})
}
