package irpgocmd

import (
	"slices"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// divide divides all counts, and rounds halves up. Sums of profiles with fractional weights are made so: of the
// weights times a common denominator, and divided by that. Counters stay, values that come to 0 are dropped. What
// ran in a coverage profile stays so, and so do the verdicts of [irpgo.Record.Pseudo]. It does not divide the heap
// profile, nor the weights of traces, which only compare them with each other.
func divide(p *irpgo.Profile, by uint64) {
	if by <= 1 {
		return
	}
	for i := range p.Functions {
		for _, r := range p.Functions[i].Records {
			divideRecord(r, by, p.Variant.Has(irpgo.SingleByte))
		}
	}
}

func divideRecord(r *irpgo.Record, by uint64, coverage bool) {
	switch {
	case r.Pseudo() != 0:
	case coverage:
		for i := range r.Counts {
			r.Counts[i] = min(r.Counts[i], 1)
		}
	default:
		for i, c := range r.Counts {
			r.Counts[i] = saturate.Div(c, by)
		}
	}
	for _, sites := range r.Values {
		for i, site := range sites {
			sites[i] = slices.DeleteFunc(site, func(v irpgo.ValueData) bool { return v.Count > 0 && saturate.Div(v.Count, by) == 0 })
			for j := range sites[i] {
				sites[i][j].Count = saturate.Div(sites[i][j].Count, by)
			}
		}
	}
}
