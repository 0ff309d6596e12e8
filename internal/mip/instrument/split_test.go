package instrument_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/instrument"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// buildUsed builds the program laid out by a profile.
func (tc toolchain) buildUsed(t testing.TB, p program, profile *mip.Profile) (exe string, reports [][]instrument.FunctionUse) {
	t.Helper()
	evidence := instrument.NewEvidence(profile)
	var texts [][]byte
	for _, source := range p.sources {
		text := tc.assembly(t, source, append([]string{"-ffunction-sections"}, p.cflags...)...)
		out, report, err := instrument.Use(nil, text, evidence, instrument.UseOptions{Target: tc.target(t), Split: true})
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		reports = append(reports, report)
		texts = append(texts, out)
	}
	return tc.link(t, texts, p.ldflags...), reports
}

// invented returns the profile of a program in which every function has run
// and a part of the blocks chosen by chance.
func invented(p *mip.Profile, part float64, r *rand.Rand) *mip.Profile {
	all := *p
	all.Functions = slices.Clone(p.Functions)
	for i := range all.Functions {
		f := &all.Functions[i]
		f.MergeCount, f.CallCount, f.Blocks = 1, 1, slices.Clone(f.Blocks)
		for b := range f.Blocks {
			f.Blocks[b].Covered = r.Float64() < part
		}
	}
	return &all
}

// TestSplitAnywhere moves blocks chosen by chance, most of which do run:
// programs go on as before, wherever exceptions pass.
func TestSplitAnywhere(t *testing.T) {
	eachLevel(t, func(t *testing.T, cc, level string) {
		native(t, cc).splitAnywhere(t, flowProgram.with(level))
		native(t, cc).splitAnywhere(t, trapsProgram.with(level))
		withExceptions(t, cc, level, func(t *testing.T, tc toolchain) {
			tc.splitAnywhere(t, throwProgram.with(level))
		})
	})
	for _, cc := range []string{"clang-22", "gcc"} {
		t.Run(cc+" otherwise", func(t *testing.T) {
			oracle.Slow(t)
			t.Parallel()
			c, cpp := native(t, cc), native(t, cxx(cc))
			noPIC := program{sources: flowProgram.sources, ldflags: []string{"-no-pie"}}
			c.splitAnywhere(t, noPIC.with("-O2", "-g", "-fno-pic", "-fcf-protection=full"))
			c.splitAnywhere(t, flowProgram.with("-O2", "-masm=intel"))
			cpp.splitAnywhere(t, throwProgram.with("-O2", "-g"))
			cpp.splitAnywhere(t, throwProgram.with("-O2", "-g1", "-gdwarf-4", "-masm=intel", "-fomit-frame-pointer"))
		})
	}
}

func (tc toolchain) splitAnywhere(t *testing.T, p program) {
	t.Helper()
	plain := tc.build(t, p, nil)
	var want []string
	for _, args := range arguments {
		r := tc.exec(t, plain.exe, args...)
		want = append(want, fmt.Sprint(r.out, r.code))
	}
	probed := tc.build(t, p, &instrument.Options{Profile: coverage | withBB, AllBlockProbes: true})
	whole := readMap(t, probed.exe)
	r := rand.New(rand.NewPCG(1, 2))
	moved, cold := 0, 0
	for _, part := range []float64{0, 0.5} {
		exe, reports := tc.buildUsed(t, p, invented(whole, part, r))
		for _, report := range reports {
			for _, f := range report {
				moved += f.Moved
				cold += f.Cold
				if f.NotSplit != "" {
					t.Logf("%v: %s: %v", p.sources, f.Name, f.NotSplit)
				}
			}
		}
		for i, args := range arguments {
			r := tc.exec(t, exe, args...)
			if diff := cmp.Diff(want[i], fmt.Sprint(r.out, r.code)); diff != "" {
				t.Errorf("%v %v %v, %v of the blocks:\n%s", p.sources, p.cflags, args, part, diff)
			}
		}
	}
	if moved == 0 {
		t.Errorf("%v %v: moved no block of %d", p.sources, p.cflags, cold)
	}
	t.Logf("%v %v: moved %d blocks of %d", p.sources, p.cflags, moved, cold)
}
