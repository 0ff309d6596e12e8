package iprofcmd

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/formats/iprof"
)

// parseWeight parses a valid weight: a whole number or a decimal fraction.
func parseWeight(text string) iprof.Weight {
	whole, fraction, _ := strings.Cut(text, ".")
	w := iprof.Weight{Den: 1}
	w.Num, _ = strconv.ParseUint(whole+fraction, 10, 64)
	for range fraction {
		w.Den *= 10
	}
	return w
}

// times returns the product. If numerator or denominator exceed 64 bits, both are shortened; the
// relative precision is then 2^-62. The zero Weight stands for 1.
func times(w, o iprof.Weight) iprof.Weight {
	switch {
	case w.Num == w.Den:
		return o
	case o.Num == o.Den:
		return w
	}
	r := rational(w)
	r.Mul(r, rational(o))
	num, den := new(big.Int).Set(r.Num()), new(big.Int).Set(r.Denom())
	if shift := max(num.BitLen(), den.BitLen()) - 64; shift > 0 {
		num.Rsh(num, uint(shift))
		den.Rsh(den, uint(shift))
		if den.Sign() == 0 {
			return iprof.Weight{Num: math.MaxUint64, Den: 1}
		}
	}
	return iprof.Weight{Num: num.Uint64(), Den: den.Uint64()}
}

// rational returns a weight other than the zero value as a big.Rat.
func rational(w iprof.Weight) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(w.Num), new(big.Int).SetUint64(max(w.Den, 1)))
}

type totals struct {
	Counters int64 // sum of the call counts; of the branch counts if there are none
	Samples  int64 // sum of the samples
}

func totalsOf(p *iprof.Profile) totals {
	t := totals{p.Sections[iprof.CallCounts].Total(), p.Sections[iprof.Samples].Total()}
	if t.Counters == 0 {
		t.Counters = p.Sections[iprof.Conditionals].Total()
	}
	return t
}

// normalize returns weights that scale each input to the greatest totals, so that long runs do not outweigh short ones.
// Counters and samples are scaled separately, because the sampling interval is unknown.
func normalize(all []totals) []iprof.Weights {
	var most totals
	for _, t := range all {
		most.Counters = max(most.Counters, t.Counters)
		most.Samples = max(most.Samples, t.Samples)
	}
	out := make([]iprof.Weights, len(all))
	scale := func(most, total int64) iprof.Weight {
		if total <= 0 {
			return iprof.Weight{}
		}
		return iprof.Weight{Num: uint64(most), Den: uint64(total)}
	}
	for i, t := range all {
		out[i] = iprof.Weights{Counters: scale(most.Counters, t.Counters), Samples: scale(most.Samples, t.Samples)}
	}
	return out
}
