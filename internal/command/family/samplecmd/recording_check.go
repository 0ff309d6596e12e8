package samplecmd

import (
	"encoding/hex"
	"slices"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/perfdata"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// checkRecording checks a recording of perf. Findings are damage; remarks are what makes the profile of a sound
// recording thin, empty or wrong. Records are perf's, or lines of a text.
func checkRecording(name string, data []byte, f formats.Format) family.Checked {
	res := family.NewChecked(name, f)
	var s survey
	facts, err := s.read(name, data, perfdata.Options{Warn: func(w profile.Warning) {
		if f == formats.PerfScript { // a line in another form; the sums say how many
			res.Remarks = append(res.Remarks, res.Finding(w.Err))
		} else {
			res.Note(w.Err)
		}
	}})
	res.Records = facts.Records
	if err != nil {
		res.Note(err)
		return res
	}
	remark := func(n uint64, problem flaw.Problem) {
		if n > 0 {
			res.Remarks = append(res.Remarks, res.Finding(problem.Remark()))
		}
	}
	at := flaw.File(name)
	if facts.Samples == 0 {
		if facts.Unreadable > 0 {
			res.Note(at.Field("samples").Gotf("%d in another form", facts.Unreadable).
				Want("the form of perf script -F ip,brstack --show-mmap-events").Unsupported())
		} else {
			res.Note(at.Field("number of samples").Got(0).Want("at least 1").Empty())
		}
		return res
	}
	remark(facts.Samples-min(facts.Samples, facts.Branched), branchesMissing(at, facts))
	for i := range facts.Events {
		e := &facts.Events[i]
		if e.Samples > 0 && e.SomeBranches() {
			remark(1, at.Field("branches of "+e.Name).Got("of some kinds").Want("all").Hint("code between them cannot be told: record with -b"))
		}
	}
	remark(facts.LostSamples, at.Field("samples that the kernel lost").Got(facts.LostSamples).Want(0).Hint(hintLost))
	remark(facts.LostRecords, at.Field("records that the kernel lost").Got(facts.LostRecords).Want(0).Hint(hintLost))
	remark(facts.UnknownIDs, at.Field("samples of events that the recording does not describe").Got(facts.UnknownIDs).Want(0))
	remark(facts.Unreadable, at.Field("samples in another form").Got(facts.Unreadable).Want("the form of perf script -F ip,brstack"))
	remark(facts.Late, at.Field("records that come after later ones").Got(facts.Late).Want(0))
	if len(s.programs) == 0 {
		remark(1, at.Field("mappings of code").Got(0).Want("at least 1").
			Hint("without them, the addresses of samples belong to no program"))
	} else {
		remark(s.unmapped, at.Field("samples in no mapped file").Gotf("%d of %d", s.unmapped, facts.Samples).Want(0))
	}
	for _, file := range s.changed {
		remark(1, at.Field("builds of "+file).Got("several").Want("one").Hint("it was built again while perf recorded"))
	}
	for _, file := range s.conflicts(facts) {
		remark(1, at.Field("build id of "+file).Gotf("%s in a mapping", s.builds[file].id).Want("the one in the header"))
	}
	if facts.Directory {
		remark(1, at.Field("recording").Got("one file of several").Want("one file").Hint("record without --threads"))
	}
	return res
}

const hintLost = "record with a larger buffer (-m) or a longer period"

// branchesMissing is the remark that samples have no branches.
func branchesMissing(at flaw.Position, facts *perfdata.Facts) flaw.Problem {
	hint := "of these samples, llvm-profgen makes no profile"
	if facts.Branched == 0 {
		hint = "it was recorded without -b"
	}
	return at.Field("samples without branches").Gotf("%d of %d", facts.Samples-facts.Branched, facts.Samples).Want(0).Hint(hint)
}

// conflicts returns the files whose build id in the header is another than in a mapping.
func (s *survey) conflicts(facts *perfdata.Facts) (files []string) {
	for i := range facts.BuildIDs {
		b := &facts.BuildIDs[i]
		if have := s.builds[b.File]; have.id != "" && !have.changed && have.id != hex.EncodeToString(b.ID) {
			files = append(files, b.File)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}
