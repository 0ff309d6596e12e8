package cov

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestBitmapsOfLLVM18 compares MC/DC of the layout of LLVM 18: a bit for each combination of
// conditions, from a byte on. The program is one of release 22 whose decision of three
// conditions gets the index of a byte, and the profile has version 11.
func TestBitmapsOfLLVM18(t *testing.T) {
	llvmTool(t, 22, "llvm-cov")
	clang, profdata := llvmTool(t, 22, "clang"), llvmTool(t, 22, "llvm-profdata")
	t.Chdir(t.TempDir())
	const source = "int three(int a, int b, int c) { return (a && b) || c; }\nint main(void) { return three(1, 0, 0); }\n"
	oracle.WriteFile(t, "three.c", []byte(source))
	sh(t, clang, append(instrumented, "-fcoverage-mcdc", "three.c", "-o", "program")...)
	t.Setenv("LLVM_PROFILE_FILE", "raw")
	sh(t, "./program")
	text := sh(t, profdata, "merge", "--text", "raw", "-o", "-")
	program := oracle.ReadFile(t, "program")
	// The region of a decision: its kind, the end of its five bits, three conditions.
	decision := []byte{5 << 3, 5, 3}
	if bytes.Count(program, decision) != 1 {
		t.Skip("the compiler encodes decisions otherwise")
	}
	oracle.NoError(t, os.WriteFile("program", bytes.Replace(program, decision, []byte{5 << 3, 0, 3}, 1), 0o777))
	bitmap := regexp.MustCompile(`(Bitmap Byte Values:\n)0x[0-9a-f]+`)
	results := make(map[string]bool)
	for bits := 0; bits < 256; bits += oracle.Step(37) {
		oracle.WriteFile(t, "text", []byte(bitmap.ReplaceAllString(text, fmt.Sprintf("${1}%#x", bits))))
		sh(t, profdata, "merge", "--write-prev-version", "text", "-o", "profdata")
		compare(t, "show", "-show-mcdc", "-instr-profile=profdata", "program")
		results[runMain(t, "show", "-show-mcdc", "-instr-profile=profdata", "program").stdout] = true
	}
	if len(results) < 5 {
		t.Errorf("%d different results", len(results))
	}
}

// TestManyExpansions: what expansions cost is linear in their number.
func TestManyExpansions(t *testing.T) {
	llvmTool(t, 22, "llvm-cov")
	clang := llvmTool(t, 22, "clang")
	t.Chdir(t.TempDir())
	const uses = 1000
	var b strings.Builder
	b.WriteString("#define LESS(a, b) ((a) < (b) ? (a) : (b))\nint main(int c, char **v) {\n  int r = 0;\n")
	for i := range uses {
		fmt.Fprintf(&b, "  r += LESS(c, %d);\n", i)
	}
	b.WriteString("  return r == 42;\n}\n")
	oracle.WriteFile(t, "uses.c", []byte(b.String()))
	sh(t, clang, append(instrumented, "uses.c", "-o", "program")...)
	profileOf(t, 22, "program")
	args := []string{"show", "-show-expansions", "-show-branches=count", "-instr-profile=program.profdata", "program"}
	compare(t, args...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	runMain(t, args...)
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) / uses; n > 16<<10 {
		t.Errorf("%d bytes were allocated for each expansion", n)
	}
}

// TestUniversal compares what -arch selects of a universal Mach-O file.
func TestUniversal(t *testing.T) {
	buildMacros(t)
	clang, lipo := llvmTool(t, 22, "clang"), llvmTool(t, 22, "llvm-lipo")
	for _, arch := range []string{"x86_64", "arm64"} {
		sh(t, clang, append(instrumented, "-target", arch+"-apple-macos", "-c", "macros.c", "-o", arch+".o")...)
	}
	sh(t, lipo, "-create", "x86_64.o", "arm64.o", "-output", "fat.o")
	for _, arch := range []string{"", "-arch=x86_64", "-arch=arm64", "-arch=ppc"} {
		for _, command := range []string{"export", "report"} {
			args := []string{command, "-instr-profile=program.profdata", "fat.o"}
			if arch != "" {
				args = append(args, arch)
			}
			compare(t, args...)
		}
	}
}
