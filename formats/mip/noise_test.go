package mip

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/profile"
)

// TestEstimateIsUnbiased: over all ways in which the coverage of N profiles can be flipped,
// each with its probability, the mean of the estimate is the true number of profiles, and
// its standard deviation is the standard error.
func TestEstimateIsUnbiased(t *testing.T) {
	for _, n := range []noise{{flip: 1 << 30, files: 12}, {flip: 0x44d0_1234, files: 40}, {flip: 1<<31 - 1<<20, files: 3}, {flip: 1, files: 7}} {
		f := n.probability()
		for ran := range n.files + 1 {
			says := []float64{1} // probability that so many profiles say the function ran
			for i := range n.files {
				yes := f
				if i < ran {
					yes = 1 - f
				}
				next := make([]float64, len(says)+1)
				for k, p := range says {
					next[k] += p * (1 - yes)
					next[k+1] += p * yes
				}
				says = next
			}
			mean, square, deviation := 0.0, 0.0, 0.0
			for k, p := range says {
				var files float64
				files, deviation = n.estimate(uint32(k))
				mean += p * files
				square += p * (files - float64(ran)) * (files - float64(ran))
			}
			if tiny := 1e-9 * (1 + deviation); math.Abs(mean-float64(ran)) > tiny || math.Abs(math.Sqrt(square)-deviation) > tiny {
				t.Errorf("%+v: %d ran: mean %v, standard deviation %v, want %v", n, ran, mean, math.Sqrt(square), deviation)
			}
		}
	}
}

// privateRuns returns a map of 400 functions, function i of which ran in i ÷ 2 of 200 runs,
// and the raw profiles of the runs, made private.
func privateRuns(t *testing.T, epsilon float64) (base *Profile, runs [][]byte) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	base = randomMap(rng, FunctionCoverage, 400)
	for run := range 200 {
		p := base.clone()
		for i := range p.Functions {
			if run < i/2 {
				p.Functions[i].MergeCount, p.Functions[i].CallCount = 1, 1
			}
		}
		raw := rawOf(p, 8)
		if err := Randomize("raw", raw, epsilon, rng.Uint32); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, raw)
	}
	return base, runs
}

// TestPrivateCoverage: raw profiles with noise merge in any order, in files too, into the
// estimates that the noise allows.
func TestPrivateCoverage(t *testing.T) {
	base, runs := privateRuns(t, 1)
	merge := func(base *Profile, runs [][]byte) *Merger {
		m, err := NewMerger(base, MergeOptions{})
		for _, raw := range runs {
			if err == nil {
				err = m.AddRaw("raw", raw, 1)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	whole := merge(base, runs).Profile()
	if flip := math.Ceil(flipOne/(1+math.E)) / flipOne; whole.Flip != flip || whole.Files != 200 {
		t.Errorf("%v of %d files, want %v of 200", whole.Flip, whole.Files, flip)
	}
	first := read(t, mipOf(t, merge(base, runs[:70]).Profile(), WriteOptions{}))
	m := merge(first, nil)
	fork := m.Fork()
	for _, raw := range runs[70:] {
		if err := fork.AddRaw("raw", raw, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Merge(fork); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, m.Profile()); diff != "" {
		t.Error(diff)
	}

	estimated, files, deviation := whole.Estimate()
	sum, within := 0.0, 0
	for i, got := range files {
		off := (got - float64(i/2)) / deviation
		sum += off
		if math.Abs(off) < 1 {
			within++
		}
		if f := estimated.Functions[i]; math.Abs(off) > 4 || f.Covered() != (got > 2*deviation) || f.Covered() && math.Abs(float64(f.MergeCount)-min(got, 200)) > 0.5 {
			t.Errorf("function %d: %v ± %v, %d", i, got, deviation, f.MergeCount)
		}
	}
	// Of 400 numbers of a normal distribution 273 are within one standard deviation of the
	// mean, and their sum has a standard deviation of 20.
	if math.Abs(sum) > 60 || within < 240 || within > 306 {
		t.Errorf("errors add up to %v standard errors; %d of 400 are within one", sum, within)
	}
	i := 0
	for f := range whole.View("x", ViewOptions{}).Functions() {
		if ran := estimated.Functions[i].Covered(); ran != f.Covered {
			t.Errorf("function %d: the view has %v, the estimate %v", i, f.Covered, ran)
		}
		i++
	}
}

// TestPrivateCoverageFails: only equal noise adds up, and only function coverage can have any.
func TestPrivateCoverageFails(t *testing.T) {
	base, runs := privateRuns(t, 1)
	_, others := privateRuns(t, 2)
	exact := rawOf(base, 8)
	add := func(weight uint64, raws ...[]byte) (err error) {
		m, _ := NewMerger(base, MergeOptions{})
		for _, raw := range raws {
			if err == nil {
				err = m.AddRaw("raw", raw, weight)
			}
		}
		return err
	}
	m, _ := NewMerger(base, MergeOptions{})
	_ = m.AddRaw("raw", runs[0], 1)
	rng := rand.New(rand.NewPCG(3, 4))
	blocks := rawOf(randomMap(rng, FunctionCoverage|BlockCoverage, 3), 8)
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"exact and private", add(1, exact, runs[0]), profile.ErrMismatch},
		{"private and exact", add(1, runs[0], exact), profile.ErrMismatch},
		{"two probabilities", add(1, runs[0], others[0]), profile.ErrMismatch},
		{"weight", add(2, runs[0]), profile.ErrMismatch},
		{"twice", Randomize("raw", bytes.Clone(runs[0]), 1, rng.Uint32), profile.ErrMismatch},
		{"blocks", Randomize("raw", blocks, 1, rng.Uint32), profile.ErrUnsupported},
		{"epsilon 0", Randomize("raw", exact, 0, rng.Uint32), profile.ErrUnsupported},
		{"epsilon NaN", Randomize("raw", exact, math.NaN(), rng.Uint32), profile.ErrUnsupported},
		{"YAML", WriteYAML(&bytes.Buffer{}, m.Profile(), WriteOptions{}), profile.ErrUnsupported},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
}
