package cc_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// edgesHeader lets functions note their callers themselves. It prints, of each
// function and return address: function, place as a distance from ANCHOR, or 0
// for one outside of the image, and number of calls.
const edgesHeader = `
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct note { const char *callee; void *from; long calls; };
static struct note notes[4096];
static int lock;
__attribute__((always_inline)) static inline void note(const char *callee, void *from) {
  while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) {}
  struct note *n = notes;
  while (n->callee && (n->callee != callee || n->from != from)) n++;
  n->callee = callee, n->from = from, n->calls++;
  __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}
#define NOTE note(__func__, __builtin_extract_return_addr(__builtin_return_address(0)));
#define FN __attribute__((noinline))
extern char __ehdr_start[] __attribute__((visibility("hidden"))), etext[] __attribute__((visibility("hidden")));
__attribute__((always_inline)) static inline void print_notes(void) {
  for (struct note *n = notes; n->callee; n++) {
    char *from = n->from;
    long at = from > __ehdr_start && from < etext ? from - (char *)ANCHOR : 0;
    printf("%s %ld %ld\n", n->callee, at, n->calls);
  }
}
`

const edgesProgram = `
int main(int, char **);
#define ANCHOR main
` + edgesHeader + `
static volatile int sink;
FN void leaf(int n) { NOTE sink += n; }
FN void even(void) { NOTE leaf(1); sink++; }
FN void odd(void) { NOTE leaf(2); leaf(3); sink++; }
FN int recurse(int n) { NOTE if (!n) return 0; int r = recurse(n - 1); sink++; return r + 1; }
FN int tail(int n) { NOTE return recurse(n); }
FN int compare(const void *a, const void *b) { NOTE return *(const int *)a - *(const int *)b; }
FN double sum(int n, ...) { NOTE va_list l; va_start(l, n); double d = 0; while (n--) d += va_arg(l, double); va_end(l); return d; }
FN void never(void) { NOTE leaf(9); }
FN void *work(void *p) { NOTE for (int i = 0; i < 5000; i++) leaf(1); return p; }
FN void shared(void) { NOTE sink++; }
FN void *left(void *p) { NOTE for (int i = 0; i < 20000; i++) shared(); return p; }
FN void *right(void *p) { NOTE for (int i = 0; i < 10000; i++) shared(); return p; }
int main(int argc, char **argv) {
  NOTE
  int n = atoi(argv[1]), v[] = {5, 2, 3, 1, 4};
  void (*pointers[])(void) = {even, odd, argc > 5 ? never : even};
  for (int i = 0; i < n; i++) { even(); odd(); pointers[i % 3](); }
  for (int i = 0; i < 4; i++) tail(i);
  recurse(70);
  qsort(v, 5, sizeof *v, compare);
  if (sum(3, 1.5, 2.5, 3.0) != 7.0 || sum(1, 4.0) != 4.0) return 1;
  pthread_t t[2];
  pthread_create(t, 0, work, 0);
  pthread_join(t[0], 0);
  if (argc > 2) {
    pthread_create(t, 0, left, 0), pthread_create(t + 1, 0, right, 0);
    pthread_join(t[0], 0), pthread_join(t[1], 0);
  }
  print_notes();
  return 0;
}
`

// edges is how often each function was called from where.
type edges map[string]map[int64]uint64

func (e edges) add(callee string, from int64, calls uint64) {
	if e[callee] == nil {
		e[callee] = map[int64]uint64{}
	}
	e[callee][from] += calls
}

// noted are the edges that the program printed.
func noted(t *testing.T, printed string) edges {
	t.Helper()
	out := edges{}
	for line := range strings.Lines(printed) {
		var callee string
		var from int64
		var calls uint64
		if _, err := fmt.Sscanf(line, "%s %d %d\n", &callee, &from, &calls); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out.add(callee, from, calls)
	}
	if len(out) == 0 {
		t.Fatal("the program noted nothing")
	}
	return out
}

// profiled are those of the profile, counted from the function of that name.
func profiled(t *testing.T, p *mip.Profile, anchor string) edges {
	t.Helper()
	at := slices.IndexFunc(p.Functions, func(f mip.Function) bool { return f.Name == anchor })
	if at < 0 {
		t.Fatalf("no function %s", anchor)
	}
	out := edges{}
	for i := range p.Functions {
		for _, e := range p.Functions[i].CallEdges {
			from := int64(e.Source)
			if from != 0 {
				from -= p.Functions[at].Address
			}
			out.add(p.Functions[i].Name, from, e.Weight)
		}
	}
	return out
}

// Up to exact calls of a function its edges are exact; then one in total/exact
// is looked at, and one in longest in the end.
const exact, longest = 64, 256

// wantEdges compares edges with what the program noted of itself.
func wantEdges(t *testing.T, want, got edges) {
	t.Helper()
	for callee, from := range want {
		total := uint64(0)
		for _, n := range from {
			total += n
		}
		for at, n := range from {
			have := got[callee][at]
			allowed := 0.0
			if total > exact { // five standard deviations, and an end
				window, share := min(float64(total)/exact, longest), float64(n)/float64(total)
				allowed = 5*math.Sqrt(float64(total)*window*share*(1-share)) + window
			}
			if math.Abs(float64(have)-float64(n)) > allowed {
				t.Errorf("%s from %#x: %d calls, want %d ± %.0f", callee, at, have, n, allowed)
			}
		}
		for at, n := range got[callee] {
			if from[at] == 0 {
				t.Errorf("%s from %#x: %d calls, want none", callee, at, n)
			}
		}
	}
	for callee := range got {
		if want[callee] == nil {
			t.Errorf("%s: there are calls", callee)
		}
	}
}

const buffer = "-fmachine-profile-runtime-buffer=60000"

// TestEdges compares the call graph with that which programs record themselves, place by place.
func TestEdges(t *testing.T) {
	type build struct {
		name string
		cc   []string
		emu  []string
	}
	var builds []build
	for _, cc := range []string{"gcc", "clang-22"} {
		for _, flags := range []string{"-O2", "-O0", "-O2 -static", "-O2 -no-pie", "-Os -fPIE -pie -masm=intel"} {
			builds = append(builds, build{cc + flags, append([]string{cc}, strings.Fields(flags)...), nil})
		}
	}
	builds = append(builds, build{"clang-19-O2", []string{"clang-19", "-O2"}, nil})
	for _, flags := range []string{"-O0", "-O2", "-O2 -mbranch-protection=standard"} {
		emu := []string{"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"}
		builds = append(builds,
			build{"aarch64-gcc" + flags, append([]string{"aarch64-linux-gnu-gcc"}, strings.Fields(flags)...), emu},
			build{"aarch64-clang" + flags, append([]string{"clang-22", "--target=aarch64-linux-gnu", "-fuse-ld=lld"}, strings.Fields(flags)...), emu})
	}
	emu := []string{"qemu-arm", "-L", "/usr/arm-linux-gnueabihf"}
	for _, flags := range []string{"-O2 -marm", "-O2 -mthumb", "-O0 -mthumb -static"} {
		builds = append(builds, build{"arm-gcc" + flags, append([]string{"arm-linux-gnueabihf-gcc"}, strings.Fields(flags)...), emu})
	}
	builds = append(builds, build{"arm-clang", strings.Fields("clang-22 --target=arm-linux-gnueabihf -march=armv7-a -mthumb -fuse-ld=lld -O2 -I/usr/arm-linux-gnueabihf/include"), emu})
	main := []string{"gcc-O2", "clang-22-O2", "aarch64-gcc-O2", "arm-gcc-O2 -mthumb"}
	for _, c := range builds {
		t.Run(c.name, func(t *testing.T) {
			if !slices.Contains(main[:3], c.name) {
				oracle.Slow(t)
			}
			t.Parallel()
			cc := slices.Concat([]string{oracle.Tool(t, c.cc[0])}, c.cc[1:])
			emu := slices.Clone(c.emu)
			if len(emu) > 0 {
				emu[0] = oracle.Tool(t, emu[0])
			}
			modes := [][]string{{withBB}}
			// How the program is linked, say, makes no difference to the others.
			if oracle.Everything() && (slices.Contains(main, c.name) || strings.HasSuffix(c.name, "-O0")) {
				modes = append(modes, []string{}, []string{"-fmachine-profile-atomic"})
			}
			for _, mode := range modes {
				b := newBench(t, "m.c", edgesProgram)
				b.build(slices.Concat(cc, []string{generate, buffer, "-pthread", "m.c", "-o", "prog"}, mode)...)
				for _, args := range [][]string{{"2"}, {"5000"}, {"5000", "threads"}} {
					if len(args) > 1 && len(mode) == 0 {
						continue // counts would not be exact
					}
					r := b.exec([]string{"LLVM_MIP_PROFILE_FILENAME=a.raw"}, slices.Concat(emu, []string{b.path("prog")}, args)...)
					if r.code != 0 || r.stderr != "" {
						t.Fatalf("%v %v: %+v", mode, args, r)
					}
					p := b.profile("prog", "a.raw")
					want := noted(t, r.stdout)
					counts := map[string]uint64{}
					for callee, from := range want {
						for _, n := range from {
							counts[callee] += n
						}
					}
					if len(args) == 1 || slices.Contains(mode, "-fmachine-profile-atomic") {
						wantEdges(t, want, profiled(t, p, "main"))
						b.wantCalls(p, counts)
					}
					if t.Failed() {
						t.Fatalf("%v %v", mode, args)
					}
				}
			}
		})
	}
}

// TestEdgesRepeat: what the same program does leaves the same bytes.
func TestEdgesRepeat(t *testing.T) {
	b := newBench(t, "m.c", edgesProgram)
	b.build(oracle.Tool(t, "gcc"), "-O2", generate, buffer, "-pthread", "m.c", "-o", "prog")
	var first []byte
	for range 5 {
		b.run([]string{"LLVM_MIP_PROFILE_FILENAME=a.raw"}, "prog", "3000")
		data := b.read("a.raw")
		if first == nil {
			first = data
		}
		if !bytes.Equal(first, data) {
			t.Fatal("another run left another profile")
		}
	}
}

// TestEdgesOverflow: a buffer that is too small keeps what came first, and says how much is missing.
func TestEdgesOverflow(t *testing.T) {
	b := newBench(t, "m.c", edgesProgram)
	b.build(oracle.Tool(t, "gcc"), "-O2", generate, "-fmachine-profile-runtime-buffer=36", "-pthread", "m.c", "-o", "prog")
	want := noted(t, b.run([]string{"LLVM_MIP_PROFILE_FILENAME=a.raw"}, "prog", "10"))
	var warned []string
	p := b.merge("prog", func(w profile.Warning) { warned = append(warned, w.String()) }, "a.raw")
	got := profiled(t, p, "main")
	n, all, kept := 0, uint64(0), uint64(0)
	for callee, from := range want {
		for at, calls := range from {
			all += calls
			if have := got[callee][at]; have > 0 {
				n++
				kept += have
			}
		}
	}
	if n != 3 || got["main"][0] != 1 {
		t.Errorf("%d edges kept: %v", n, got)
	}
	if len(warned) != 1 {
		t.Fatalf("warnings %q", warned)
	}
	_, rest, _ := strings.Cut(warned[0], "about ")
	var dropped uint64
	if _, err := fmt.Sscan(rest, &dropped); err != nil || math.Abs(float64(kept+dropped)-float64(all)) > float64(all)/4 {
		t.Errorf("%d calls kept and %d dropped of %d", kept, dropped, all)
	}
	// The counts do not depend on the buffer.
	b.wantCalls(p, map[string]uint64{"main": 1, "recurse": 1 + 2 + 3 + 4 + 71})
}

// TestEdgesLibraries: a program and its libraries each have a call graph; calls
// from one to the other are from outside.
func TestEdgesLibraries(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		b := newBench(t, "lib.c", `
void lib_print(void);
#define ANCHOR lib_print
`+edgesHeader+`
static FN void inner(void) { NOTE }
void lib(void (*back)(void)) { NOTE for (int i = 0; i < 3; i++) { inner(); back(); } }
void lib_print(void) { NOTE print_notes(); }
`, "m.c", `
int main(void);
#define ANCHOR main
`+edgesHeader+`
void lib(void (*)(void)), lib_print(void);
static FN void back(void) { NOTE }
int main(void) { NOTE lib(back); back(); lib_print(); puts("--"); print_notes(); return 0; }
`)
		b.build(cc, "-O1", generate, buffer, "-fPIC", "-shared", "lib.c", "-o", "liblib.so")
		b.build(cc, "-O1", generate, buffer, "m.c", "-L.", "-llib", "-Wl,-rpath,$ORIGIN", "-o", "prog")
		out := b.run([]string{"LLVM_MIP_PROFILE_FILENAME=%m.raw"}, "prog")
		lib, prog, _ := strings.Cut(out, "--\n")
		for _, c := range []struct{ image, anchor, printed string }{{"liblib.so", "lib_print", lib}, {"prog", "main", prog}} {
			raw := b.files(fmt.Sprintf("%08x*.raw", guid.LinkUnit(c.image)))
			p := b.profile(c.image, raw...)
			wantEdges(t, noted(t, c.printed), profiled(t, p, c.anchor))
			if c.image == "prog" {
				if got := profiled(t, p, "main")["back"]; got[0] != 3 || len(got) != 2 {
					t.Errorf("back: %v", got)
				}
			}
		}
	})
}

// TestEdgesFork: parent and child have what was before the fork in common.
func TestEdgesFork(t *testing.T) {
	b := newBench(t, "m.c", `
#include <sys/wait.h>
#include <unistd.h>
static volatile int sink;
__attribute__((noinline)) void f(void) { sink++; }
__attribute__((noinline)) void child(void) { f(); sink++; }
__attribute__((noinline)) void parent(void) { f(); f(); sink++; }
int main(void) {
  f();
  if (fork() == 0) { child(); return 0; }
  wait(0);
  parent();
  return 0;
}
`)
	b.build(oracle.Tool(t, "gcc"), "-O1", generate, buffer, "m.c", "-o", "prog")
	b.run([]string{"LLVM_MIP_PROFILE_FILENAME=%p.raw"}, "prog")
	p := b.profile("prog", b.files("*.raw")...)
	got := map[string]uint64{}
	for _, c := range p.Calls() {
		if c.Caller >= 0 {
			got[p.Functions[c.Caller].Name+" "+p.Functions[c.Callee].Name] += c.Weight
		}
	}
	want := map[string]uint64{"main f": 2, "child f": 1, "parent f": 2, "main child": 1, "main parent": 1}
	for edge, n := range want {
		if got[edge] != n {
			t.Errorf("%s: %d calls, want %d", edge, got[edge], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("edges %v", got)
	}
}
