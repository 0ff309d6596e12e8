package measure

import (
	"math"
	"slices"
)

// Median returns the median of values, which are not empty.
func Median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// Interval returns the median of values and its 95 % confidence interval, from ranks, which assumes no distribution of
// the values. The interval of fewer than six values has no bounds.
func Interval(values []float64) (median, low, high float64) {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	// The median is below the value of rank k (from 0) or above the value of rank n-1-k with twice the
	// chance that at most k of n tosses of a coin are heads.
	k, chance, tail := -1, math.Pow(0.5, float64(n)), 0.0
	for i := 0; ; i++ {
		if tail += chance; 2*tail > 0.05 || tail == 0 {
			break
		}
		k = i
		chance *= float64(n-i) / float64(i+1)
	}
	if n > 1000 { // the power underflows: normal approximation
		k = int(float64(n)/2 - 0.98*math.Sqrt(float64(n)))
	}
	if k < 0 {
		return Median(v), math.Inf(-1), math.Inf(1)
	}
	return Median(v), v[k], v[n-1-k]
}
