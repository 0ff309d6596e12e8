package command

import (
	"io"

	"github.com/profuse-pgo/profuse/coverage"
	"github.com/profuse-pgo/profuse/internal/command/console"
	"github.com/profuse-pgo/profuse/internal/schema"
)

// coverageJSON is what "profuse coverage --json" prints. docs/schema/coverage.schema.json
// describes it.
type coverageJSON struct {
	schema.Head
	Total      summaryJSON        `json:"total"`
	Unplaced   ratioJSON          `json:"unplaced"` // functions without a place
	Files      []coverageFileJSON `json:"files"`
	Mismatched []mismatchJSON     `json:"mismatched"`
	Missed     []missedJSON       `json:"missed"` // limits
	Changed    *changedJSON       `json:"changed,omitempty"`
	Baseline   *baselineJSON      `json:"baseline,omitempty"`
}

type ratioJSON struct {
	Total   int `json:"total"`
	Covered int `json:"covered"`
}

// summaryJSON has the kinds of parts that there are.
type summaryJSON map[string]ratioJSON

type coverageFileJSON struct {
	Path   string      `json:"path"`
	Total  summaryJSON `json:"total"`
	NotRun []uint32    `json:"lines_not_run"`
}

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

type changedJSON struct {
	ratioJSON
	WithoutCode int               `json:"without_code"`
	Files       []changedFileJSON `json:"files"`
	Unknown     []string          `json:"unknown"`
}

type changedFileJSON struct {
	Path string `json:"path"`
	ratioJSON
	NotRun []uint32 `json:"lines_not_run"`
}

type baselineJSON struct {
	Total     summaryJSON         `json:"total"`
	Files     []baselineFileJSON  `json:"files"`
	Functions []worseFunctionJSON `json:"functions"`
}

type baselineFileJSON struct {
	Path   string      `json:"path"`
	Before summaryJSON `json:"before"`
	After  summaryJSON `json:"after"`
}

type worseFunctionJSON struct {
	Function string `json:"function"`
	Path     string `json:"path"`
}

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

// writeJSON writes the result.
func (r *coverageResult) writeJSON(w io.Writer) {
	out := coverageJSON{
		Head: schema.For("coverage"), Total: newSummaryJSON(r.Total), Unplaced: ratioJSON(r.Unplaced.Functions),
		Files: []coverageFileJSON{}, Mismatched: []mismatchJSON{}, Missed: []missedJSON{},
	}
	for _, f := range r.Files {
		file := coverageFileJSON{f.Path, newSummaryJSON(f.Total), []uint32{}}
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
