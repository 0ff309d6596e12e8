package cc_test

// Where each trap of probes in assembly text is tested. Packages: i is
// instrument, d is this one, s the scripts in internal/command/testdata/script.
//
//	raw records start at 0xff        TestRawRecordsStartUntouched; i TestMachO
//	probes in landing pads           TestLandingPads; i TestInferredEqualsProbed, TestOutputUnchanged
//	labels that begin no block       TestDebugLabelsAreNoBlocks; i TestGraphs
//	cold parts of functions          TestColdParts; i TestTraps, TestSkips, TestSplitAnywhere
//	endbr64, BTI                     i TestStaysFirst, TestTraps, TestAArch64
//	patchable entries, -pg, XRay     i TestStaysFirst, TestTraps, TestSkips; d TestRefused
//	Intel syntax                     i TestIntelSyntax, TestRustc; d TestStaticAndPIE
//	inline assembly                  i TestTraps (inline_asm, asm_goto)
//	naked and top-level functions    i TestTraps (bare, raw_function), TestSkips
//	jump tables and ranges, AArch64  TestNarrowBranches; i TestSkips, TestAArch64; ARM: i TestARMRanges
//	jump tables, x86_64              TestMatrix (table); i TestOutputUnchanged (choose)
//	COMDAT                           TestComdatVariants, TestMatrix; i TestComdat
//	--gc-sections                    TestMatrix, TestSectionsAreCollected; i TestGarbageCollection; s mip-clang-19
//	warnings of lld                  TestMatrix, TestSectionsAreCollected: builds say nothing
//	identical code folding           TestFolding
//	strip                            TestStripped; s mip-clang-19
//	header first                     TestSortedSections, TestLostMap
//	PIE, libraries                   TestMatrix, TestStaticAndPIE, TestSeveralImages; i TestComdat, TestNoSymbols
//	code models                      TestMatrix (no PIE at -O0), TestRefused; i TestRefusals
//	link-time optimization           TestRefused; i TestRefusals; Rust: TestRustc
//	whose assembler                  TestOtherAssembler, TestCross, TestMatrixAArch64
//	sections for blocks              TestBlockSections; i TestTraps (-fsplit-machine-functions)
//	unwinding                        TestBacktraces, TestMatrix, TestMatrixAArch64
//	lines of DWARF                   s mip-gcc, mip-g++, mip-clang-22, mip-rustc, mip-cross
//	Mach-O atoms                     i TestMachO, TestMachORuntime; s mip-macho
//	ifunc, early constructors        TestMatrix (versioned, early), TestInterface; i TestTraps

import (
	"bytes"
	"debug/elf"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// elfSection returns the bytes of a section of an image.
func (b *bench) elfSection(image, name string) []byte {
	b.t.Helper()
	s := b.elf(image).Section(name)
	if s == nil {
		b.t.Fatalf("%s has no section %s", image, name)
	}
	if s.Type == elf.SHT_NOBITS {
		return nil
	}
	data, err := s.Data()
	if err != nil {
		b.t.Fatal(err)
	}
	return data
}

// TestRawRecordsStartUntouched: what no probe has written to is 0xff, in the program and in its profile.
func TestRawRecordsStartUntouched(t *testing.T) {
	compilers(t, func(t *testing.T, cc, _ string) {
		for _, mode := range mipModes {
			b := newBench(t, "m.c", "int never(int x) { return x ? never(x - 1) : 0; }\n"+trivial)
			b.build(slices.Concat([]string{cc, "-O0", "m.c", "-o", "prog"}, mode.flags)...)
			b.run(rawFile, "prog")
			after := b.read("raw")
			p, before := b.profile("prog"), b.elfSection("prog", "__llvm_mipraw")
			size := 1
			if !p.Type.Has(mip.FunctionCoverage) {
				size = 8
			}
			for _, f := range p.Functions {
				end := int(f.RawOffset) + size + len(f.Blocks)
				untouched := bytes.Repeat([]byte{0xff}, end-int(f.RawOffset))
				// Without contents in the program the runtime makes the section.
				if got := before[min(int(f.RawOffset), len(before)):min(end, len(before))]; len(before) > 0 && !bytes.Equal(got, untouched) {
					t.Errorf("%s: record of %s in the program % x", mode.name, f.Name, got)
				}
				if got := after[f.RawOffset:end]; bytes.Equal(got, untouched) != (f.Name == "never") {
					t.Errorf("%s: record of %s in the profile % x", mode.name, f.Name, got)
				}
			}
			if len(p.Functions) != 2 {
				t.Errorf("%d functions", len(p.Functions))
			}
		}
	})
}

// landingPads returns the labels that the tables of exceptions name. Of a
// record of four values the third is the landing pad, 0 for none.
func landingPads(text string) (labels []string) {
	for _, table := range strings.Split(text, "GCC_except_table")[1:] {
		for _, m := range regexp.MustCompile(`\.uleb128\s+(\.[A-Za-z0-9_]+)-\.(?:Lfunc_begin|LFB|LLPC|LCOLDB)?[A-Za-z0-9_]*\s*#\s*jumps to`).FindAllStringSubmatch(table, -1) {
			labels = append(labels, m[1])
		}
	}
	if labels != nil {
		return labels
	}
	// gcc: .LEHB0-.LFB1, .LEHE0-.LEHB0, .L5-.LFB1, action
	for _, m := range regexp.MustCompile(`\.uleb128\s+\.LEHE\d+-\.LEHB\d+\s+\.uleb128\s+(\.L\d+)-`).FindAllStringSubmatch(text, -1) {
		labels = append(labels, m[1])
	}
	return labels
}

// TestLandingPads: with a probe in each block, the first instruction at a landing pad is one: exceptions
// enter by the label that the tables name, which need not be the first.
func TestLandingPads(t *testing.T) {
	releases(t, func(t *testing.T, _, cxx string) {
		source, _ := filepath.Abs("testdata/matrix/lib.cc")
		for _, level := range []string{"-O0", "-O2"} {
			b := newBench(t)
			b.build(cxx, level, "-S", generate, covers, withBB, "-fmachine-profile-all-block-probes", source, "-o", "a.s")
			text := string(b.read("a.s"))
			pads := landingPads(text)
			if len(pads) < 5 {
				t.Fatalf("%s: only %d landing pads", level, len(pads))
			}
			for _, pad := range pads {
				_, rest, ok := strings.Cut(text, "\n"+pad+":")
				if !ok {
					t.Fatalf("no label %s", pad)
				}
				if first := firstInstruction(rest); !regexp.MustCompile(`Lmip_[rw]`).MatchString(first) {
					t.Errorf("%s: %s begins with %q, not with a probe", level, pad, first)
				}
			}
		}
	})
}

// firstInstruction returns the first line that is one. Text starts behind a label.
func firstInstruction(text string) string {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		if line = strings.TrimSpace(line); line != "" && line[0] != '.' && !strings.HasSuffix(line, ":") {
			return line
		}
	}
	return ""
}

// graphs lists the functions of a profile with what is known of their blocks.
func graphs(p *mip.Profile) (list []string) {
	for _, f := range p.Functions {
		list = append(list, fmt.Sprintf("%s %08x %d", f.Name, f.CFG, len(f.Blocks)))
	}
	slices.Sort(list)
	return list
}

// TestDebugLabelsAreNoBlocks: debug information adds labels everywhere, and
// changes nothing in the control flow.
func TestDebugLabelsAreNoBlocks(t *testing.T) {
	oracle.Slow(t)
	releases(t, func(t *testing.T, cc, cxx string) {
		sources := []string{"testdata/matrix/lib.cc", "testdata/matrix/main.cc"}
		for i, s := range sources {
			sources[i], _ = filepath.Abs(s)
		}
		for _, level := range []string{"-O2", "-O0"} {
			if level == "-O0" && !oracle.Everything() {
				break
			}
			b := newBench(t)
			var want []string
			for _, debug := range []string{"-g0", "-g3"} {
				b.build(slices.Concat([]string{cxx, level, debug, generate, covers, withBB, "-fmachine-profile-all-block-probes", "-shared", "-fPIC"}, sources, []string{"-o", "lib.so"})...)
				got := graphs(b.profile("lib.so"))
				if want == nil {
					want = got
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s %s: %s", level, debug, diff)
				}
			}
		}
	})
}

// TestColdParts: the part of a function that gcc puts elsewhere has a record of its own where that tells
// more than the function's, and functions are complete with it.
func TestColdParts(t *testing.T) {
	gcc := oracle.Tool(t, "gcc")
	b := newBench(t, "m.c", `
#include <stdio.h>
#include <stdlib.h>
__attribute__((cold, noinline)) static void fail(int x) { printf("fail %d\n", x); }
__attribute__((noinline)) int mostly(int x) {
  if (__builtin_expect(x > 100, 0)) { fail(x); fail(x + 1); return x * 3; }
  return x;
}
int main(int argc, char **argv) { printf("%d\n", mostly(atoi(argv[1]))); return 0; }
`)
	flags := []string{gcc, "-O2", "-freorder-blocks-and-partition", generate, "m.c", "-o", "prog"}
	b.build(append(flags, covers, withBB)...)
	for args, cold := range map[string]uint64{"7": 0, "700": 1} {
		p := b.profiled("prog", args)
		b.wantCalls(p, map[string]uint64{"mostly": 1, "fail": cold})
		found := false
		for _, f := range p.Functions {
			if f.Name == "mostly.cold" {
				found = true
				if f.Covered() != (cold != 0) {
					t.Errorf("with %s mostly.cold is covered: %t", args, f.Covered())
				}
			}
		}
		if !found {
			t.Errorf("no record of mostly.cold: %v", calls(p))
		}
	}
	for _, mode := range [][]string{{covers}, {withBB}} {
		b.build(append(flags, mode...)...)
		if _, found := calls(b.profile("prog"))["mostly.cold"]; found {
			t.Errorf("%v: a cold part is recorded as a function that is called", mode)
		}
	}
}

// TestNarrowBranches: AArch64's compressed jump tables and short branches do
// not reach over probes. Tables are made wider; functions that are too large
// for their branches have no block probes and are reported.
func TestNarrowBranches(t *testing.T) {
	oracle.Slow(t)
	qemu := oracle.Tool(t, "qemu-aarch64")
	var large, wide strings.Builder
	large.WriteString("extern volatile int v;\nextern void g(int);\nint f(long x) {\n  if (x & 4) {\n")
	for i := range 1150 {
		fmt.Fprintf(&large, "    if (v == %d) g(%d);\n", i*7919+3, i)
	}
	large.WriteString("  }\n  return v;\n}\n")
	wide.WriteString("#include <stdio.h>\nvolatile int v;\nvoid g(int x) { v += x; }\nint f(long);\nint pick(int x, int y) {\n  switch (x) {\n")
	for i := range 40 {
		fmt.Fprintf(&wide, "  case %d: if (y > %d) y = y * %d + 1; g(y); if (v & %d) g(%d); break;\n", i, i, i, i+1, i)
	}
	wide.WriteString("  }\n  return y;\n}\nint main(void) {\n  int s = f(4);\n  for (int i = -1; i < 42; i++) s += pick(i, 2 * i);\n  printf(\"%d\\n\", s);\n  return 0;\n}\n")
	for _, cc := range [][]string{{"aarch64-linux-gnu-gcc"}, {"clang-22", "--target=aarch64-linux-gnu", "-fuse-ld=lld"}} {
		t.Run(cc[0], func(t *testing.T) {
			t.Parallel()
			cc := append([]string{oracle.Tool(t, cc[0])}, cc[1:]...)
			b := newBench(t, "large.c", large.String(), "wide.c", wide.String())
			build := slices.Concat(cc, []string{"-O2", "-static", "large.c", "wide.c", "-o"})
			b.exec(nil, append(build, "plain")...)
			want := b.exec(nil, qemu, b.path("plain"))
			if want.code != 0 || want.stdout == "" {
				t.Fatal(want)
			}
			b.succeeds(nil, slices.Concat([]string{b.self, "--report", "report", generate, withBB, "--"}, append(build, "prog"))...)
			report := string(b.read("report"))
			if !strings.Contains(report, "large.c\tf\tno block probes: too large for the range of its branches\n") || strings.Contains(report, "pick") {
				t.Errorf("report %q", report)
			}
			if got := b.exec(rawFile, qemu, b.path("prog")); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
			b.wantCalls(b.profile("prog", "raw"), map[string]uint64{"pick": 43, "f": 1, "main": 1})
		})
	}
}

// TestComdatVariants: of functions that several objects have in different
// versions, with or without records, the linker keeps code and record of one.
func TestComdatVariants(t *testing.T) {
	releases(t, func(t *testing.T, _, cxx string) {
		b := newBench(t, "h.h", `#include <cstdio>
inline __attribute__((noinline)) int shared(int x) { int s = 0; for (int i = 0; i < x; i++) if (i % 3) s += i; return s + std::printf("%d ", x); }
int second(int);
`, "one.cc", "#include \"h.h\"\nint main() { std::printf(\"%d\\n\", shared(5) + second(6)); }\n",
			"two.cc", "#include \"h.h\"\nint second(int x) { return shared(x) + shared(x + 1); }\n")
		b.build(cxx, "-O2", "-c", "two.cc", "-o", "bare.o")
		for i, mode := range richModes {
			if i > 0 && !oracle.Everything() {
				break
			}
			b.build(slices.Concat([]string{cxx, "-O0", "-c", "one.cc"}, mode.flags)...)
			b.build(slices.Concat([]string{cxx, "-O3", "-c", "two.cc"}, mode.flags)...)
			for _, c := range []struct {
				objects string
				known   bool // of shared
			}{{"one.o two.o", true}, {"two.o one.o", true}, {"one.o bare.o", true}, {"bare.o one.o", false}} {
				b.build(slices.Concat([]string{cxx, "-o", "prog"}, strings.Fields(c.objects), mode.flags)...)
				if got, want := b.run(rawFile, "prog"), "5 6 7 37\n"; got != want {
					t.Errorf("%s: printed %q, want %q", c.objects, got, want)
				}
				p := b.profile("prog", "raw")
				want := uint64(3)
				if p.Type.Has(mip.FunctionCoverage) {
					want = 1
				}
				if n, known := calls(p)["_Z6sharedi"]; known != c.known || known && n != want {
					t.Errorf("%s %s: %d calls of shared (in the profile: %v), want %d (%v)", mode.name, c.objects, n, known, want, c.known)
				}
			}
		}
	})
}

// TestFolding: the linker's folding of identical functions keeps them apart, and their records.
func TestFolding(t *testing.T) {
	cc := oracle.Tool(t, "clang-22")
	oracle.Tool(t, "ld.lld-22")
	for _, mode := range richModes {
		b := newBench(t, "m.c", `
__attribute__((noinline)) int one(volatile int *p) { return *p + 1; }
__attribute__((noinline)) int same(volatile int *p) { return *p + 1; }
__attribute__((noinline)) int never(volatile int *p) { return *p + 1; }
int main(int argc, char **argv) { int x = argc; return argc > 9 ? never(&x) : one(&x) - same(&x); }
`)
		b.build(slices.Concat([]string{cc, "-O1", "-ffunction-sections", "-fuse-ld=lld", "-Wl,--icf=all", "m.c", "-o", "prog"}, mode.flags)...)
		b.wantCalls(b.profiled("prog"), map[string]uint64{"one": 1, "same": 1, "never": 0})
	}
}

// TestSortedSections: options of linkers that move sections of a name leave the header where it is.
func TestSortedSections(t *testing.T) {
	releases(t, func(t *testing.T, cc, _ string) {
		tools := lldTools(t)
		b := newBench(t, "a.c", aC, "b.c", bC, "h.h", hH)
		b.build(cc, generate, "-ffunction-sections", "-c", "a.c", "b.c")
		for _, options := range []string{"-fuse-ld=bfd -Wl,--sort-section=name", "-fuse-ld=bfd -Wl,--sort-section=alignment", "-fuse-ld=lld -Wl,--sort-section=name", "-fuse-ld=lld -Wl,--sort-section=alignment"} {
			b.build(slices.Concat([]string{cc, generate, "-B" + tools, "b.o", "a.o", "-o", "prog"}, strings.Fields(options))...)
			if got := b.run(rawFile, "prog"); got != "2\n" {
				t.Errorf("%s: printed %q", options, got)
			}
			b.wantCalls(b.profile("prog", "raw"), map[string]uint64{"main": 1, "f": 1})
		}
	})
}

// TestOtherAssembler: clang prints for the assembler it will use.
func TestOtherAssembler(t *testing.T) {
	b := newBench(t, "a.c", aC, "b.c", bC, "h.h", hH)
	b.build(oracle.Tool(t, "clang-22"), "-fno-integrated-as", "-O2", "-g", generate, withBB, "a.c", "b.c", "-o", "prog")
	b.prints("2\n", rawFile, "prog")
	b.wantCalls(b.profile("prog", "raw"), map[string]uint64{"main": 1, "f": 1})
}

// TestBlockSections: blocks do not get sections of their own, which is said.
func TestBlockSections(t *testing.T) {
	b := newBench(t, "a.c", aC, "h.h", hH)
	for _, flag := range []string{"-fbasic-block-sections=all", "-fsplit-machine-functions"} {
		r := b.cc(oracle.Tool(t, "clang-22"), flag, generate, withBB, "-S", "a.c")
		if r.code != 0 || r.stderr != "profuse cc: warning: "+flag+": ignored, since -fmachine-profile-generate needs the blocks of a function together\n" {
			t.Errorf("%s: %+v", flag, r)
		}
		if strings.Contains(string(b.read("a.s")), "main.__part.") {
			t.Errorf("%s: not ignored", flag)
		}
	}
	b.build(oracle.Tool(t, "clang-22"), "-fbasic-block-sections=none", generate, withBB, "-c", "a.c")
}

// backtraces prints how many frames there are when a function is called, by
// others and out of a signal handler.
const backtraces = `
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unwind.h>
static _Unwind_Reason_Code count(struct _Unwind_Context *c, void *n) { (void)c; ++*(int *)n; return 0; }
__attribute__((noinline)) int frames(void) { int n = 0; _Unwind_Backtrace(count, &n); return n; }
static volatile int seen;
__attribute__((noinline)) static void handler(int s) { seen = frames() + (s == 0); }
__attribute__((noinline)) int deep(int x) { volatile int local = x; int n = x ? deep(x - 1) : frames(); return n + (local == 99); }
__attribute__((noinline)) int raised(int x) { int v[4] = {x, 1, 2, 3}; if (x) return raised(x - 1) + v[x & 3] * 0; raise(SIGUSR1); return seen; }
int main(void) {
  signal(SIGUSR1, handler);
  int base = deep(0);
  printf("%d %d\n", deep(7) - base, raised(6) - raised(0));
  return 0;
}
`

// TestBacktraces: unwinding sees the frames that there are.
func TestBacktraces(t *testing.T) {
	targets := map[string][]string{
		"gcc": {"gcc"}, "clang": {"clang-22"}, "gcc64": {"aarch64-linux-gnu-gcc", "-static"},
		"clang64": {"clang-22", "--target=aarch64-linux-gnu", "-fuse-ld=lld", "-static"},
	}
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		t.Run(name, func(t *testing.T) {
			if name != "gcc" {
				oracle.Slow(t)
			}
			t.Parallel()
			cc := append([]string{oracle.Tool(t, targets[name][0])}, targets[name][1:]...)
			var emulator []string
			if strings.HasSuffix(name, "64") {
				emulator = []string{oracle.Tool(t, "qemu-aarch64")}
			}
			b := newBench(t, "m.c", backtraces)
			for _, level := range []string{"-O0", "-O2"} {
				for _, mode := range richModes {
					b.build(slices.Concat(cc, []string{level, "-fno-optimize-sibling-calls", "-fexceptions", "-fasynchronous-unwind-tables", "m.c", "-o", "prog"}, mode.flags)...)
					r := b.exec(rawFile, append(emulator, b.path("prog"))...)
					if want := (result{stdout: "7 6\n"}); r != want {
						t.Errorf("%s %s: %+v, want %+v", level, mode.name, r, want)
					}
				}
			}
		})
	}
}

// TestMatrixAArch64 runs the program of [TestMatrix] under emulation.
func TestMatrixAArch64(t *testing.T) {
	oracle.Slow(t)
	qemu := oracle.Tool(t, "qemu-aarch64")
	for _, tools := range [][]string{
		{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++"},
		{"clang-22", "clang++-22", "--target=aarch64-linux-gnu"},
	} {
		t.Run(tools[0], func(t *testing.T) {
			t.Parallel()
			cc, cxx := oracle.Tool(t, tools[0]), oracle.Tool(t, tools[1])
			oracle.Tool(t, "aarch64-linux-gnu-g++") // its library
			for _, level := range []string{"-O0", "-O2"} {
				for _, mode := range richModes {
					m := matrixBuild{bench: newBench(t), cc: cc, cxx: cxx, flags: slices.Concat(mode.flags, []string{level}, tools[2:])}
					m.compile("-fPIC")
					m.link("-static", "-Wl,--gc-sections", "main.o", "lib.o", "matrix.o", "-o", "prog")
					got := m.exec(rawFile, qemu, m.path("prog"))
					if want := (result{stdout: matrixOutput, code: matrixCode}); got != want {
						t.Errorf("%s %s: %+v\nwant %+v", level, mode.name, got, want)
						continue
					}
					m.check(level+" "+mode.name, m.profile("prog", "raw"))
				}
			}
		})
	}
}

// TestAlignment: block probes do away with the alignment of loops, unless the command line asks for it.
func TestAlignment(t *testing.T) {
	releases(t, func(t *testing.T, cc, _ string) {
		b := newBench(t, "a.c", "int f(const int *p, int n) { int s = 1; for (int i = 0; i < n; i++) s = s * 31 ^ p[s & 7]; return s; }\n")
		for _, c := range []struct {
			flags  []string
			passed bool
		}{
			{[]string{withBB}, true}, {nil, false}, {[]string{withBB, "-falign-loops=32"}, false},
		} {
			b.build(append([]string{cc, "-O2", generate, "-save-temps", "-c", "a.c"}, c.flags...)...)
			text := b.read("a.s")
			if got := strings.Contains(string(text), "\t.if\t0\n"); got != c.passed {
				t.Errorf("%v: alignment passed over: %t, want %t", c.flags, got, c.passed)
			}
		}
	}, "clang-22")
}
