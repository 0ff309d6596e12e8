package instrument_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/instrument"
	"github.com/profuse-pgo/profuse/test/oracle"
)

var (
	flowProgram  = program{sources: []string{"flow.c", "other.c"}}
	throwProgram = program{sources: []string{"throw.cpp"}}
	// Functions that exit, abort, jump away, end their thread or never end.
	departures = program{sources: []string{"departures.c"}, ldflags: []string{"-pthread"}}
	// Functions that all return.
	returns   = program{sources: []string{"returns.c"}}
	arguments = [][]string{{"0"}, {"1"}, {"2"}, {"3"}, {"4"}, {"6"}, {"8"}, {"12"}}
	modes     = []mip.ProfileType{coverage, counts, coverage | withBB, counts | withBB}
)

func (p program) with(cflags ...string) program {
	p.cflags = append(append([]string{}, p.cflags...), cflags...)
	return p
}

// sameOutput checks that instrumentation does not change what programs do.
func (tc toolchain) sameOutput(t *testing.T, p program, profile mip.ProfileType) {
	t.Helper()
	plain := tc.build(t, p, nil)
	probed := tc.build(t, p, &instrument.Options{Profile: profile})
	for _, args := range arguments {
		want, got := tc.exec(t, plain.exe, args...), tc.exec(t, probed.exe, args...)
		if got.out != want.out || got.code != want.code {
			t.Errorf("%v: exit code %d, want %d\n%s", args, got.code, want.code, cmp.Diff(want.out, got.out))
		}
	}
}

// eachLevel runs f with every compiler at every level of optimization, of clang 19 at one: what 22 prints
// hardly differs. That of gcc at -O2 is quick; TestTraps and TestIntelSyntax are with clang, too.
func eachLevel(t *testing.T, f func(t *testing.T, cc, level string)) {
	for _, cc := range []string{"clang-19", "clang-22", "gcc"} {
		for _, level := range []string{"-O0", "-O1", "-O2", "-O3", "-Os"} {
			if cc == "clang-19" && level != "-O2" {
				continue
			}
			t.Run(cc+level, func(t *testing.T) {
				switch {
				case cc == "clang-19" || level != "-O0" && level != "-O2":
					oracle.Exhaustive(t)
				case cc != "gcc" || level != "-O2":
					oracle.Slow(t)
				}
				t.Parallel()
				f(t, cc, level)
			})
		}
	}
}

// withExceptions runs the part of a test that compiles the C++ program, which takes a second each time;
// that of gcc always. Tables of exceptions at -O1 and -O3 are like those at -O2.
func withExceptions(t *testing.T, cc, level string, f func(t *testing.T, tc toolchain)) {
	if level == "-O1" || level == "-O3" {
		return
	}
	t.Run("exceptions", func(t *testing.T) {
		if cc != "gcc" {
			oracle.Slow(t)
		}
		f(t, native(t, cxx(cc)))
	})
}

// TestOutputUnchanged: programs do the same in every mode.
func TestOutputUnchanged(t *testing.T) {
	eachLevel(t, func(t *testing.T, cc, level string) {
		for _, profile := range modes {
			native(t, cc).sameOutput(t, flowProgram.with(level), profile)
		}
		withExceptions(t, cc, level, func(t *testing.T, tc toolchain) {
			for _, profile := range modes {
				if level == "-O0" || profile.Has(withBB) {
					tc.sameOutput(t, throwProgram.with(level), profile)
				}
			}
		})
	})
}

// TestInferredEqualsProbed: what is inferred is what probes in all blocks see.
func TestInferredEqualsProbed(t *testing.T) {
	eachLevel(t, func(t *testing.T, cc, level string) {
		native(t, cc).inferredEqualsProbed(t, flowProgram.with(level), optionsFor(coverage|withBB))
		native(t, cc).inferredEqualsProbed(t, flowProgram.with(level), optionsFor(counts|withBB))
		native(t, cc).inferredEqualsProbed(t, departures.with(level), optionsFor(coverage|withBB))
		withExceptions(t, cc, level, func(t *testing.T, tc toolchain) {
			tc.inferredEqualsProbed(t, throwProgram.with(level), optionsFor(coverage|withBB))
		})
		// Where calls return, the assumption that they do changes only how many probes there are.
		some := native(t, cc).inferredEqualsProbed(t, returns.with(level, "-fno-inline"), &instrument.Options{Profile: coverage | withBB, ShortProbes: true})
		few := native(t, cc).inferredEqualsProbed(t, returns.with(level, "-fno-inline"), &instrument.Options{Profile: coverage | withBB, CallsReturn: true})
		if few >= some {
			t.Errorf("%d probes, %d if calls return", some, few)
		}
	})
}

func (tc toolchain) inferredEqualsProbed(t *testing.T, p program, opt *instrument.Options) (probes int) {
	t.Helper()
	all := tc.build(t, p, &instrument.Options{Profile: opt.Profile, AllBlockProbes: true})
	some := tc.build(t, p, opt)
	for _, args := range arguments {
		want, got := coverageOf(tc.profile(t, all, args)), coverageOf(tc.profile(t, some, args))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v %v: %s", p.sources, args, diff)
		}
	}
	blocks := 0
	for _, r := range some.reports {
		for _, f := range r {
			probes += f.Probes
			blocks += f.Blocks
		}
	}
	t.Logf("%v: %d probes for %d blocks", p.sources, probes, blocks)
	return probes
}

// coverageOf prints for each function, in map order, whether it and its blocks are covered.
func coverageOf(p *mip.Profile) []string {
	var out []string
	for i := range p.Functions {
		f := &p.Functions[i]
		var b strings.Builder
		fmt.Fprintf(&b, "%s %08x %d ", f.Name, f.CFG, f.CallCount)
		for _, c := range append([]mip.Block{{Covered: f.EntryCovered()}}, f.Blocks...) {
			b.WriteByte("-+"[map[bool]int{true: 1}[c.Covered]])
		}
		out = append(out, b.String())
	}
	return out
}

func optionsFor(profile mip.ProfileType) *instrument.Options {
	return &instrument.Options{Profile: profile}
}
