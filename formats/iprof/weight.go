package iprof

import (
	"math"
	"math/bits"
)

// A Weight is a fraction by which a merge multiplies the counts of an input. Products are
// rounded, halves up. The zero value is 1.
type Weight struct {
	Num, Den uint64 // both 0 for 1; otherwise a Den of 0 counts as 1
}

// apply returns count × w, and whether it saturated. count is not negative.
func (w Weight) apply(count int64) (v int64, saturated bool) {
	if w.Num == w.Den {
		return count, false
	}
	den := max(w.Den, 1)
	hi, lo := bits.Mul64(uint64(count), w.Num)
	lo, carry := bits.Add64(lo, den/2, 0)
	hi += carry // at most 2^63 × 2^64: no overflow
	if hi >= den {
		return math.MaxInt64, true
	}
	q, _ := bits.Div64(hi, lo, den)
	return int64(min(q, math.MaxInt64)), q > math.MaxInt64
}

// Weights are the weights of one input.
type Weights struct {
	Counters Weight // of all kinds but Samples
	Samples  Weight // of Samples
}

func (w Weights) of(k Kind) Weight {
	if k == Samples {
		return w.Samples
	}
	return w.Counters
}
