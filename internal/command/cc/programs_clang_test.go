package cc_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestBenchProgramsEqualClang: on the C and the C++ program of bench/programs, the functions that ran and
// how often they were called are those of -fprofile-instr-generate.
func TestBenchProgramsEqualClang(t *testing.T) {
	oracle.Slow(t)
	for _, c := range []struct {
		program, cc, pattern string
		flags, headers       []string
		least                int // functions that are compared
	}{
		{"script", "clang-22", "*.c", nil, nil, 30},
		{"network", "clang++-22", "*.cpp", []string{"-std=c++17"}, []string{"boost/version.hpp", "eigen3/Eigen/Core", "nlohmann/json.hpp"}, 5000},
	} {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			if c.program != "script" { // takes long to compile
				oracle.Exhaustive(t)
			}
			cc, profdata := oracle.Tool(t, c.cc), oracle.LLVM(t, 22)
			b := newBench(t)
			for _, header := range c.headers {
				b.wantHeader(cc, header)
			}
			sources, err := filepath.Glob(filepath.Join(oracle.Root(t), "bench", "programs", c.program, c.pattern))
			if err != nil || len(sources) == 0 {
				t.Fatal("no sources", err)
			}
			flags := slices.Concat([]string{cc, "-O0"}, sources, c.flags)
			// One program has both kinds of counters: its sources take long to compile.
			b.build(append(flags, generate, "-fprofile-instr-generate", "-mllvm", "-system-headers-coverage", "-o", "counted")...)
			b.run([]string{"LLVM_MIP_PROFILE_FILENAME=raw", "LLVM_PROFILE_FILE=instr.profraw"}, "counted", "--quick")
			counted := b.profile("counted", "raw")
			text := b.exec(nil, profdata, "merge", "-text", "-o", "-", "instr.profraw")
			if text.code != 0 {
				t.Fatal(text.stderr)
			}
			// What has to be inlined always has no symbol, but a counter of clang.
			symbols := b.symbols("counted")
			want := entryCounts(t, text.stdout)
			maps.DeleteFunc(want, func(name string, _ []uint64) bool { return !symbols[name] })
			compareWithClang(t, counted, want, c.least)

			if c.program != "script" {
				return // the other takes long to compile
			}
			b.build(append(flags, generate, covers, "-o", "covered")...)
			b.run(rawFile, "covered", "--quick")
			for i, f := range b.profile("covered", "raw").Functions {
				if other := &counted.Functions[i]; f.Name != other.Name || f.Covered() != other.Covered() {
					t.Errorf("%s: coverage %t, %d calls of %s", f.Name, f.Covered(), other.CallCount, other.Name)
				}
			}
		})
	}
}

// wantHeader skips the test if a library is not installed, as [oracle.Tool].
func (b *bench) wantHeader(cc, name string) {
	b.t.Helper()
	b.write("header.cpp", "#include <"+name+">\n")
	if r := b.exec(nil, cc, "-E", "header.cpp", "-o", "header.i"); r.code == 0 {
		return
	}
	if os.Getenv(oracle.RequireEnv) == "1" {
		b.t.Fatal(oracle.Missing + name)
	}
	b.t.Skip(oracle.Missing + name)
}

func (b *bench) symbols(image string) map[string]bool {
	b.t.Helper()
	symbols := oracle.Must(b.elf(image).Symbols())(b.t)
	names := map[string]bool{}
	for _, s := range symbols {
		names[s.Name] = true
	}
	return names
}

// entryCounts reads the first counters of all functions from a profile as
// text, by name; functions local to files may share one.
func entryCounts(t *testing.T, text string) map[string][]uint64 {
	t.Helper()
	counts := map[string][]uint64{}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "# Counter Values:" {
			continue
		}
		// NAME, # Func Hash:, HASH, # Num Counters:, N, # Counter Values:, ...
		name := lines[i-5]
		name = name[strings.LastIndexAny(name, ":;")+1:] // static: FILE;NAME
		n := oracle.Must(strconv.ParseUint(lines[i+1], 10, 64))(t)
		counts[name] = append(counts[name], n)
	}
	return counts
}

var (
	// notInSource matches functions that clang makes and does not count: initializers, thunks, lambdas as
	// function pointers, assignments that nobody wrote.
	notInSource = regexp.MustCompile(`^_GLOBAL_|^__cxx_global|^__clang_call_terminate$|^_ZT[hvc]|8__invokeE|aSE(OS|RKS)[0-9]*_$`)
	// isVariant matches constructors and destructors: what clang counts of one
	// are all its variants, and it counts none that nobody wrote.
	isVariant = regexp.MustCompile(`[CD][0-9](I[0-9])?E|CI[0-9]`)
)

func compareWithClang(t *testing.T, p *mip.Profile, want map[string][]uint64, least int) {
	t.Helper()
	got := map[string][]uint64{}
	for _, f := range p.Functions {
		got[f.Name] = append(got[f.Name], f.CallCount)
	}
	compared, ran := 0, 0
	for name, have := range got {
		if isVariant.MatchString(name) {
			continue
		}
		clang, ok := want[name]
		if !ok {
			if slices.Max(have) > 0 && !notInSource.MatchString(name) {
				t.Errorf("%s: %d calls, unknown to clang", name, have)
			}
			continue
		}
		slices.Sort(have)
		slices.Sort(clang)
		if !slices.Equal(have, clang) {
			t.Errorf("%s: %d calls, clang counts %d", name, have, clang)
		}
		compared++
		if slices.Max(have) > 0 {
			ran++
		}
	}
	for name, clang := range want {
		if _, ok := got[name]; !ok && slices.Max(clang) > 0 && !isVariant.MatchString(name) {
			t.Errorf("%s: %d calls, not in the profile", name, clang)
		}
	}
	if compared < least {
		t.Errorf("compared %d functions, want at least %d", compared, least)
	}
	t.Logf("%d functions compared, %d of them ran", compared, ran)
}
