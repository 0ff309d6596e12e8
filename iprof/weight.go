package iprof

import (
	"fmt"
	"math"
	"math/big"
	"strings"
)

// A Weight is the fraction that a merge multiplies the counts of an input with. Products
// are rounded, halves up. The zero value is 1.
type Weight struct {
	num, den uint64 // both 0 for 1
}

// WeightOf returns the weight num/den. A denominator of 0 counts as 1.
func WeightOf(num, den uint64) Weight { return Weight{num, max(den, 1)} }

// ParseWeight parses a decimal number that is not negative, such as 3 or 0.25,
// of at most 18 digits.
func ParseWeight(s string) (Weight, error) {
	whole, fraction, point := strings.Cut(s, ".")
	digits := whole + fraction
	if digits == "" || len(digits) > 18 || strings.Trim(digits, "0123456789") != "" || point && fraction == "" {
		return Weight{}, fmt.Errorf("weight %q, want a decimal number of at most 18 digits", s)
	}
	w := Weight{den: 1}
	for _, c := range digits {
		w.num = w.num*10 + uint64(c-'0')
	}
	for range fraction {
		w.den *= 10
	}
	return w, nil
}

// String returns the weight as an integer or a fraction.
func (w Weight) String() string {
	if w.one() {
		return "1"
	}
	return new(big.Rat).SetFrac(w.ints()).RatString()
}

func (w Weight) one() bool { return w.num == w.den }

func (w Weight) ints() (num, den *big.Int) {
	return new(big.Int).SetUint64(w.num), new(big.Int).SetUint64(w.den)
}

// Times returns the product, with a relative precision of 2^-62 if it is not exact.
func (w Weight) Times(o Weight) Weight {
	switch {
	case w.one():
		return o
	case o.one():
		return w
	}
	num, den := w.ints()
	onum, oden := o.ints()
	r := new(big.Rat).SetFrac(num.Mul(num, onum), den.Mul(den, oden))
	num, den = new(big.Int).Set(r.Num()), new(big.Int).Set(r.Denom())
	if shift := max(num.BitLen(), den.BitLen()) - 64; shift > 0 {
		num.Rsh(num, uint(shift))
		den.Rsh(den, uint(shift))
		if den.Sign() == 0 {
			return Weight{math.MaxUint64, 1}
		}
	}
	return Weight{num.Uint64(), den.Uint64()}
}

// apply returns count × w, and whether it saturated. count is not negative.
func (w Weight) apply(count int64) (v int64, saturated bool) {
	if w.one() {
		return count, false
	}
	return mulDivRound(count, w.num, w.den)
}

// Weights are the weights of one input.
type Weights struct {
	Counters Weight // of all kinds but Samples
	Samples  Weight // of Samples
}

// Uniform returns the weights that multiply everything with w.
func Uniform(w Weight) Weights { return Weights{w, w} }

func (w Weights) of(k Kind) Weight {
	if k == Samples {
		return w.Samples
	}
	return w.Counters
}

// Totals are the totals of an input, for [Normalize].
type Totals struct {
	Counters int64 // sum of the call counts; of the branch counts if there are none
	Samples  int64 // sum of the samples
}

// Totals returns the totals of p.
func (p *Profile) Totals() Totals {
	t := Totals{p.Section(CallCounts).Total(), p.Section(Samples).Total()}
	if t.Counters == 0 {
		t.Counters = p.Section(Conditionals).Total()
	}
	return t
}

// Normalize returns weights that give all inputs the same influence, however long their
// runs were: each is scaled to the largest total. Counters and samples are scaled
// separately, because the sampling interval is unknown; the counters of an input keep
// their proportions.
func Normalize(totals []Totals) []Weights {
	var most Totals
	for _, t := range totals {
		most.Counters = max(most.Counters, t.Counters)
		most.Samples = max(most.Samples, t.Samples)
	}
	out := make([]Weights, len(totals))
	scale := func(most, total int64) Weight {
		if total <= 0 {
			return Weight{}
		}
		return WeightOf(uint64(most), uint64(total))
	}
	for i, t := range totals {
		out[i] = Weights{scale(most.Counters, t.Counters), scale(most.Samples, t.Samples)}
	}
	return out
}
