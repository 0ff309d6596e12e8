//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
)

// The program for coverage: files that share headers with macros, inline functions and templates, as C++ projects do.
const (
	coverHeaders   = 200
	coverSources   = 400
	coverFunctions = 75 // of a source
	coverIncludes  = 6  // headers of a source
)

// coverHeader returns a header with macros, whose uses are mapped as expansions (CounterMappingRegion::ExpansionRegion),
// inline functions and a template, which each source that uses them maps again.
func coverHeader(h int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#pragma once\n#define MAX%d(a, b) ((a) > (b) ? (a) : (b))\n", h)
	fmt.Fprintf(&b, "#define CHECK%d(x) do { if (!(x)) bad%d++; } while (0)\nstatic int bad%d;\n", h, h, h)
	for k := range 4 {
		fmt.Fprintf(&b, "static inline int small%d_%d(int x) {\n  if (x > %d && x < %d) return x * 2;\n", h, k, k, k*7+3)
		fmt.Fprintf(&b, "  for (int i = 0; i < x %% 4; i++) { x += i; }\n  return x ? x : %d;\n}\n", k)
	}
	fmt.Fprintf(&b, "template <class T> T more%d(T x) {\n  if (x > T(2)) return x;\n  return x + T(1);\n}\n", h)
	return b.String()
}

// coverSource returns a source file with functions that have loops, branches and a switch, and call the inline functions
// and templates of the headers.
func coverSource(s int) string {
	var b strings.Builder
	// Each header is in 12 sources.
	header := func(i int) int { return (s*7 + i*31) % coverHeaders }
	for i := range coverIncludes {
		fmt.Fprintf(&b, "#include \"header%d.h\"\n", header(i))
	}
	for k := range coverFunctions {
		h := header(k % coverIncludes)
		fmt.Fprintf(&b, "int f%d_%d(int a) {\n  int r = MAX%d(a, %d);\n  CHECK%d(r >= a || a > 3);\n", s, k, h, k, h)
		fmt.Fprintf(&b, "  if (a == %d) { r += small%d_%d(a); } else if (a > 7) r -= more%d(a);\n", k%5, h, k%4, h)
		b.WriteString("  switch (r & 3) {\n  case 0: r++; break;\n  case 1: r--;\n  default: r ^= 1;\n  }\n")
		fmt.Fprintf(&b, "  while (r > 50) r /= 2;\n  return r + (int)more%d(2.0);\n}\n", h)
	}
	fmt.Fprintf(&b, "int unit%d(int a) {\n  int r = 0;\n", s)
	for k := range coverFunctions {
		if k%3 > 0 { // the others never run
			fmt.Fprintf(&b, "  r += f%d_%d(a + %d);\n", s, k, k%9)
		}
	}
	b.WriteString("  return r;\n}\n")
	return b.String()
}

func makeCovered(dir string) ([]string, error) {
	dir = filepath.Join(dir, "covered")
	var sources []source
	for h := range coverHeaders {
		sources = append(sources, source{fmt.Sprintf("header%d.h", h), coverHeader(h)})
	}
	var calls strings.Builder
	for s := range coverSources {
		sources = append(sources, source{fmt.Sprintf("source%d.cpp", s), coverSource(s)})
		fmt.Fprintf(&calls, "int unit%d(int);\n", s)
	}
	calls.WriteString("int main(int c, char **v) {\n  int r = 0;\n")
	for s := range coverSources {
		if s%4 > 0 {
			fmt.Fprintf(&calls, "  r += unit%d(c);\n", s)
		}
	}
	calls.WriteString("  return r == 42;\n}\n")
	return covered(dir, append(sources, source{"main.cpp", calls.String()}))
}

// makeMacros returns a program with one function that uses a macro 8,000 times, and its profile.
func makeMacros(dir string) ([]string, error) {
	dir = filepath.Join(dir, "macros")
	var b strings.Builder
	b.WriteString("#define SMALLER(a, b) ((a) < (b) ? (a) : (b))\nint main(int c, char **v) {\n  int r = 0;\n")
	for i := range 8000 {
		fmt.Fprintf(&b, "  r += SMALLER(c, %d);\n", i)
	}
	b.WriteString("  return r == 42;\n}\n")
	return covered(dir, []source{{"main.cpp", b.String()}})
}

// covered builds a program in dir and runs it.
func covered(dir string, sources []source) ([]string, error) {
	program, profile := filepath.Join(dir, "program"), filepath.Join(dir, "program.profdata")
	out := []string{program, profile}
	if measure.Exists(profile) {
		return out, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	if err := build(program, sources, "clang++-22", "-w", "-fprofile-instr-generate", "-fcoverage-mapping", "-fuse-ld=lld"); err != nil {
		return nil, err
	}
	// One run is enough: the mapping is large, not the profile.
	raw := filepath.Join(dir, "program.profraw")
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "LLVM_PROFILE_FILE="+raw)
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return out, prepare("llvm-profdata-22", "merge", "-o", profile, raw)
}

// tracefile and document export the coverage as llvm-cov does.
func (b *bench) tracefile(inputs []string) []*command { return b.exporting("lcov", inputs) }
func (b *bench) document(inputs []string) []*command  { return b.exporting("text", inputs) }

// exporting prints to standard output, as both tools do; the bytes must be the same.
func (b *bench) exporting(format string, inputs []string) []*command {
	cmd := func(kind commandKind, name string, argv ...string) *command {
		argv = append(argv, "export", "-format="+format, "-instr-profile="+inputs[1], inputs[0])
		return &command{name: name, kind: kind, argv: argv, stdout: true}
	}
	return []*command{cmd(ours, "drop-in", b.profuse, "llvm-cov"), cmd(peer, "llvm", b.llvmCov)}
}
