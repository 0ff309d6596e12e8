package report

import (
	"strings"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

type staticCoverage struct {
	*pageCoverage
	Kinds    []coverageKind
	Whole    []coverage.Ratio // by kind
	Rows     []coverageRow
	MoreRows int
	Source   *staticSource
	Left     []staticMisfit // the first functions that the profile does not fit
}

type staticMisfit struct{ Name, Object, Cause string }

type coverageRow struct {
	coverage.Row
	Ratios []coverage.Ratio // by kind
}

type staticSource struct {
	From  string
	Lines []staticLine
	More  uint64
}

// A staticLine is a line of a source file.
type staticLine struct {
	Number       int
	Class, Count string // "run", "not"; both empty where no code begins
	Text         string
}

// static makes the page without scripts. It shows one source file, the file in which most ran.
func (c *pageCoverage) static(src *source, tree []coverage.Row, kinds []coverageKind) *staticCoverage {
	s := &staticCoverage{pageCoverage: c, Kinds: kinds}
	for _, m := range c.Misfits[:min(len(c.Misfits), maxStaticRows)] {
		s.Left = append(s.Left, staticMisfit{src.symbolName(&profile.Symbol{Name: m.Function}), clean(m.Object), clean(m.Cause)})
	}
	ratios := func(row int) (list []coverage.Ratio) {
		for _, k := range kinds {
			list = append(list, coverage.Ratio{Total: k.All[row], Covered: k.Ran[row]})
		}
		return list
	}
	for i, r := range tree[:min(len(tree), maxStaticRows)] {
		s.Rows = append(s.Rows, coverageRow{r, ratios(i)})
	}
	// The last row of the columns is the sum.
	s.Whole = ratios(len(tree))
	s.MoreRows = len(tree) - len(s.Rows)
	var first *coveredFile
	for _, f := range c.files {
		if f.source != nil && (first == nil || mostRanFirst(f, first) < 0) {
			first = f
		}
	}
	if first != nil {
		s.Source = first.staticSource()
	}
	return s
}

func (f *coveredFile) staticSource() *staticSource {
	s := &staticSource{From: f.source.From}
	counts := make(map[uint32]uint64, len(f.Lines))
	for _, l := range f.Lines {
		counts[l.Number] = l.Count
	}
	for text := range strings.Lines(f.source.Text) {
		number := len(s.Lines) + 1
		if number > maxStaticRows {
			s.More = uint64(strings.Count(f.source.Text, "\n") - maxStaticRows)
			break
		}
		line := staticLine{Number: number, Text: strings.TrimRight(text, "\n")}
		// Lines without code have no count, not the count 0.
		if n, ok := counts[uint32(number)]; ok {
			line.Class, line.Count = "not", countText(n)
			if n > 0 {
				line.Class = "run"
			}
		}
		s.Lines = append(s.Lines, line)
	}
	return s
}

// String says how many source files the page shows, and why it does not show the others; "" without sources.
func (e embedding) String() string {
	if !e.asked {
		return ""
	}
	where := "in the folders"
	if e.read {
		where = "to be found"
	}
	var parts []string
	if e.shown == 0 {
		parts = append(parts, "no source file is shown")
	}
	say := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, countText(uint64(n))+" "+many)
		}
	}
	say(e.shown, "source file is shown", "source files are shown")
	say(e.missing, "is not "+where, "are not "+where)
	say(e.unfit, "is not text, too large, or not the file that was compiled", "are not text, too large, or not the files that were compiled")
	say(e.tooMuch, "is left out, since more ran in others", "are left out, since more ran in others")
	text := strings.Join(parts, "; ") + "."
	return strings.ToUpper(text[:1]) + text[1:]
}
