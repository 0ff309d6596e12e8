package instrument_test

import (
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// crossTools returns the compilers for a triple of Debian's cross packages, whose programs qemu runs.
func crossTools(t *testing.T, triple, qemu string) map[string]toolchain {
	t.Helper()
	gcc := oracle.Tool(t, triple+"-gcc")
	emu := []string{oracle.Tool(t, qemu), "-L", "/usr/" + triple}
	return map[string]toolchain{
		"gcc": {cc: gcc, emu: emu},
		"clang": {
			cc:     oracle.Tool(t, "clang-22"),
			flags:  []string{"--target=" + triple, "-I/usr/" + triple + "/include"},
			linker: gcc, emu: emu,
		},
	}
}

// TestAArch64 runs instrumented programs in every mode under emulation.
func TestAArch64(t *testing.T) {
	for name, tc := range crossTools(t, "aarch64-linux-gnu", "qemu-aarch64") {
		for _, flags := range []string{"-O2", "-O0", "-O2 -mbranch-protection=standard", "-Os -fPIC"} {
			t.Run(name+flags, func(t *testing.T) {
				switch {
				case flags == "-Os -fPIC" || name != "gcc" && flags == "-O2":
					oracle.Exhaustive(t)
				case name != "gcc" || flags != "-O2":
					oracle.Slow(t)
				}
				t.Parallel()
				p := flowProgram.with(strings.Fields(flags)...)
				for _, profile := range modes {
					tc.sameOutput(t, p, profile)
				}
				tc.inferredEqualsProbed(t, p, optionsFor(coverage|withBB))
				tc.inferredEqualsProbed(t, p, optionsFor(counts|withBB))
			})
		}
	}
}

// TestARM runs instrumented programs in ARM and Thumb-2 code.
func TestARM(t *testing.T) {
	for name, tc := range crossTools(t, "arm-linux-gnueabihf", "qemu-arm") {
		for _, set := range []string{"-marm", "-mthumb"} {
			for level, modes := range map[string][]mip.ProfileType{"-O0": {counts | withBB}, "-O2": {coverage, counts, coverage | withBB}} {
				t.Run(name+set+level, func(t *testing.T) {
					if name != "gcc" || set != "-mthumb" || level != "-O2" {
						oracle.Slow(t)
					}
					t.Parallel()
					p := flowProgram.with(set, level, "-fno-jump-tables")
					for _, profile := range modes {
						tc.sameOutput(t, p, profile)
					}
					if level == "-O2" {
						tc.inferredEqualsProbed(t, p, optionsFor(coverage|withBB))
					}
					tc.coverageEqualsNative(t, p)
				})
			}
		}
	}
}

// coverageEqualsNative compares the covered functions that are not inlined with those of the same program here.
func (tc toolchain) coverageEqualsNative(t *testing.T, p program) {
	t.Helper()
	covered := func(tc toolchain, p program) map[string]bool {
		out := map[string]bool{}
		for _, f := range tc.profile(t, tc.build(t, p, optionsFor(coverage)), arguments[0], arguments[3]).Functions {
			out[f.Name] = out[f.Name] || f.Covered()
		}
		return out
	}
	there := covered(tc, p)
	here := covered(native(t, "gcc"), program{sources: p.sources}.with("-O0"))
	for name, is := range there {
		if want, ok := here[name]; ok && want != is {
			t.Errorf("%s: covered %t, here %t", name, is, want)
		}
	}
	if len(there) < 12 || !there["main"] || there["never"] {
		t.Errorf("covered: %v", there)
	}
}
