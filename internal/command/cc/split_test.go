package cc_test

import (
	"debug/elf"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// unwindProgram does in each mode but 0 something in code that mode 0 does not
// reach: it walks the stack, throws, lets exceptions pass, and must not.
const unwindProgram = `
#include <alloca.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <unistd.h>
#include <unwind.h>
#define N extern "C" __attribute__((noinline))
extern "C" char __executable_start;
static volatile int mode;
struct Failure : std::exception {
  const char *what() const noexcept override { return "from leaf"; }
};
struct Loud { const char *name; ~Loud() { printf("leaving %s\n", name); } };
static _Unwind_Reason_Code frame(_Unwind_Context *c, void *) {
  printf("ip %lx\n", (unsigned long)(_Unwind_GetIP(c) - 1 - (uintptr_t)&__executable_start));
  return _URC_NO_REASON;
}
N void walk(const char *where) { printf("stack at %s\n", where); _Unwind_Backtrace(frame, nullptr); }
N int leaf(int x) {
  if (mode == 1) walk("leaf");
  if (mode == 2) throw Failure();
  return x + 1;
}
N int middle(int x, int y, int z) {
  int a = leaf(x), b = leaf(x + a) * y;
  if (mode >= 1 && mode <= 2) {
    printf("cold %d %d\n", a, b);
    int c = leaf(a * b);
    walk("middle");
    printf("after %d\n", c);
    return c + a * b + z;
  }
  return a + b + z;
}
N int thrower(int x) {
  if (mode == 3) {
    char *text = (char *)alloca(x + 20);
    memset(text, 'x', x); text[x] = 0;
    walk("thrower");
    printf("about to throw %s\n", text);
    throw x;
  }
  return x;
}
N int passes(int x) {
  Loud l{"passes"};
  int sum = thrower(x);
  if (mode == 4) {
    try { printf("trying\n"); mode = 3; sum += thrower(x); printf("not here\n"); }
    catch (int n) { printf("caught %d within\n", n); mode = 0; sum += 100; }
  }
  return sum;
}
N int silent(int x) noexcept {
  if (mode == 5) { printf("must not throw\n"); mode = 3; return thrower(x) * 2; }
  return x;
}
N int top(int x) {
  Loud l{"top"};
  try { return middle(x, x + 1, x + 2) + passes(x) + silent(x); }
  catch (const std::exception &e) { printf("caught %s\n", e.what()); walk("handler"); return -1; }
  catch (int n) { printf("caught %d\n", n); if (mode == 3) { mode = 0; throw; } return -2; }
}
int main(int argc, char **argv) {
  mode = atoi(argv[1]);
  std::set_terminate([] { printf("terminate\n"); fflush(stdout); _exit(3); });
  int sum = 0;
  for (int i = 0; i < 3; i++) {
    try { sum += top(i + argc); } catch (...) { printf("caught in main\n"); sum -= 7; }
  }
  printf("%d\n", sum);
  return 0;
}
`

// TestSplitFunctionsUnwind: exceptions pass through, out of and into functions
// whose cold parts are elsewhere, and the stack can be walked from there.
func TestSplitFunctionsUnwind(t *testing.T) {
	releases(t, func(t *testing.T, _, cxx string) {
		for _, level := range []string{"-O1", "-O2", "-Os"} {
			if level != "-O2" && (strings.Contains(cxx, "clang++-19") || !oracle.Everything()) {
				continue
			}
			b := newBench(t, "w.cc", unwindProgram)
			build := []string{cxx, level, "-g", "w.cc"}
			b.makeProfile(append(slices.Clone(build), withBB), []string{"0"})
			b.build(append(slices.Clone(build), "-o", "plain")...)
			b.build(append(slices.Clone(build), "-fmachine-profile-use=app.mip", "-o", "used")...)
			cold := map[string]bool{}
			for mode := range 6 {
				want := b.walked("plain", mode, nil)
				got := b.walked("used", mode, cold)
				if got != want {
					t.Errorf("%s, mode %d:\n%swant\n%s", level, mode, got, want)
				}
			}
			for _, fn := range []string{"middle", "thrower"} {
				if !cold[fn] {
					t.Errorf("%s: the stack was never walked from the cold part of %s: %v", level, fn, cold)
				}
			}
			b.checkColdLines(t, "used")
		}
	})
}

// walked runs the program and names the functions on its stack. Those seen in
// cold parts are added to cold.
func (b *bench) walked(image string, mode int, cold map[string]bool) string {
	b.t.Helper()
	base := uint64(0)
	if f := b.elf(image); f.Type == elf.ET_EXEC {
		base = f.Progs[0].Vaddr
	}
	places := b.places(image)
	r := b.exec(nil, b.path(image), strconv.Itoa(mode))
	var out strings.Builder
	for line := range strings.Lines(r.stdout) {
		hex, ok := strings.CutPrefix(strings.TrimSpace(line), "ip ")
		if !ok {
			out.WriteString(line)
			continue
		}
		ip, err := strconv.ParseUint(hex, 16, 64)
		if err != nil {
			b.t.Fatal(err)
		}
		for name, p := range places {
			if ip+base >= p.addr && ip+base < p.addr+p.size {
				fn, _, split := strings.Cut(name, ".cold")
				if fmt.Fprintf(&out, "in %s\n", fn); split && cold != nil {
					cold[fn] = true
				}
			}
		}
	}
	fmt.Fprintf(&out, "exit code %d\n%s", r.code, r.stderr)
	return out.String()
}

// checkColdLines asks for the source lines of cold parts.
func (b *bench) checkColdLines(t *testing.T, image string) {
	t.Helper()
	addr2line := oracle.Tool(t, "addr2line")
	for name, p := range b.places(image) {
		fn, _, split := strings.Cut(name, ".cold")
		if !split || fn != "middle" && fn != "thrower" {
			continue
		}
		args := []string{addr2line, "-e", image}
		for at := p.addr; at < p.addr+p.size; at++ {
			args = append(args, fmt.Sprintf("%#x", at))
		}
		known := 0
		for line := range strings.Lines(b.exec(nil, args...).stdout) {
			_, line, _ := strings.Cut(strings.TrimSpace(line), "w.cc:")
			number, _, _ := strings.Cut(line, " ") // the compiler may have line 0, printed as ?
			if n, err := strconv.Atoi(number); err == nil && n > 20 {
				known++
			}
		}
		if 2*known < int(p.size) {
			t.Errorf("%s: lines are known of %d of %d bytes", name, known, p.size)
		}
	}
}
