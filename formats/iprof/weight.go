package iprof

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
	return mulDivRound(count, w.Num, max(w.Den, 1))
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
