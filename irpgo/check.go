package irpgo

import (
	"fmt"

	"github.com/profuse-pgo/profuse/profile"
)

// CheckReport is what [Check] found out about a profile.
type CheckReport struct {
	Info    *Info // nil when not even the header could be read
	Records int   // records read
	// Findings are what is wrong, each a [profile.FormatError] in its chain:
	// first what does not stop a reader, last what does.
	Findings []error
}

// Check reads a profile from end to end, as strictly as the readers can, and
// compares what it says of itself with what is in it: the summary of an
// indexed profile with one computed anew. A heap profile in it is checked, too.
func Check(name string, data []byte) CheckReport {
	var rep CheckReport
	note := func(err error) { rep.Findings = append(rep.Findings, profile.InFile(err, name)) }
	r, err := NewReader(name, data, ReaderOptions{Warn: func(w Warning) { note(w.Err) }})
	if err != nil {
		note(err)
		return rep
	}
	rep.Info = r.Info()
	var sum, cs SummaryBuilder
	for rec, err := range r.Records() {
		if err != nil {
			note(err)
			return rep
		}
		rep.Records++
		if rec.IsCS() {
			cs.Add(rec.Counts)
		} else {
			sum.Add(rec.Counts)
		}
	}
	checkSummary(r.Summary(false), &sum, "summary", note)
	checkSummary(r.Summary(true), &cs, "context-sensitive summary", note)
	heap, err := r.memProf()
	if err != nil {
		note(err)
	} else if heap != nil {
		for _, finding := range heap.Check() {
			note(finding)
		}
	}
	return rep
}

// checkSummary compares a stored summary, if there is one, with the records.
func checkSummary(stored *Summary, b *SummaryBuilder, section string, note func(error)) {
	if stored == nil {
		return
	}
	cutoffs := make([]uint64, len(stored.Detailed))
	for i, e := range stored.Detailed {
		cutoffs[i] = e.Cutoff
	}
	computed := b.Summary(cutoffs)
	differ := func(field string, found, want uint64) {
		if found != want {
			note(&profile.FormatError{
				Section: section, Offset: -1, Record: -1, Field: field,
				Found: fmt.Sprint(found), Want: fmt.Sprintf("%d, as the records have it", want), Err: profile.ErrCorrupt,
			})
		}
	}
	differ("number of functions", stored.NumFunctions, computed.NumFunctions)
	differ("number of counters", stored.NumCounts, computed.NumCounts)
	differ("maximum function count", stored.MaxFunctionCount, computed.MaxFunctionCount)
	differ("maximum count", stored.MaxCount, computed.MaxCount)
	differ("maximum internal count", stored.MaxInternalCount, computed.MaxInternalCount)
	differ("total count", stored.TotalCount, computed.TotalCount)
	for i, e := range stored.Detailed {
		differ(fmt.Sprintf("minimum count of cutoff %d", e.Cutoff), e.MinCount, computed.Detailed[i].MinCount)
		differ(fmt.Sprintf("number of counters of cutoff %d", e.Cutoff), e.NumCounts, computed.Detailed[i].NumCounts)
	}
}
