package sampleprof

import (
	"reflect"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Check returns what looks wrong with a profile that was read, as errors about it. No
// producer is known to write such profiles, but the format does not forbid them.
func (p *Profile) Check() (findings []error) {
	if s := p.Summary; s != nil {
		if want := p.Summarize(); !reflect.DeepEqual(s, want) {
			findings = append(findings, flaw.In(summarySection.String()).Field("summary").
				Gotf("%d functions, %d samples at %d locations, the greatest count %d", s.NumFunctions, s.Total, s.NumCounts, s.MaxCount).
				Wantf("%d, %d, %d and %d, as the functions have", want.NumFunctions, want.Total, want.NumCounts, want.MaxCount).Corrupt())
		}
	}
	for i, f := range p.Functions {
		if most, _ := f.MaxCount(); f.Total < most {
			findings = append(findings, flaw.In(profileSection.String()).InRecord(i).Field("total of "+f.Label()).Got(f.Total).
				Wantf("at least the %d samples of its greatest location", most).Corrupt())
		}
	}
	return findings
}
