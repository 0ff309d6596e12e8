package measure

import (
	"math"
	"math/rand/v2"
	"testing"
)

// noisy returns ratios around a value, with the outliers of a busy machine.
func noisy(rng *rand.Rand, n int, around float64) []float64 {
	ratios := make([]float64, n)
	for i := range ratios {
		ratios[i] = around * math.Exp(0.03*rng.NormFloat64())
		if rng.IntN(10) == 0 {
			ratios[i] *= math.Exp(0.5 * rng.NormFloat64())
		}
	}
	return ratios
}

// TestInterval: the interval holds the true median as often as it says, and no value is taken for certain of few.
func TestInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{6, 12, 25, 100, 1500} {
		const trials = 2000
		held := 0
		for range trials {
			_, low, high := Interval(noisy(rng, n, 1.1))
			if low <= 1.1 && 1.1 <= high {
				held++
			}
		}
		if share := float64(held) / trials; share < 0.94 || share > 0.99 && n > 12 {
			t.Errorf("of %d values %.3f of the intervals hold the median", n, share)
		}
	}
	if _, low, high := Interval([]float64{1, 1, 1, 1, 1}); !math.IsInf(low, -1) || !math.IsInf(high, 1) {
		t.Errorf("of five values: %g to %g", low, high)
	}
	if median, low, high := Interval([]float64{6, 1, 5, 2, 4, 3}); median != 3.5 || low != 1 || high != 6 {
		t.Errorf("of six values: %g, %g to %g", median, low, high)
	}
}

// TestIntervalAbove: what is a tenth slower has an interval above 1.03, what is not has none.
func TestIntervalAbove(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for around, want := range map[float64][2]int{1: {0, 0}, 1.02: {0, 30}, 1.1: {970, 1000}} {
		found := 0
		for range 1000 {
			if _, low, _ := Interval(noisy(rng, 25, around)); low > 1.03 {
				found++
			}
		}
		if found < want[0] || found > want[1] {
			t.Errorf("%g times as long is found %d of 1000 times, want %d to %d", around, found, want[0], want[1])
		}
	}
}
