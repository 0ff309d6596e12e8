package instrument_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/instrument"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestCountsEqualClang: functions and their numbers of calls are what clang's own instrumentation counts.
func TestCountsEqualClang(t *testing.T) {
	for _, version := range []string{"19", "22"} {
		for _, p := range []program{flowProgram, throwProgram} {
			t.Run(version+p.sources[0], func(t *testing.T) {
				if version != "22" || p.sources[0] == "throw.cpp" {
					oracle.Slow(t)
				}
				t.Parallel()
				cc := "clang-" + version
				if p.sources[0] == "throw.cpp" {
					cc = cxx(cc)
				}
				tc := native(t, cc)
				p := p.with("-O0")
				reference := tc.clangProfile(t, p, oracle.Tool(t, "llvm-profdata-"+version), arguments)
				exe := tc.build(t, p, optionsFor(counts))
				counted := tc.profile(t, exe, arguments...)
				covered := tc.profile(t, tc.build(t, p, optionsFor(coverage)), arguments...)
				compareCalls(t, reference, counted, symbolNames(t, exe.exe))
				for i, f := range covered.Functions {
					if f.Covered() != counted.Functions[i].Covered() {
						t.Errorf("%s: coverage %t, call count %d", f.Name, f.Covered(), counted.Functions[i].CallCount)
					}
				}
			})
		}
	}
}

// madeByClang matches functions without a body in the source, or with that of
// another: global constructors, variants of constructors and destructors.
var madeByClang = regexp.MustCompile(`^_GLOBAL_|^__cxx_global|^__clang_call_terminate$|D[012]Ev$|C[12]E|CI2`)

func compareCalls(t *testing.T, reference map[string][]uint64, p *mip.Profile, symbols []string) {
	t.Helper()
	got := map[string][]uint64{}
	for _, f := range p.Functions {
		if _, ok := reference[f.Name]; !ok {
			if f.Covered() && !madeByClang.MatchString(f.Name) {
				t.Errorf("%s is covered, unknown to clang", f.Name)
			}
			continue
		}
		got[f.Name] = append(got[f.Name], f.CallCount)
	}
	for name, want := range reference {
		if have, ok := got[name]; !ok {
			// What has to be inlined always has no symbol.
			if slices.Contains(symbols, name) {
				t.Errorf("%s is missing, %v calls", name, want)
			}
		} else {
			slices.Sort(want)
			slices.Sort(have)
			if !slices.Equal(have, want) {
				t.Errorf("%s: %v calls, clang counts %v", name, have, want)
			}
		}
	}
	if len(got) < 10 {
		t.Errorf("only %d functions", len(got))
	}
}

// clangProfile returns the entry counts that -fprofile-instr-generate finds,
// by name; functions local to files may share one.
func (tc toolchain) clangProfile(t *testing.T, p program, profdata string, runs [][]string) map[string][]uint64 {
	t.Helper()
	dir := t.TempDir()
	exe := filepath.Join(dir, "a.out")
	args := append([]string{"-fprofile-instr-generate", "-mllvm", "-system-headers-coverage", "-o", exe}, p.cflags...)
	for _, s := range p.sources {
		args = append(args, testdata(t, s))
	}
	must(t, "", tc.cc, args...)
	merge := []string{"merge", "-text", "-o", "-"}
	for i, args := range runs {
		raw := filepath.Join(dir, fmt.Sprintf("%d.profraw", i))
		must(t, "", "/usr/bin/env", "sh", "-c", `LLVM_PROFILE_FILE="$0" "$@" >/dev/null; true`, raw, exe, args[0])
		merge = append(merge, raw)
	}
	out := map[string][]uint64{}
	s := bufio.NewScanner(strings.NewReader(must(t, "", profdata, merge...)))
	name := ""
	for last := ""; s.Scan(); last = s.Text() {
		switch {
		case s.Text() == "# Func Hash:":
			name = last
			if i := strings.LastIndexAny(name, ":;"); i >= 0 {
				name = name[i+1:]
			}
		case last == "# Counter Values:":
			n, err := strconv.ParseUint(s.Text(), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			out[name] = append(out[name], n)
		}
	}
	return out
}

// TestIntelSyntax instruments what compilers print with -masm=intel.
func TestIntelSyntax(t *testing.T) {
	for _, cc := range []string{"clang-22", "gcc"} {
		t.Run(cc, func(t *testing.T) {
			if cc != "clang-22" {
				oracle.Slow(t)
			}
			t.Parallel()
			p := flowProgram.with("-O2", "-masm=intel")
			native(t, cc).sameOutput(t, p, counts)
			native(t, cc).sameOutput(t, p, coverage|withBB)
			native(t, cc).inferredEqualsProbed(t, p, optionsFor(coverage|withBB))
			sameGraphs(t, native(t, cc), flowProgram.with("-O2"), p)
		})
	}
}

// sameGraphs checks that the control flow of both builds is recovered alike.
func sameGraphs(t *testing.T, tc toolchain, a, b program) {
	t.Helper()
	opt := &instrument.Options{Profile: coverage | withBB}
	graphs := func(p program) (out []string) {
		for _, f := range readMap(t, tc.build(t, p, opt).exe).Functions {
			out = append(out, fmt.Sprintf("%s %08x %d", f.Name, f.CFG, len(f.Blocks)))
		}
		return out
	}
	if diff := cmp.Diff(graphs(a), graphs(b)); diff != "" {
		t.Error(diff)
	}
}

// TestRustc instruments the crate of a Rust program in every mode, in both syntaxes.
func TestRustc(t *testing.T) {
	rustc, clang := oracle.Tool(t, "rustc"), native(t, "clang-22")
	for _, syntax := range []string{"att", "intel"} {
		t.Run(syntax, func(t *testing.T) {
			if syntax != "att" {
				oracle.Slow(t)
			}
			t.Parallel()
			options := []*instrument.Options{nil}
			for _, profile := range modes {
				options = append(options, optionsFor(profile), &instrument.Options{Profile: profile, AllBlockProbes: true})
			}
			exes := clang.buildRust(t, rustc, syntax, options)
			for _, n := range []string{"0", "2", "5"} {
				want := clang.exec(t, exes[0].exe, n).out
				for i, profile := range modes {
					some, all := exes[1+2*i], exes[2+2*i]
					if got := clang.exec(t, some.exe, n).out; got != want {
						t.Errorf("%v: output with %s: %s", profile, n, cmp.Diff(want, got))
					}
					probed, inferred := coverageOf(clang.profile(t, all, []string{n})), coverageOf(clang.profile(t, some, []string{n}))
					if diff := cmp.Diff(probed, inferred); diff != "" {
						t.Errorf("%v: coverage with %s: %s", profile, n, diff)
					}
					if !slices.ContainsFunc(probed, func(s string) bool { return strings.Contains(s, "parse") && strings.Contains(s, "+") }) {
						t.Errorf("%v: parse is not covered:\n%s", profile, strings.Join(probed, "\n"))
					}
				}
			}
		})
	}
}

// buildRust links the program once for each of the options, with the crate's own object replaced by one
// made of its assembly. rustc calls the linker once, so a script puts the objects in.
func (tc toolchain) buildRust(t *testing.T, rustc, syntax string, options []*instrument.Options) (exes []*built) {
	t.Helper()
	dir := keptDir(t)
	path := func(name string) string { return filepath.Join(dir, name) }
	flags := []string{"-O", "-Ccodegen-units=1", "-Cllvm-args=-x86-asm-syntax=" + syntax, testdata(t, "flow.rs")}
	must(t, dir, rustc, append(flags, "--emit=asm", "-o", "flow.s")...)
	plain := oracle.ReadFile(t, path("flow.s"))
	script := fmt.Sprintf(`#!/bin/sh
set -e
link() {
  object=$1 exe=$2 runtime=$3
  shift 3
  for a; do
    shift
    case $a in *-cgu.0.rcgu.o) a=$object ;; */flow) a=$exe ;; esac
    set -- "$@" "$a"
  done
  %s "$@" -Wl,--no-gc-sections $runtime
}
`, tc.cc)
	texts := make([][]byte, len(options))
	for i, opt := range options {
		if texts[i] = plain; opt == nil {
			continue
		}
		texts[i], _ = tc.rewrite(t, plain, *opt)
	}
	for i, object := range tc.assemble(t, texts) {
		b, runtime := &built{exe: path(fmt.Sprint(i))}, ""
		if options[i] != nil {
			runtime = tc.runtime(t, options[i].Profile)
		}
		script += fmt.Sprintf("link '%s' '%s' '%s' \"$@\"\n", object, b.exe, runtime)
		exes = append(exes, b)
	}
	if err := os.WriteFile(path("linker"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	must(t, dir, rustc, append(flags, "-Clinker="+path("linker"), "-o", path("flow"))...)
	return exes
}
