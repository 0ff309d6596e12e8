package instrument_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/instrument"
	"github.com/profuse-pgo/profuse/mip"
)

// buildUsed builds the program laid out by a profile.
func (tc toolchain) buildUsed(t testing.TB, p program, profile *mip.Profile, split bool) (exe string, reports []instrument.UseReport) {
	t.Helper()
	dir := t.TempDir()
	exe = filepath.Join(dir, "a.out")
	evidence := instrument.NewEvidence(profile)
	var objects []string
	for i, source := range p.sources {
		text := tc.assembly(t, source, append([]string{"-ffunction-sections"}, p.cflags...)...)
		out, report, err := instrument.Use(nil, text, evidence, instrument.UseOptions{Split: split})
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		reports = append(reports, report)
		s := filepath.Join(dir, string(rune('a'+i))+".s")
		if err := os.WriteFile(s, out, 0o666); err != nil {
			t.Fatal(err)
		}
		o := strings.TrimSuffix(s, "s") + "o"
		must(t, dir, tc.cc, append(append([]string{}, tc.flags...), "-c", s, "-o", o)...)
		objects = append(objects, o)
	}
	must(t, dir, tc.cc, append(append(append(objects, p.ldflags...), tc.flags...), "-o", exe)...)
	return exe, reports
}

// invented returns the profile of a program in which every function has run
// and a part of the blocks chosen by chance.
func invented(p *mip.Profile, part float64, r *rand.Rand) *mip.Profile {
	p = p.Clone()
	for i := range p.Functions {
		f := &p.Functions[i]
		f.MergeCount, f.CallCount = 1, 1
		for b := range f.Blocks {
			f.Blocks[b].Covered = r.Float64() < part
		}
	}
	return p
}

// TestSplitAnywhere moves blocks chosen by chance, most of which do run:
// programs go on as before, wherever exceptions pass.
func TestSplitAnywhere(t *testing.T) {
	for _, cc := range []string{"clang-19", "clang-22", "gcc"} {
		for _, level := range []string{"-O0", "-O1", "-O2", "-O3", "-Os"} {
			if (testing.Short() || cc == "clang-19") && level != "-O2" {
				continue // what 22 prints hardly differs
			}
			t.Run(cc+level, func(t *testing.T) {
				t.Parallel()
				c, cpp := native(t, cc), native(t, cxx(cc))
				c.splitAnywhere(t, flowProgram.with(level))
				c.splitAnywhere(t, program{sources: []string{"traps.c"}}.with(level))
				cpp.splitAnywhere(t, throwProgram.with(level, "-g"))
				if level != "-O2" {
					return
				}
				noPIC := program{sources: flowProgram.sources, ldflags: []string{"-no-pie"}}
				c.splitAnywhere(t, noPIC.with(level, "-g", "-fno-pic", "-fcf-protection=full"))
				c.splitAnywhere(t, flowProgram.with(level, "-masm=intel"))
				cpp.splitAnywhere(t, throwProgram.with(level, "-g1", "-gdwarf-4", "-masm=intel", "-fomit-frame-pointer"))
			})
		}
	}
}

func (tc toolchain) splitAnywhere(t *testing.T, p program) {
	t.Helper()
	plain := tc.build(t, p, nil)
	var want []string
	for _, args := range arguments {
		out, code := tc.exec(t, plain.exe, "", args...)
		want = append(want, fmt.Sprint(out, code))
	}
	probed := tc.build(t, p, &instrument.Options{Profile: coverage | withBB, AllBlockProbes: true})
	whole := readMap(t, probed.exe)
	r := rand.New(rand.NewPCG(1, 2))
	moved, cold := 0, 0
	for _, part := range []float64{0, 0.5} {
		exe, reports := tc.buildUsed(t, p, invented(whole, part, r), true)
		for _, report := range reports {
			for _, f := range report.Functions {
				moved += f.Moved
				cold += f.Cold
				if f.NotSplit != 0 {
					t.Logf("%v: %s: %v", p.sources, f.Name, f.NotSplit)
				}
			}
		}
		for i, args := range arguments {
			out, code := tc.exec(t, exe, "", args...)
			if diff := cmp.Diff(want[i], fmt.Sprint(out, code)); diff != "" {
				t.Errorf("%v %v %v, %v of the blocks:\n%s", p.sources, p.cflags, args, part, diff)
			}
		}
	}
	if moved == 0 {
		t.Errorf("%v %v: moved no block of %d", p.sources, p.cflags, cold)
	}
	t.Logf("%v %v: moved %d blocks of %d", p.sources, p.cflags, moved, cold)
}
