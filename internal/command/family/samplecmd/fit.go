package samplecmd

import (
	"encoding/hex"
	"fmt"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/internal/tally"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// fitFacts say how a profile fits a program. The JSON names are a stable interface.
type fitFacts struct {
	Program   programFacts    `json:"program"`
	Compared  string          `json:"compared"` // "checksums", "lines" or "names"
	Samples   uint64          `json:"samples"`
	Parts     []partFacts     `json:"parts"` // that add up to samples
	Staleness stalenessFacts  `json:"staleness"`
	Functions []functionStale `json:"functions"` // that do not fit
}

type programFacts struct {
	File      string `json:"file"`
	Arch      string `json:"arch"`
	BuildID   string `json:"build_id"`
	Functions int    `json:"functions"` // inlined ones included
}

type partFacts struct {
	What      string  `json:"what"` // "fits", "changed", "lines", "renamed", "gone"
	Samples   uint64  `json:"samples"`
	Share     float64 `json:"share"` // 0 to 1
	Functions int     `json:"functions"`
}

// stalenessFacts are the numbers of clang -mllvm -report-profile-staleness, for the whole program
// instead of one source file: see [sampleprof.Fit].
type stalenessFacts struct {
	Functions      int    `json:"functions"`
	StaleFunctions int    `json:"stale_functions"`
	Samples        uint64 `json:"samples"`
	StaleSamples   uint64 `json:"stale_samples"`
	Calls          int    `json:"calls"`
	StaleCalls     int    `json:"stale_calls"`
	RecoveredCalls int    `json:"recovered_calls"`
}

// functionStale is a function that does not fit, or does not fit wholly.
type functionStale struct {
	Name      string `json:"name"`
	Condition string `json:"condition"` // "changed", "renamed", "gone"
	NewName   string `json:"new_name,omitempty"`
	Samples   uint64 `json:"samples"`
	Stale     uint64 `json:"stale"` // samples that do not fit, including inlined functions
	// Locations are the lines with samples, StaleLines the lines with samples but without code; both
	// only for profiles by line.
	Locations  int `json:"locations"`
	StaleLines int `json:"stale_locations"`
	// Calls is the number of calls in the profile. Aligned is the number of these calls that the
	// program has in the same order: clang's -salvage-stale-profile uses the samples around them.
	Calls   int `json:"calls"`
	Aligned int `json:"aligned_calls"`
}

// fitOf compares a profile with a program. Damage in the program's debug information is only a
// warning if something can be compared.
func fitOf(opt family.Program, name string, data []byte, warn func(profile.Warning)) (*family.Fit, error) {
	program, err := symbolize.Open(opt.Path, opt.Options)
	if err != nil {
		return nil, err
	}
	defer program.Close()
	if f, _ := formats.Detect(data); f.IsRecording() || f == formats.SampleSums {
		return nil, formats.WrongFormat(name, data, "a sample profile")
	}
	p, err := sampleprof.Read(name, data, sampleprof.ReaderOptions{})
	if err != nil {
		return nil, err
	}
	fit, err := p.Fit(program)
	if fit == nil {
		return nil, err
	}
	if err != nil {
		warn(profile.Warning{File: program.Name, Err: err})
	}
	return newFit(p, fit, program), nil
}

// partTexts describe the parts of the samples in the order of listing. condition is for functions.
var partTexts = []struct{ what, condition, text string }{
	fits:    {"fits", "fits", "fit"},
	changed: {"changed", "changed", "of functions that have changed: another checksum"},
	lines:   {"lines", "changed", "at lines that have no code"},
	renamed: {"renamed", "renamed", "of functions that have another name"},
	gone:    {"gone", "gone", "of functions that are gone"},
}

// The parts of the samples. From renamed on, the program has no function of the name.
const (
	fits = iota
	changed
	lines
	renamed
	gone
)

// partOf returns the part to which the stale samples of a function belong.
func partOf(fn *sampleprof.FunctionFit, fit *sampleprof.Fit) int {
	switch {
	case fn.NewName != "":
		return renamed
	case fn.Gone:
		return gone
	case !fn.Changed:
		return fits
	case fit.Lines:
		return lines
	}
	return changed
}

// newFit turns the result of the comparison into facts and shares. A function is hot if one of its
// locations reaches the hot threshold, at least 1.
func newFit(p *sampleprof.Profile, fit *sampleprof.Fit, program *symbolize.File) *family.Fit {
	s := fit.Staleness
	facts := &fitFacts{
		Program:  programFacts{program.Name, program.Arch, hex.EncodeToString(program.BuildID), fit.ProgramFunctions},
		Compared: "names", Samples: fit.Samples, Functions: []functionStale{},
		Staleness: stalenessFacts{s.Functions, s.StaleFunctions, s.Samples, s.StaleSamples, s.Calls, s.StaleCalls, s.RecoveredStales},
	}
	switch {
	case fit.Checksums:
		facts.Compared = "checksums"
	case fit.Lines:
		facts.Compared = "lines"
	}
	for _, part := range partTexts {
		facts.Parts = append(facts.Parts, partFacts{What: part.what})
	}
	out := &family.Fit{Unit: "Samples", JSON: facts, Changed: family.NoLimit}
	lost, hot, hotLost := 0, 0, 0
	hotFrom, _ := p.Summarize().Cutoffs.Hot()
	hotFrom = max(hotFrom, 1)
	stale := uint64(0)
	for i := range fit.Functions {
		fn := &fit.Functions[i]
		part := partOf(fn, fit)
		facts.Parts[part].Samples += fn.Stale
		facts.Parts[part].Functions++
		stale += fn.Stale
		if fn.Samples > 0 {
			out.Ran++
			if part >= renamed {
				lost++
			}
		}
		if fn.Max >= hotFrom {
			hot++
			if part >= renamed || part != fits && fn.Stale >= fn.Samples-fn.Samples/2 { // not if it has lost a line or two
				hotLost++
			}
		}
		if part != fits {
			facts.Functions = append(facts.Functions, functionStale{
				fn.Name.String(), partTexts[part].condition, fn.NewName, fn.Samples, fn.Stale, fn.Locations, fn.StaleLines, fn.Calls, fn.Aligned,
			})
		}
	}
	// All samples that are not stale fit.
	facts.Parts[0].Samples = fit.Samples - min(fit.Samples, stale)
	for i := range facts.Parts {
		facts.Parts[i].Share = tally.Share(facts.Parts[i].Samples, fit.Samples)
	}
	out.Stale = tally.Share(fit.Stale, fit.Samples)
	out.Lost, out.HotLost = tally.Share(lost, out.Ran), tally.Share(hotLost, hot)
	out.Facts = func(name func(string) string) [][2]string { return facts.rows(p, name) }
	out.Parts, out.Functions = facts.partRows(), facts.table
	return out
}

// rows returns labels and values: the program, what was compared, and LLVM's numbers of stale calls.
func (f *fitFacts) rows(p *sampleprof.Profile, name func(string) string) [][2]string {
	compared := map[string]string{
		"checksums": "names, and the checksums of pseudo probes",
		"lines":     "names, and lines with code",
		"names":     "names alone: the program has no debug information with the lines of functions",
	}[f.Compared]
	if f.Compared == "names" && p.Kind.ProbeBased {
		compared = "names alone: the program has no pseudo probes"
	}
	rows := [][2]string{
		{"Program", fmt.Sprintf("%s: %s, %s", name(f.Program.File), f.Program.Arch, cli.Quantity(f.Program.Functions, "function", "functions"))},
		{"Compared", compared},
	}
	if s := f.Staleness; s.Calls > 0 {
		rows = append(rows, [2]string{"Calls", fmt.Sprintf("%s of %s are elsewhere; matching of stale profiles finds %s",
			cli.Count(s.StaleCalls), cli.Count(s.Calls), cli.Count(s.RecoveredCalls))})
	}
	return rows
}

// partRows returns the part that fits, and the other parts that have functions.
func (f *fitFacts) partRows() (rows [][]string) {
	for i, part := range f.Parts {
		if i == 0 || part.Functions > 0 {
			rows = append(rows, []string{cli.Count(part.Samples), console.Percent(part.Share), cli.Count(part.Functions), partTexts[i].text})
		}
	}
	return rows
}

// table lists the functions that do not fit. For profiles by line it has the number of lines without
// code instead of the condition.
func (f *fitFacts) table(p *console.Printer) (header []string, rows [][]string) {
	show := func(name string) string {
		if !p.Mangled {
			name = symbols.Demangle(name)
		}
		return console.Printable(name)
	}
	for i := range f.Functions {
		fn := &f.Functions[i]
		calls, what, name := "–", fn.Condition, show(fn.Name)
		if fn.Calls > 0 {
			calls = fmt.Sprintf("%d of %d", fn.Aligned, fn.Calls)
		}
		if fn.StaleLines > 0 {
			what = fmt.Sprintf("%d of %d lines", fn.StaleLines, fn.Locations)
		}
		if fn.NewName != "" {
			name += " → " + show(fn.NewName)
		}
		rows = append(rows, []string{cli.Count(fn.Stale), console.Percent(tally.Share(fn.Stale, f.Samples)), calls, what, name})
	}
	return []string{"Samples", "Share", "Calls found", "", "do not fit"}, rows
}
