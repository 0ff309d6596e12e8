package cov

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// A program is a set of sources with the releases whose compilers build it.
type program struct {
	sources []string
	options []string
	from    int // LLVM release
}

var programs = []program{
	{sources: []string{"templates.cpp"}},
	{sources: []string{"macros.c"}},
	{sources: []string{"lines.c"}},
	{sources: []string{"switches.c"}},
	{sources: []string{"uses.cpp", "second.cpp"}},
	{sources: []string{"decisions.c"}, options: []string{"-fcoverage-mcdc"}, from: 19},
	{sources: []string{"uses.cpp", "second.cpp"}, options: []string{"-fcoverage-mcdc"}, from: 19},
	{sources: []string{"macros.c"}, options: []string{"-fcoverage-mcdc"}, from: 19},
}

// TestPrograms compares all outputs for programs of C and C++ by several compilers.
func TestPrograms(t *testing.T) {
	logCompared(t)
	first := true
	for _, version := range []int{22, 14, 16, 19} {
		for _, p := range programs {
			if version < p.from {
				continue
			}
			for _, level := range []string{"-O0", "-O2"} {
				name := fmt.Sprintf("%s-%d%s%s", strings.TrimSuffix(p.sources[0], filepath.Ext(p.sources[0])), version, level, strings.Join(p.options, ""))
				always := version == 22 && level == "-O0" && (first || p.from > 0 && p.sources[0] == "decisions.c")
				first = false
				t.Run(name, func(t *testing.T) {
					if !always {
						oracle.Slow(t)
					}
					llvmTool(t, 22, "llvm-cov")
					clang := "clang"
					if strings.HasSuffix(p.sources[0], ".cpp") {
						clang = "clang++"
					}
					clang = llvmTool(t, version, clang)
					copySources(t)
					sh(t, clang, slices.Concat(instrumented, p.options, p.sources, []string{level, "-o", "program"})...)
					profileOf(t, version, "program")
					compareProgram(t, "program")
				})
			}
		}
	}
}

// TestRust compares all outputs for a program of Rust.
func TestRust(t *testing.T) {
	logCompared(t)
	for _, level := range []string{"0", "2"} {
		for _, edition := range []string{"2018", "2021"} {
			t.Run("O"+level+"-"+edition, func(t *testing.T) {
				oracle.Slow(t)
				llvmTool(t, 22, "llvm-cov")
				rustc := oracle.Tool(t, "rustc")
				copySources(t)
				sh(t, rustc, "-C", "instrument-coverage", "-C", "opt-level="+level, "--edition", edition, "-o", "program", "shapes.rs")
				profileOf(t, 22, "program")
				compareProgram(t, "program")
				compare(t, "show", "-Xdemangler=c++filt", "-instr-profile=program.profdata", "program")
			})
		}
	}
}

// TestObjects compares what several programs, libraries, archives and objects give together.
func TestObjects(t *testing.T) {
	logCompared(t)
	for _, version := range []int{22, 14, 16, 19} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			if version != 22 {
				oracle.Slow(t)
			}
			llvmTool(t, 22, "llvm-cov")
			clang := llvmTool(t, version, "clang++")
			copySources(t)
			build := func(args ...string) { sh(t, clang, append(args, instrumented...)...) }
			build("-c", "second.cpp", "-o", "second.o")
			build("-c", "uses.cpp", "-O2", "-o", "uses.o")
			build("uses.o", "second.o", "-o", "program")
			profileOf(t, version, "program")
			sh(t, oracle.Tool(t, "ar"), "rc", "libsecond.a", "second.o")
			sh(t, llvmTool(t, version, "llvm-cov"), "convert-for-testing", "program", "-o", "program.covmapping")
			for _, objects := range [][]string{
				{"program.covmapping"},
				{"second.o", "-object", "uses.o"}, // objects of a program
				{"-object", "uses.o", "-object", "libsecond.a"},
				{"libsecond.a"},
				{"program", "-object", "second.o", "-object=program"},
			} {
				t.Run(strings.Join(objects, ""), func(t *testing.T) { compareProgram(t, "program", objects...) })
			}

			build("-fPIC", "-shared", "second.cpp", "-o", "libshared.so")
			build("uses.cpp", "-L.", "-lshared", "-Wl,-rpath,.", "-o", "dynamic")
			t.Setenv("LLVM_PROFILE_FILE", "%m.profraw")
			sh(t, "./dynamic")
			raw, err := filepath.Glob("*_0.profraw")
			if err != nil || len(raw) == 0 {
				t.Fatal(raw, err)
			}
			sh(t, llvmTool(t, version, "llvm-profdata"), slices.Concat([]string{"merge", "-o", "dynamic.profdata"}, raw)...)
			compareProgram(t, "dynamic", "dynamic", "-object", "libshared.so")
			compareProgram(t, "dynamic", "-object=libshared.so", "-object=dynamic")

			// Another build: functions that the profile does not fit.
			build("-O2", "-DNDEBUG", "templates.cpp", "-o", "other")
			compareProgram(t, "program", "other")
			source, err := os.ReadFile("second.cpp")
			if err == nil {
				err = os.WriteFile("second.cpp", []byte(strings.Replace(string(source), "a.at(1) =", "if (x > 3) a.at(1) =", 1)), 0o666)
			}
			oracle.NoError(t, err)
			build("-c", "second.cpp", "-o", "changed.o")
			compareProgram(t, "program", "changed.o")
			compare(t, "report", "-dump", "-num-threads=1", "-instr-profile=program.profdata", "changed.o")
		})
	}
}

// TestOtherBuild compares what programs of other builds give: LLVM takes about half of the
// functions that the profile does not fit for functions that did not run.
func TestOtherBuild(t *testing.T) {
	llvmTool(t, 22, "llvm-cov")
	oldClang, clang := llvmTool(t, 16, "clang"), llvmTool(t, 22, "clang")
	copySources(t)
	const functions = 40
	for name, condition := range map[string]string{"program": "x > %d", "other": "x > %d && x < 100"} {
		var b strings.Builder
		for i := range functions {
			fmt.Fprintf(&b, "int f%d(int x) {\n", i)
			for k := range i {
				fmt.Fprintf(&b, "  if ("+condition+") x += %d;\n", k, i)
			}
			b.WriteString("  return x;\n}\n")
		}
		b.WriteString("int main(void) { return f1(f2(f3(f4(f20(1))))) == 0; }\n")
		oracle.WriteFile(t, "source.c", []byte(b.String()))
		sh(t, map[string]string{"program": clang, "other": oldClang}[name], append(instrumented, "source.c", "-o", name)...)
	}
	profileOf(t, 22, "program")
	compareProgram(t, "program", "other")
	compareProgram(t, "program", "other", "-object", "program")
	compare(t, "report", "-dump", "-num-threads=1", "-instr-profile=program.profdata", "other")
}

// TestFolders compares relative mappings and sources in other folders.
func TestFolders(t *testing.T) {
	logCompared(t)
	for _, version := range []int{22, 14, 16, 19} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			if version != 22 {
				oracle.Slow(t)
			}
			llvmTool(t, 22, "llvm-cov")
			clang := llvmTool(t, version, "clang")
			copySources(t)
			for _, dir := range []string{"a/b", "c"} {
				oracle.NoError(t, os.MkdirAll(dir, 0o777))
			}
			for from, to := range map[string]string{"macros.c": "a/macros.c", "macros.h": "a/b/macros.h"} {
				oracle.NoError(t, os.Rename(from, to))
			}
			sh(t, clang, append(instrumented, "-fcoverage-compilation-dir=.", "-Ia/b", "a/macros.c", "-o", "program")...)
			profileOf(t, version, "program")
			here := oracle.Must(os.Getwd())(t)
			const p = "-instr-profile=program.profdata"
			for _, args := range [][]string{
				{"export", "-format=lcov"},
				{"show"},
				{"show", "-compilation-dir=" + here},
				{"report", "-compilation-dir=" + here},
				{"report", "-compilation-dir=" + here, "-sources", "a/b"},
				{"export", "-compilation-dir=" + here, "-sources", "a/b/macros.h"},
				{"show", "-compilation-dir=/nowhere"},
				{"show", "-compilation-dir=/x", "-path-equivalence=/x," + here},
				{"show", "-compilation-dir=/x", "-path-equivalence=/x/," + here + "/.", "-sources", "a/macros.c"},
				{"report", "-compilation-dir=/x", "-path-equivalence=/x," + here, "-sources", "a/macros.c", "a/none.c"},
				{"show", "-compilation-dir=" + here, "-output-dir=out", "-show-directory-coverage"},
				{"show", "-compilation-dir=" + here, "-output-dir=out", "-show-directory-coverage", "-name=main"},
				{"show", "-compilation-dir=" + here, "-output-dir=out", "-ignore-filename-regex=\\.h$"},
			} {
				compare(t, append(args[:1:1], append([]string{p, "program"}, args[1:]...)...)...)
			}
		})
	}
}
