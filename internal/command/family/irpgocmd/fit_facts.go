package irpgocmd

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/internal/tally"
	"github.com/profuse-pgo/profuse/profile"
)

// fitFacts say how a profile fits a program. The JSON names are a stable interface.
type fitFacts struct {
	Program  programFacts    `json:"program"`
	Compared string          `json:"compared"` // see [demand.compared]
	Counts   uint64          `json:"counts"`   // of the records that the program judges
	Unjudged uint64          `json:"unjudged"` // counts of other records: with or without contexts, unlike the program
	Parts    []partFacts     `json:"parts"`    // that add up to counts
	Warnings warningFacts    `json:"warnings"`
	Stale    []functionStale `json:"functions"` // that do not fit

	text string // Compared, for people
}

type programFacts struct {
	File      string `json:"file"`
	Arch      string `json:"arch"`
	BuildID   string `json:"build_id"`
	Functions int    `json:"functions"` // instrumented ones
}

type partFacts struct {
	What      string  `json:"what"`
	Counts    uint64  `json:"counts"`
	Share     float64 `json:"share"` // 0 to 1
	Functions int     `json:"functions"`
}

// warningFacts are the warnings that clang will print, if all are enabled: of how many functions it looks for.
type warningFacts struct {
	Functions    int `json:"functions"`    // differently instrumented copies counted each
	Mismatched   int `json:"mismatched"`   // "function control flow change detected", "mismatched data"
	Inconsistent int `json:"inconsistent"` // "Inconsistent number of counts"; only with profiles of the IR pass
	Missing      int `json:"missing"`      // "no profile data available for function", "no data"
	// Unlike is how many of the missing ones clang 14 counts as mismatched: functions of the front end whose records have
	// hashes with another bit 60, which in profiles of the IR pass marks contexts. Later releases do not see such records.
	Unlike int `json:"unlike"`
}

// functionStale is a function of the profile that does not fit, or does not fit wholly.
type functionStale struct {
	Name      string `json:"name"`      // as in the profile
	Condition string `json:"condition"` // "changed", "counters", "other", "renamed", "gone"
	NewName   string `json:"new_name,omitempty"`
	Stale     uint64 `json:"stale"`  // counts that compilers will not use
	Warned    uint64 `json:"warned"` // "up to … count discarded" in the warning of clang 16 and later: of one record
	// Hashes are the hashes of the records that do not fit, ProgramHashes the hashes in the program.
	Hashes        []string `json:"hashes"`
	ProgramHashes []string `json:"program_hashes,omitempty"`
}

// conditionTexts describe the parts of the counts in the order of listing.
var conditionTexts = [numConditions]struct{ what, text string }{
	fits:     {"fits", "fit"},
	counters: {"counters", "of functions that have another number of counters"},
	changed:  {"changed", "of functions that have changed: another hash"},
	other:    {"other", "of other versions of functions that fit"},
	renamed:  {"renamed", "of functions that seem to have another name"},
	gone:     {"gone", "of functions that are gone"},
}

func hashText(hash uint64) string { return fmt.Sprintf("%016x", hash) }

func newFitFacts(d *demand, program string) *fitFacts {
	f := &fitFacts{Program: programFacts{program, d.arch, hex.EncodeToString(d.buildID), len(d.shapes)}, Stale: []functionStale{}}
	f.Compared, f.text = d.compared()
	for _, c := range conditionTexts {
		f.Parts = append(f.Parts, partFacts{What: c.what})
	}
	return f
}

func (f *fitFacts) add(fn *functionFit) {
	f.Counts = saturate.Add(f.Counts, fn.all)
	f.Parts[fits].Counts = saturate.Add(f.Parts[fits].Counts, fn.all-fn.Stale)
	f.Parts[fn.condition].Functions++
	if fn.condition == fits {
		return
	}
	f.Parts[fn.condition].Counts = saturate.Add(f.Parts[fn.condition].Counts, fn.Stale)
	fn.Condition = conditionTexts[fn.condition].what
	f.Stale = append(f.Stale, fn.functionStale)
}

func (f *fitFacts) finish() {
	for i := range f.Parts {
		f.Parts[i].Share = tally.Share(f.Parts[i].Counts, f.Counts)
	}
	slices.SortFunc(f.Stale, compareStale)
}

// rows returns labels and values: the program, what was compared, and the warnings of compilers.
func (f *fitFacts) rows(name func(string) string) [][2]string {
	w := &f.Warnings
	rows := [][2]string{
		{"Program", fmt.Sprintf("%s: %s, %s", name(f.Program.File), f.Program.Arch, cli.Quantity(f.Program.Functions, "function", "functions"))},
		{"Compared", f.text},
		{"Warnings", fmt.Sprintf("of %s, compilers find %s with mismatched data and %s without data",
			cli.Quantity(w.Functions, "function", "functions"), cli.Count(w.Mismatched+w.Inconsistent), cli.Count(w.Missing))},
	}
	if f.Unjudged > 0 {
		rows = append(rows, [2]string{"Not compared", cli.Quantity(f.Unjudged, "count", "counts") + " of another instrumentation: with contexts, or without"})
	}
	return rows
}

// partRows returns the part that fits, and the other parts that have functions.
func (f *fitFacts) partRows() (rows [][]string) {
	for i, part := range f.Parts {
		if i == fits || part.Functions > 0 {
			rows = append(rows, []string{cli.Count(part.Counts), console.Percent(part.Share), cli.Count(part.Functions), conditionTexts[i].text})
		}
	}
	return rows
}

// table lists the functions that do not fit.
func (f *fitFacts) table(p *console.Printer) (header []string, rows [][]string) {
	show := func(name string) string {
		if p.Mangled {
			return console.Printable(name)
		}
		file, symbol := irpgo.SplitName(name)
		return p.SymbolName(&profile.Symbol{Name: symbol, File: file})
	}
	for i := range f.Stale {
		fn := &f.Stale[i]
		name := show(fn.Name)
		if fn.NewName != "" {
			name += " → " + show(fn.NewName)
		}
		rows = append(rows, []string{cli.Count(fn.Stale), console.Percent(tally.Share(fn.Stale, f.Counts)), fn.Condition, name})
	}
	return []string{"Counts", "Share", "", "do not fit"}, rows
}
