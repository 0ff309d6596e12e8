package coveragecmd

import (
	"io"

	"github.com/profuse-pgo/profuse/docs/schema"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// resultJSON is what "profuse coverage --json" prints. docs/schema/coverage.schema.json describes it.
type resultJSON struct {
	schema.Head
	Total summaryJSON `json:"total"`
	// Unplaced counts the functions without a known source line, which Total does not count.
	Unplaced ratioJSON `json:"unplaced"`
	// Unknown lists these functions.
	Unknown []unknownJSON `json:"unknown_functions"`
	// BelowZero is how many counts of regions and branches fell below zero, and stand for 0.
	BelowZero  int            `json:"below_zero"`
	Files      []fileJSON     `json:"files"`
	Mismatched []mismatchJSON `json:"mismatched"`
	Missed     []missedJSON   `json:"missed"` // limits
	Changed    *changedJSON   `json:"changed,omitempty"`
	Baseline   *baselineJSON  `json:"baseline,omitempty"`
}

// ratioJSON is the number of parts of a kind, and how many of the parts ran.
type ratioJSON struct {
	Total   int `json:"total"`
	Covered int `json:"covered"`
}

// unknownJSON is a function without a known source line.
type unknownJSON struct {
	Function string `json:"function"`
	Ran      bool   `json:"ran"`
}

// summaryJSON has a ratio for each kind of partKinds that the input has, and for "instantiations".
type summaryJSON map[string]ratioJSON

// fileJSON is one source file, with the lines that have code and did not run, ascending.
type fileJSON struct {
	Path   string      `json:"path"`
	Total  summaryJSON `json:"total"`
	NotRun []uint32    `json:"lines_not_run"`
}

// mismatchJSON is a function that the profile does not fit: Hash is its hash in the object, Have are
// its hashes in the profile, in hexadecimal.
type mismatchJSON struct {
	Function string   `json:"function"`
	Object   string   `json:"object"`
	Hash     string   `json:"hash"`
	Have     []string `json:"have"`
	Cause    string   `json:"cause"`
}

type missedJSON struct {
	Kind    string  `json:"kind"`
	Limit   float64 `json:"limit"` // percent
	Total   int     `json:"total"`
	Covered int     `json:"covered"`
}

// changedJSON is the coverage of the lines that --changed adds. Unknown has the files of the patch that
// are not in the coverage.
type changedJSON struct {
	ratioJSON
	// WithoutCode counts the added lines without code, in files of the coverage.
	WithoutCode int               `json:"without_code"`
	Files       []changedFileJSON `json:"files"`
	Unknown     []string          `json:"unknown"`
}

type changedFileJSON struct {
	Path string `json:"path"`
	ratioJSON
	NotRun []uint32 `json:"lines_not_run"`
}

// baselineJSON lists what ran less than in the baseline. Total has the sums of the baseline.
type baselineJSON struct {
	Total     summaryJSON        `json:"total"`
	Files     []baselineFileJSON `json:"files"`
	Functions []worseFunction    `json:"functions"`
}

type baselineFileJSON struct {
	Path   string      `json:"path"`
	Before summaryJSON `json:"before"`
	After  summaryJSON `json:"after"`
}

// newSummaryJSON converts a summary, without kinds whose total is 0.
func newSummaryJSON(s coverage.Summary) summaryJSON {
	all := make(summaryJSON)
	for _, k := range partKinds {
		if r := *k.ratio(&s); r.Total > 0 {
			all[k.name] = ratioJSON(r)
		}
	}
	if r := s.Instantiations; r.Total > 0 {
		all["instantiations"] = ratioJSON(r)
	}
	return all
}

// writeJSON writes the whole result: JSON has no limit on lists.
func (r *result) writeJSON(w io.Writer) {
	out := resultJSON{
		Head: schema.For("coverage"), Total: newSummaryJSON(r.Total), Unplaced: ratioJSON(r.Unplaced.Functions), BelowZero: r.BelowZero,
		Unknown: []unknownJSON{}, Files: []fileJSON{}, Mismatched: []mismatchJSON{}, Missed: []missedJSON{},
	}
	for _, f := range r.Files {
		file := fileJSON{f.Path, newSummaryJSON(f.Total), []uint32{}}
		for _, l := range f.Lines {
			if l.Count == 0 {
				file.NotRun = append(file.NotRun, l.Number)
			}
		}
		out.Files = append(out.Files, file)
	}
	for i := range r.Coverage.Unknown {
		f := &r.Coverage.Unknown[i]
		out.Unknown = append(out.Unknown, unknownJSON{f.Name + f.Signature, f.Calls > 0})
	}
	for _, m := range r.Misfits {
		out.Mismatched = append(out.Mismatched, mismatchJSON{m.Function, m.Object, hashText(m.Hash), hashTexts(m.Have), m.Cause})
	}
	for _, m := range r.missed {
		out.Missed = append(out.Missed, missedJSON{m.kind, m.percent, m.ran.Total, m.ran.Covered})
	}
	if c := r.changed; c != nil {
		out.Changed = &changedJSON{ratioJSON(c.ratio()), c.noCode, []changedFileJSON{}, append([]string{}, c.unknown...)}
		for _, f := range c.files {
			out.Changed.Files = append(out.Changed.Files, changedFileJSON{f.path, ratioJSON(f.lines), append([]uint32{}, f.missed...)})
		}
	}
	if b := r.baseline; b != nil {
		out.Baseline = &baselineJSON{newSummaryJSON(b.before), []baselineFileJSON{}, append([]worseFunction{}, b.functions...)}
		for _, f := range b.files {
			out.Baseline.Files = append(out.Baseline.Files, baselineFileJSON{f.path, newSummaryJSON(f.before), newSummaryJSON(f.after)})
		}
	}
	console.WriteJSON(w, out, "")
}
