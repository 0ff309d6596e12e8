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

	"github.com/profuse-pgo/profuse/instrument"
	"github.com/profuse-pgo/profuse/internal/oracle"
	"github.com/profuse-pgo/profuse/mip"
)

// TestCountsEqualClang: functions and their numbers of calls are what clang's
// own instrumentation counts.
func TestCountsEqualClang(t *testing.T) {
	for _, version := range []string{"19", "22"} {
		for _, p := range []program{flowProgram, throwProgram} {
			t.Run(version+p.sources[0], func(t *testing.T) {
				t.Parallel()
				cc := "clang-" + version
				if p.sources[0] == "throw.cpp" {
					cc = cxx(cc)
				}
				tc := native(t, cc)
				p := p.with("-O0")
				reference := tc.clangProfile(t, p, oracle.Tool(t, "llvm-profdata-"+version), arguments)
				exe := tc.build(t, p, &instrument.Options{Profile: counts})
				counted := tc.profile(t, exe, arguments...)
				covered := tc.profile(t, tc.build(t, p, &instrument.Options{Profile: coverage}), arguments...)
				compareCalls(t, reference, counted, functionSymbols(t, exe.exe))
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
		for _, profile := range []mip.ProfileType{counts, coverage | withBB} {
			t.Run(fmt.Sprintf("%s/%d", cc, profile), func(t *testing.T) {
				t.Parallel()
				p := flowProgram.with("-O2", "-masm=intel")
				native(t, cc).sameOutput(t, p, profile)
				if profile.Has(withBB) {
					native(t, cc).inferredEqualsProbed(t, p, profile)
					sameGraphs(t, native(t, cc), flowProgram.with("-O2"), p)
				}
			})
		}
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

// TestRustc instruments the crate of a Rust program in every mode, in both
// syntaxes.
func TestRustc(t *testing.T) {
	rustc, clang := oracle.Tool(t, "rustc"), oracle.Tool(t, "clang-22")
	runtime := filepath.Join(t.TempDir(), "runtime.o")
	must(t, "", clang, "-O2", "-fPIC", "-c", testdata(t, "runtime.c"), "-o", runtime)
	for _, syntax := range []string{"att", "intel"} {
		for _, profile := range modes {
			t.Run(fmt.Sprintf("%s/%d", syntax, profile), func(t *testing.T) {
				t.Parallel()
				r := rust{rustc: rustc, clang: clang, runtime: runtime, syntax: syntax}
				plain := r.build(t, nil)
				some := r.build(t, &instrument.Options{Profile: profile})
				all := r.build(t, &instrument.Options{Profile: profile, AllBlockProbes: true})
				for _, n := range []string{"0", "2", "5"} {
					var tc toolchain
					want, _ := tc.exec(t, plain, "", n)
					got, _ := tc.exec(t, some, filepath.Join(t.TempDir(), "raw"), n)
					if got != want {
						t.Errorf("output with %s: %s", n, cmp.Diff(want, got))
					}
					probed := coverageOf(tc.profile(t, &built{exe: all}, []string{n}))
					inferred := coverageOf(tc.profile(t, &built{exe: some}, []string{n}))
					if diff := cmp.Diff(probed, inferred); diff != "" {
						t.Errorf("coverage with %s: %s", n, diff)
					}
					if !slices.ContainsFunc(probed, func(s string) bool { return strings.Contains(s, "parse") && strings.Contains(s, "+") }) {
						t.Errorf("parse is not covered:\n%s", strings.Join(probed, "\n"))
					}
				}
			})
		}
	}
}

type rust struct{ rustc, clang, runtime, syntax string }

// build links the program with the crate's own object replaced by one made of
// its assembly. rustc calls the linker, so a script puts the object in.
func (r rust) build(t *testing.T, opt *instrument.Options) (exe string) {
	t.Helper()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	flags := []string{"-O", "-Ccodegen-units=1", "-Cllvm-args=-x86-asm-syntax=" + r.syntax, testdata(t, "flow.rs")}
	must(t, dir, r.rustc, append(flags, "--emit=asm", "-o", path("flow.s"))...)
	text, err := os.ReadFile(path("flow.s"))
	if err != nil {
		t.Fatal(err)
	}
	extra := ""
	if opt != nil {
		if text, _, err = instrument.Rewrite(nil, text, *opt); err != nil {
			t.Fatal(err)
		}
		extra = r.runtime
	}
	if err := os.WriteFile(path("flow.s"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	must(t, dir, r.clang, "-c", path("flow.s"), "-o", path("flow.o"))
	script := "#!/bin/sh\nfor a; do shift; case $a in *-cgu.0.rcgu.o) a=" + path("flow.o") + ";; esac; set -- \"$@\" \"$a\"; done\n" +
		"exec " + r.clang + " \"$@\" -Wl,--no-gc-sections " + extra + "\n"
	if err := os.WriteFile(path("linker"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	must(t, dir, r.rustc, append(flags, "-Clinker="+path("linker"), "-o", path("flow"))...)
	return path("flow")
}
