package coveragecmd

import (
	"io"

	"github.com/profuse-pgo/profuse/docs/schema"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// coverageJSON is what "profuse coverage --json" prints. docs/schema/coverage.schema.json
// describes it.
type coverageJSON struct {
	schema.Head
	Total summaryJSON `json:"total"`
	// Functions count in Unplaced, and not in Total, if no source line of theirs is known.
	Unplaced   ratioJSON          `json:"unplaced"` // functions without a place
	Files      []coverageFileJSON `json:"files"`
	Mismatched []mismatchJSON     `json:"mismatched"`
	Missed     []missedJSON       `json:"missed"` // limits
	Changed    *changedJSON       `json:"changed,omitempty"`
	Baseline   *baselineJSON      `json:"baseline,omitempty"`
}

// ratioJSON is how many parts of a kind there are, and how many of them ran.
type ratioJSON struct {
	Total   int `json:"total"`
	Covered int `json:"covered"`
}

// summaryJSON has the kinds of parts that there are, by the names of coverageKinds, and
// "instantiations".
type summaryJSON map[string]ratioJSON

// coverageFileJSON is one source file, with the lines that have code and did not run, ascending.
type coverageFileJSON struct {
	Path   string      `json:"path"`
	Total  summaryJSON `json:"total"`
	NotRun []uint32    `json:"lines_not_run"`
}

// mismatchJSON is a function that the profile does not fit: Hash is the one in the object, Have are
// those in the profile, in hexadecimal.
type mismatchJSON struct {
	Function string   `json:"function"`
	Object   string   `json:"object"`
	Hash     string   `json:"hash"`
	Have     []string `json:"have"`
	Cause    string   `json:"cause"`
}

// missedJSON is a limit that was missed, with what was found.
type missedJSON struct {
	Kind    string  `json:"kind"`
	Limit   float64 `json:"limit"` // percent
	Total   int     `json:"total"`
	Covered int     `json:"covered"`
}

// changedJSON is the coverage of the lines that --changed adds. Unknown are files of the patch that
// the coverage does not have.
type changedJSON struct {
	ratioJSON
	// WithoutCode is how many added lines have no code, in files that the coverage has.
	WithoutCode int               `json:"without_code"`
	Files       []changedFileJSON `json:"files"`
	Unknown     []string          `json:"unknown"`
}

// changedFileJSON is one file of the patch.
type changedFileJSON struct {
	Path string `json:"path"`
	ratioJSON
	NotRun []uint32 `json:"lines_not_run"`
}

// baselineJSON is what ran less than in the baseline, whose sums are Total.
type baselineJSON struct {
	Total     summaryJSON         `json:"total"`
	Files     []baselineFileJSON  `json:"files"`
	Functions []worseFunctionJSON `json:"functions"`
}

// baselineFileJSON is a file of which a smaller share of any kind ran.
type baselineFileJSON struct {
	Path   string      `json:"path"`
	Before summaryJSON `json:"before"`
	After  summaryJSON `json:"after"`
}

// worseFunctionJSON is a function that ran in the baseline and no longer runs.
type worseFunctionJSON struct {
	Function string `json:"function"`
	Path     string `json:"path"`
}

// newSummaryJSON leaves out the kinds of which there are none, or of which nothing is known.
func newSummaryJSON(s coverage.Summary) summaryJSON {
	all := make(summaryJSON)
	for _, k := range coverageKinds {
		if r := *k.ratio(&s); r.Total > 0 {
			all[k.name] = ratioJSON(r)
		}
	}
	if r := s.Instantiations; r.Total > 0 {
		all["instantiations"] = ratioJSON(r)
	}
	return all
}

// writeJSON writes the result, whole: --json has no limits on its lists.
func (r *coverageResult) writeJSON(w io.Writer) {
	out := coverageJSON{
		Head: schema.For("coverage"), Total: newSummaryJSON(r.Total), Unplaced: ratioJSON(r.Unplaced.Functions),
		Files: []coverageFileJSON{}, Mismatched: []mismatchJSON{}, Missed: []missedJSON{},
	}
	for _, f := range r.Files {
		file := coverageFileJSON{f.Path, newSummaryJSON(f.Total), []uint32{}}
		// Only lines with code are in f.Lines.
		for _, l := range f.Lines {
			if l.Count == 0 {
				file.NotRun = append(file.NotRun, l.Number)
			}
		}
		out.Files = append(out.Files, file)
	}
	for _, m := range r.Misfits {
		j := mismatchJSON{Function: m.Function, Object: m.Object, Hash: hashText(m.Hash), Have: []string{}, Cause: m.Cause}
		for _, h := range m.Have {
			j.Have = append(j.Have, hashText(h))
		}
		out.Mismatched = append(out.Mismatched, j)
	}
	for _, m := range r.missed {
		out.Missed = append(out.Missed, missedJSON{m.kind, m.limit, m.found.Total, m.found.Covered})
	}
	if c := r.changed; c != nil {
		out.Changed = &changedJSON{ratioJSON(c.ratio()), c.noCode, []changedFileJSON{}, append([]string{}, c.unknown...)}
		for _, f := range c.files {
			out.Changed.Files = append(out.Changed.Files, changedFileJSON{f.path, ratioJSON(f.lines), append([]uint32{}, f.missed...)})
		}
	}
	if b := r.worse; b != nil {
		out.Baseline = &baselineJSON{newSummaryJSON(b.before), []baselineFileJSON{}, []worseFunctionJSON{}}
		for _, f := range b.files {
			out.Baseline.Files = append(out.Baseline.Files, baselineFileJSON{f.path, newSummaryJSON(f.before), newSummaryJSON(f.after)})
		}
		for _, f := range b.functions {
			out.Baseline.Functions = append(out.Baseline.Functions, worseFunctionJSON{f.name, f.path})
		}
	}
	console.WriteJSON(w, out, "")
}
