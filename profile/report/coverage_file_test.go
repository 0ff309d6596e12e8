package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile/coverage"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestSpans: the innermost region counts, and after its end the one around it.
func TestSpans(t *testing.T) {
	region := func(line, column, endLine, endColumn uint32, count uint64) coverage.Region {
		return coverage.Region{Line: line, Column: column, EndLine: endLine, EndColumn: endColumn, Count: count}
	}
	for _, test := range []struct {
		regions []coverage.Region
		want    string
	}{
		{nil, ""},
		{[]coverage.Region{region(1, 1, 9, 2, 4)}, "1:1 4, 9:2 -1"},
		{[]coverage.Region{region(1, 1, 9, 2, 4), region(2, 3, 2, 9, 0), region(5, 1, 6, 1, 4)}, "1:1 4, 2:3 0, 2:9 4, 9:2 -1"},
		{[]coverage.Region{region(2, 3, 2, 9, 1), region(2, 3, 5, 1, 7)}, "2:3 1, 2:9 7, 5:1 -1"},                                      // of one start the outer one first
		{[]coverage.Region{region(1, 1, 3, 1, 4), region(3, 1, 4, 1, 0)}, "1:1 4, 3:1 0, 4:1 -1"},                                      // side by side
		{[]coverage.Region{region(1, 1, 3, 5, 4), region(2, 1, 6, 1, 2), region(7, 1, 8, 1, 1)}, "1:1 4, 2:1 2, 6:1 4, 7:1 1, 8:1 -1"}, // not nested
		{[]coverage.Region{region(1, 1, 2, 1, 1<<64-1)}, "1:1 9223372036854775807, 2:1 -1"},
	} {
		var got []string
		last := countSpan{}
		for _, s := range spansOf(test.regions) {
			got = append(got, fmt.Sprintf("%d:%d %d", s.line, s.column, s.count))
			if s.line < last.line || s.line == last.line && s.column <= last.column {
				t.Errorf("%v: %v after %v", test.regions, s, last)
			}
			last = s
		}
		if text := strings.Join(got, ", "); text != test.want {
			t.Errorf("%v: %s, want %s", test.regions, text, test.want)
		}
	}
}

// TestPartsOfCoverage: files are in the parts that the data name, in order.
func TestPartsOfCoverage(t *testing.T) {
	c := &coverage.Coverage{HasLines: true}
	for i := range 40 {
		f := &coverage.File{Path: fmt.Sprintf("%02d.c", i)}
		for n := range uint32(1000) {
			f.Lines = append(f.Lines, coverage.Line{Number: n + 1, Count: uint64(i)})
		}
		c.Files = append(c.Files, f)
	}
	c.Finish()
	p := oracle.Must(coveragePage(newSource(0, Source{Coverage: c}, Options{})))(t)
	d := p.data.(*coverageData)
	if len(d.Parts) < 2 || len(d.Parts) != len(p.parts) || d.Parts[0] != 0 {
		t.Fatalf("parts %v, %d of them", d.Parts, len(p.parts))
	}
	for n, part := range p.parts {
		for i, f := range part().([]*fileData) {
			if want := d.Parts[n] + i; f.Count[0] != uint64(want) {
				t.Errorf("part %d: file %d is at the place of %d", n, f.Count[0], want)
			}
		}
	}
}
