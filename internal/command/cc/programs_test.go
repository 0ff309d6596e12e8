package cc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// A C++ program in two files: exceptions through frames with destructors, inline functions that both
// files have, statics of one name in both, threads, and virtual calls.
const (
	sharedH = `#pragma once
#include <cstdio>
#include <stdexcept>
#include <string>
inline int common(int x) { return x * 3 + 1; }
template <class T> T twice(T v) { return v + v; }
struct Shape { virtual ~Shape() {} virtual int area() const = 0; };
struct Guard { const char *name; ~Guard() { std::printf("leaving %s\n", name); } };
int risky(int n);
int other(int n);
`
	oneCC = `#include "shared.h"
#include <thread>
#include <vector>
struct Square : Shape { int a; explicit Square(int a) : a(a) {} int area() const override { return a * a; } };
struct Line : Shape { int area() const override { return 0; } };
static int dup(int x) { return x + 1; }
extern "C" __attribute__((noinline)) int counted(int x) { return x + 1; }
extern "C" __attribute__((noinline)) int never(int x) { return x - 1; }
int main(int argc, char **argv) {
  Guard g{"main"};
  int sum = 0;
  for (int i = 0; i < 7; i++) {
    try { sum += risky(i); }
    catch (const std::runtime_error &e) { std::printf("caught %s\n", e.what()); }
    catch (int n) { std::printf("caught %d\n", n); }
  }
  for (int i = 0; i < 100; i++) sum += counted(i);
  if (argc > 5) sum += never(sum);
  std::vector<std::thread> threads;
  int parts[4] = {};
  for (int t = 0; t < 4; t++) threads.emplace_back([t, &parts] { for (int i = 0; i < 1000; i++) parts[t] += common(i) % 7; });
  for (auto &t : threads) t.join();
  for (int p : parts) sum += p;
  Square square(argc + 4);
  Shape *shape = &square;
  std::printf("%d %d %s %d\n", sum, shape->area(), twice(std::string("ab")).c_str(), dup(argc) + other(argc));
  return sum % 50;
}
`
	twoCC = `#include "shared.h"
static int dup(int x) { return x + 2; }
static int deep(int n) {
  Guard g{"deep"};
  if (n == 3) throw std::runtime_error("three");
  if (n == 5) throw n;
  return common(n);
}
int risky(int n) {
  Guard g{"risky"};
  try { return deep(n); } catch (int) { std::printf("passing on\n"); throw; }
}
int other(int n) {
  switch (n) {
  case 0: return 5; case 1: return dup(n); case 2: return 9; case 3: return 12; case 4: return 77; case 5: return 3;
  }
  return -1;
}
`
)

// TestCountsEqualClangs compares with -fprofile-instr-generate; see TestMatrix for modes and levels.
func TestCountsEqualClangs(t *testing.T) {
	oracle.Slow(t)
	clang, profdata := oracle.Tool(t, "clang++-19"), oracle.LLVM(t, 19)
	b := newBench(t, "shared.h", sharedH, "one.cc", oneCC, "two.cc", twoCC)
	b.build(clang, "-O0", "-pthread", generate, "-fmachine-profile-atomic", "one.cc", "two.cc", "-o", "prog")
	did := b.exec([]string{"LLVM_MIP_PROFILE_FILENAME=raw"}, b.path("prog"))
	got := calls(b.profile("prog", "raw"))

	b.build(clang, "-O0", "-pthread", "-fprofile-instr-generate", "-fprofile-update=atomic", "one.cc", "two.cc", "-o", "instr")
	if want := b.exec([]string{"LLVM_PROFILE_FILE=instr.profraw"}, b.path("instr")); did != want {
		t.Errorf("%+v, want %+v", did, want)
	}
	if r := b.exec(nil, profdata, "merge", "-o", "instr.profdata", "instr.profraw"); r.code != 0 {
		t.Fatal(r.stderr)
	}
	text := b.exec(nil, profdata, "show", "--all-functions", "--counts", "instr.profdata").stdout
	compared := 0
	name := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if n, ok := strings.CutSuffix(line, ":"); ok && !strings.Contains(n, " ") {
			name = n
		}
		var count uint64
		if _, err := fmt.Sscanf(line, "Function count: %d", &count); err != nil {
			continue
		}
		if strings.Contains(name, ";") || strings.Contains(name, ":") { // static: FILE;NAME
			name = name[strings.LastIndexAny(name, ";:")+1:]
			if name == "_ZL3dupi" { // two of them
				count = 2
			}
		}
		// Constructors and destructors are counted once for all their variants.
		have, ok := got[name]
		if !ok || strings.Contains(name, "C2E") || strings.Contains(name, "D2E") {
			continue
		}
		compared++
		if have != count {
			t.Errorf("%s: %d calls, clang counts %d", name, have, count)
		}
	}
	if compared < 12 {
		t.Errorf("compared only %d functions", compared)
	}
}

// TestSectionsAreCollected: with --gc-sections what is not needed goes, with
// its records, and the profile is right about the rest.
func TestSectionsAreCollected(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		for _, ld := range []string{"bfd", "lld"} {
			// gcc knows lld by its plain name only.
			tools := t.TempDir()
			if ld == "lld" {
				if err := os.Symlink(oracle.Tool(t, "ld.lld", "ld.lld-19", "ld.lld-22"), filepath.Join(tools, "ld.lld")); err != nil {
					t.Fatal(err)
				}
			}
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
				args := []string{cc, "-O0", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-fuse-ld=" + ld, "-B" + tools, "gc.c", "-o", "prog"}
				b.build(append(args, mode...)...)
				b.run([]string{"LLVM_MIP_PROFILE_FILENAME=raw"}, "prog")
				p := b.profile("prog", "raw")
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
			if got := b.run([]string{"LLVM_MIP_PROFILE_FILENAME=raw"}, "prog"); got != "here\n" {
				t.Errorf("%v: printed %q", flags, got)
			}
			b.wantCalls(b.profile("prog", "raw"), map[string]uint64{"main": 1})
		}
	})
}
