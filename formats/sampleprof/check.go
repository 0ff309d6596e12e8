package sampleprof

import (
	"reflect"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Check returns an error for everything suspicious in a profile that was read: what the format
// does not forbid but no known producer writes, or what is of little use to compilers.
func (p *Profile) Check() (findings []error) {
	findings = append(findings, p.odd...)
	if s := p.Summary; s != nil {
		if want := p.Summarize(); !reflect.DeepEqual(s, want) {
			findings = append(findings, summaryDoubt(s, want.NumFunctions, want.Total, want.NumCounts, want.MaxCount))
		}
	}
	findings = append(findings, p.checkTotals()...)
	for i, f := range p.Functions {
		if most := f.maxCount(); f.Total < most {
			findings = append(findings, flaw.In(profileSection.String()).InRecord(i).Field("total of "+f.Label()).Got(f.Total).
				Wantf("at least the %d samples of its greatest location", most).Corrupt())
		}
	}
	return append(findings, p.checkContents()...)
}

// checkTotals compares the total of each function with the sum of its samples and inlined
// functions. The relation depends on the producer: with probes they are equal; by lines, where the
// count of a location is the greatest count of its instructions, the total is not less than the
// sum. If a single function breaks the relation, that function is suspicious.
func (p *Profile) checkTotals() []error {
	const least = 50 // functions from which the relation is clear
	var differ, less []error
	n := 0
	for i, f := range p.Functions {
		f.walk(func(g *Function) bool {
			var sum uint64
			for j := range g.Body {
				addCount(&sum, g.Body[j].Count, 1)
			}
			for _, c := range g.Callsites {
				addCount(&sum, c.Callee.Total, 1)
			}
			if n++; g.Total == sum || len(differ) > 1 && len(less) > 1 {
				return true
			}
			err := flaw.In(profileSection.String()).InRecord(i).Field("total of "+g.Label()).Got(g.Total).
				Wantf("%d, the sum of its samples and inlined functions, as in the other functions", sum).Corrupt()
			if differ = append(differ, err); g.Total < sum {
				less = append(less, err)
			}
			return true
		})
	}
	switch {
	case n < least:
	case len(differ) <= 1:
		return differ
	case len(less) <= 1:
		return less
	}
	return nil
}
