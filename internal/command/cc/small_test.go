package cc_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/test/oracle"
)

const (
	small = "-fmachine-profile-small-runtime="
	short = "-fmachine-profile-short-probes"
)

// branches takes other ways with an argument than without.
const branches = `
#include <stdio.h>
#include <stdlib.h>
static int half(int x) { if (x % 2) puts("odd"); else x++; return x / 2; }
static int twice(int x) { puts("twice"); if (x > 2) x++; puts("done"); return x * 2; }
int never(int x) { while (x > 0) x -= twice(x); return x; }
int main(int c, char **v) {
  int x = c > 1 ? atoi(v[1]) : 0;
  if (x > 5) { printf("%d\n", half(x)); x = twice(x); }
  printf("%d\n", half(x));
  return x == -7 ? never(x) : 0;
}`

// TestSmallRuntime: it writes the same bytes as the other one, to a file that the build names.
func TestSmallRuntime(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		b := newBench(t, "m.c", branches)
		unit := fmt.Sprintf("%04x", guid.LinkUnit("prog")&0xffff)
		for _, flags := range [][]string{{covers}, {covers, withBB}, {covers, withBB, short}} {
			with := func(more ...string) []string {
				return append(append([]string{cc, "-O1", generate, "m.c", "-o", "prog"}, flags...), more...)
			}
			b.build(with()...)
			b.run([]string{"LLVM_MIP_PROFILE_FILENAME=usual"}, "prog", "6")
			b.build(with(small + "%%%h-%p.small")...)
			b.run(nil, "prog", "6")
			files := b.files("*.small")
			if len(files) != 1 || !strings.HasPrefix(files[0], "%"+unit+"-") || len(files[0]) != len("%0000-1234567.small") {
				t.Fatalf("%v: wrote %v", flags, files)
			}
			usual, got := b.read("usual"), b.read(files[0])
			if !bytes.Equal(usual, got) {
				t.Errorf("%v: it wrote\n% x, want\n% x", flags, got, usual)
			}
			if err := os.Remove(b.path(files[0])); err != nil {
				t.Fatal(err)
			}
			b.build(with(small + b.path("none/x"))...)
			r := b.exec(nil, b.path("prog"))
			if want := "[MIPRuntime]: Failed to write to " + b.path("none/x") + "\n"; r.stderr != want || r.code != 0 {
				t.Errorf("%v: said %q, exit code %d; want %q", flags, r.stderr, r.code, want)
			}
		}
		for _, bad := range []string{"%m", "%p%p", "%"} {
			if r := b.cc(cc, generate, covers, small+bad, "m.c", "-o", "prog"); r.code == 0 || !strings.Contains(r.stderr, "may have %h, one %p, and %%") {
				t.Errorf("%s: %+v", bad, r)
			}
		}
	})
}

// TestProbesOfTwoKinds: objects whose probes differ in length do not fit in one program, which says so.
func TestProbesOfTwoKinds(t *testing.T) {
	cc := oracle.Tool(t, "gcc", "clang-22")
	b := newBench(t, "m.c", "int f(void); int main(void) { return f(); }\n", "f.c", "int f(void) { return 0; }\n")
	b.build(cc, generate, covers, "-c", "m.c")
	b.build(cc, generate, covers, short, "-c", "f.c")
	b.build(cc, generate, covers, "m.o", "f.o", "-o", "prog")
	want := "[MIPRuntime]: No header in section __llvm_mipraw: Invalid argument\n"
	if r := b.exec(nil, b.path("prog")); r.stderr != want || r.code != 0 {
		t.Errorf("said %q, exit code %d; want %q", r.stderr, r.code, want)
	}
	b.build(cc, generate, covers, "-c", "f.c")
	// A link with the flags for counts gets the runtime that its objects need.
	b.build(cc, generate, "m.o", "f.o", "-o", "prog")
	if r := b.exec(nil, b.path("prog")); r.stderr != "" || r.code != 0 || len(b.read("default.mipraw")) == 0 {
		t.Errorf("linked for counts: %+v", r)
	}
}

// TestReportOfAssumptions: the report says where calls were assumed to return.
func TestReportOfAssumptions(t *testing.T) {
	b := newBench(t, "m.c", branches)
	b.succeeds(nil, b.self, "--report", "report", generate, covers, withBB, "-fmachine-profile-calls-return", "--", oracle.Tool(t, "gcc", "clang-22"), "-O1", "-fno-inline", "-c", "m.c")
	report := string(b.read("report"))
	for _, want := range []string{"m.c\ttwice\tassumed that 2 calls return\n", "m.c\tmain\tassumed that "} {
		if !strings.Contains(report, want) {
			t.Errorf("the report lacks %q:\n%s", want, report)
		}
	}
}
