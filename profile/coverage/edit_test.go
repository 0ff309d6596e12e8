package coverage

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

const trace = `# a comment
TN:test
SF:/src/a.c
VER:1
FN:1,3,main
FN:5,other
FNDA:4,main
FNDA:0,other
FNF:2
FNH:1
BRDA:2,0,0,3
BRDA:2,0,1,1
BRDA:2,e1,x > 1,-
BRDA:2,e1,x < 1,-
DA:1,4
DA:2,4,aGFzaA
DA:3,1.5e3
DA:5,-2
LF:4
LH:3
end_of_record
SF:b.c
FNL:0,7,9
FNA:0,2,b
DA:7,2
end_of_record
`

func readTrace(t *testing.T, text string) *Coverage {
	t.Helper()
	return oracle.Must(ReadLCOV("a.info", []byte(text)))(t)
}

// What tools other than this one write is read.
func TestReadLCOV(t *testing.T) {
	c := readTrace(t, trace)
	want := &Coverage{
		HasLines: true,
		Files: []*File{{
			Path: "/src/a.c",
			Functions: []Function{
				{Symbol: profile.Symbol{Name: "main", File: "/src/a.c", StartLine: 1}, Calls: 4},
				{Symbol: profile.Symbol{Name: "other", File: "/src/a.c", StartLine: 5}},
			},
			Lines:    []Line{{1, 4}, {2, 4}, {3, 1500}, {5, 0}},
			Branches: []Branch{{Line: 2, Ways: []uint64{3, 1}}, {Line: 2, Ways: []uint64{0, 0}}},
			Total:    Summary{Functions: Ratio{2, 1}, Lines: Ratio{4, 3}, Branches: Ratio{4, 2}},
		}, {
			Path:      "b.c",
			Functions: []Function{{Symbol: profile.Symbol{Name: "b", File: "b.c", StartLine: 7}, Calls: 2}},
			Lines:     []Line{{7, 2}},
			Total:     Summary{Functions: Ratio{1, 1}, Lines: Ratio{1, 1}},
		}},
		Total: Summary{Functions: Ratio{3, 2}, Lines: Ratio{5, 4}, Branches: Ratio{4, 2}},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v, want %+v", c.Files[0], want.Files[0])
	}
}

// A tracefile that was read is written and read again unchanged.
func TestLCOVRoundTrip(t *testing.T) {
	c := readTrace(t, trace)
	var b bytes.Buffer
	oracle.NoError(t, Write(&b, c, "lcov", WriteOptions{}))
	if again := readTrace(t, b.String()); !reflect.DeepEqual(again, c) {
		t.Errorf("other after\n%s", b.String())
	}
}

func TestReadLCOVErrors(t *testing.T) {
	for text, class := range map[string]error{
		"SF:a\nDA:1,1\n":                         profile.ErrTruncated,
		"DA:1,1\n":                               profile.ErrCorrupt,
		"SF:a\nDA:1\nend_of_record\n":            profile.ErrCorrupt,
		"SF:a\nDA:x,1\nend_of_record\n":          profile.ErrCorrupt,
		"SF:a\nDA:9999999999,1\nend_of_record\n": profile.ErrCorrupt,
		"SF:a\nDA:1,NaN\nend_of_record\n":        profile.ErrCorrupt,
		"SF:a\nFN:x,f\nend_of_record\n":          profile.ErrCorrupt,
		"SF:a\nFNDA:f,1\nend_of_record\n":        profile.ErrCorrupt,
		"SF:a\nBRDA:1,0,0\nend_of_record\n":      profile.ErrCorrupt,
		"SF:a\nBRDA:1,0,0,many\nend_of_record\n": profile.ErrCorrupt,
		"SF:a\nFNL:0,line\nend_of_record\n":      profile.ErrCorrupt,
		"SF:a\nFNA:0,many,name\nend_of_record\n": profile.ErrCorrupt,
	} {
		if _, err := ReadLCOV("a.info", []byte(text)); !errors.Is(err, class) {
			t.Errorf("%q: %v, want %v", text, err, class)
		}
	}
}

func FuzzReadLCOV(f *testing.F) {
	f.Add([]byte(trace))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ReadLCOV("a.info", data)
		if err != nil {
			_, ok := errors.AsType[*profile.FormatError](err)
			if !ok {
				t.Fatal(err)
			}
			return
		}
		for _, file := range c.Files {
			for i := range file.Functions {
				if strings.Contains(file.Functions[i].Name, ",") {
					return // "1,f" is a name, or the last line before one
				}
			}
		}
		var first, second bytes.Buffer
		oracle.NoError(t, Write(&first, c, "lcov", WriteOptions{}))
		again, err := ReadLCOV("again.info", first.Bytes())
		if err != nil {
			t.Fatalf("%v\n%s", err, first.Bytes())
		}
		oracle.NoError(t, Write(&second, again, "lcov", WriteOptions{}))
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("\n%s\nwritten again:\n%s", first.Bytes(), second.Bytes())
		}
	})
}

func TestIsLCOV(t *testing.T) {
	for text, want := range map[string]bool{
		trace: true, "TN:\nSF:a": true, "\r\nSF:a\r\n": true, "": false, ":ir\nmain\n": false, "# only": false, "main\n# Func Hash:\n": false,
	} {
		if got := IsLCOV([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Union adds counts up by place, and takes what only one has.
func TestUnion(t *testing.T) {
	a := readTrace(t, trace)
	b := readTrace(t, "SF:/src/a.c\nFN:1,main\nFNDA:1,main\nBRDA:2,0,0,-\nBRDA:2,0,1,-\nDA:1,1\nDA:5,1\nDA:9,0\nend_of_record\nSF:c.c\nDA:1,0\nend_of_record\n")
	before := a.Files[0].Branches[0].Ways[0]
	u := Union(a, b)
	if want := (Summary{Functions: Ratio{3, 2}, Lines: Ratio{7, 5}, Branches: Ratio{4, 2}}); u.Total != want {
		t.Errorf("%+v, want %+v", u.Total, want)
	}
	f := u.Files[0]
	if want := []Line{{1, 5}, {2, 4}, {3, 1500}, {5, 1}, {9, 0}}; !reflect.DeepEqual(f.Lines, want) {
		t.Errorf("lines %v", f.Lines)
	}
	if f.Functions[0].Calls != 5 || f.Branches[0].Ways[0] != 3 || a.Files[0].Branches[0].Ways[0] != before || len(u.Files) != 3 {
		t.Errorf("%+v", f)
	}
	twice := Union(a, a)
	if got := twice.Files[0]; got.Branches[0].Ways[1] != 2 || len(got.Branches) != 2 || twice.Total != a.Total {
		t.Errorf("%+v", got)
	}
}

// Branches of one line are told apart by their columns, wherever they come from.
func TestUnionOfColumns(t *testing.T) {
	with := func(branches ...Branch) *Coverage {
		return &Coverage{Files: []*File{{Path: "a", Branches: branches}}}
	}
	u := Union(with(Branch{Line: 1, Column: 9, Ways: []uint64{1, 0}}),
		with(Branch{Line: 1, Column: 2, Ways: []uint64{0, 1}}, Branch{Line: 1, Column: 9, Ways: []uint64{0, 1}}))
	want := []Branch{{Line: 1, Column: 2, Ways: []uint64{0, 1}}, {Line: 1, Column: 9, Ways: []uint64{1, 1}}}
	if got := u.Files[0].Branches; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Files whose paths become equal are added up; others go.
func TestRename(t *testing.T) {
	c := readTrace(t, trace+"SF:/other/a.c\nDA:1,1\nend_of_record\n")
	c.Rename(func(path string) string {
		if path == "b.c" {
			return ""
		}
		return filepath.Base(path)
	})
	if len(c.Files) != 1 || c.Files[0].Path != "a.c" || c.Files[0].Lines[0].Count != 5 || c.Total.Lines != (Ratio{4, 3}) {
		t.Errorf("%+v", c.Files[0])
	}
}

// Markers exclude what they stand for.
func TestExclude(t *testing.T) {
	const source = `1
2 // LCOV_EXCL_LINE
3
4 // GCOV_EXCL_START
5
6 // LCOV_EXCL_STOP
7 // LCOV_EXCL_BR_LINE
8 // LCOV_EXCL_LINES is no marker
9 // GRCOV_EXCL_BR_START
10
11 // LCOV_EXCL_BR_STOP
12
13 // LCOV_EXCL_START
14`
	f := &File{Functions: []Function{{Symbol: profile.Symbol{StartLine: 5}}, {Symbol: profile.Symbol{StartLine: 8}}}}
	for n := uint32(1); n <= 14; n++ {
		f.Lines = append(f.Lines, Line{n, 1})
		f.Branches = append(f.Branches, Branch{Line: n, Ways: []uint64{1, 0}})
		f.Regions = append(f.Regions, Region{Line: n, EndLine: n})
		f.Decisions = append(f.Decisions, Decision{Line: n, Conditions: Ratio{1, 1}})
	}
	if !f.Exclude([]byte(source), nil) {
		t.Fatal("no marker")
	}
	var lines, branches []uint32
	for _, l := range f.Lines {
		lines = append(lines, l.Number)
	}
	for _, b := range f.Branches {
		branches = append(branches, b.Line)
	}
	if want := []uint32{1, 3, 7, 8, 9, 10, 11, 12}; !reflect.DeepEqual(lines, want) || len(f.Regions) != len(want) {
		t.Errorf("lines %v, want %v", lines, want)
	}
	if want := []uint32{1, 3, 8, 12}; !reflect.DeepEqual(branches, want) || len(f.Decisions) != len(want) {
		t.Errorf("branches %v, want %v", branches, want)
	}
	if len(f.Functions) != 1 || f.Functions[0].StartLine != 8 {
		t.Errorf("functions %+v", f.Functions)
	}
	if own, err := os.ReadFile("doc.go"); err != nil || f.Exclude(own, nil) || f.Exclude([]byte(strings.Repeat("x\n", 9)), nil) {
		t.Error("markers in a source without any", err)
	}
}

// TestBehind: what is behind the end of a source is left out, however its lines end.
func TestBehind(t *testing.T) {
	for source, want := range map[string]int{"": 3, "1\n2": 1, "1\n2\n": 1, "1\r\n2\r\n": 1, "1\r2\r3": 0, "1\n2\n3": 0, "1\n\n\n\n": 0} {
		f := &File{
			Lines: []Line{{1, 1}, {2, 0}, {3, 1}}, Regions: []Region{{Line: 1, EndLine: 3}, {Line: 3, EndLine: 3}},
			Functions: []Function{{Symbol: profile.Symbol{StartLine: 1}}, {Symbol: profile.Symbol{StartLine: 3}}},
		}
		own := *f
		if own.Exclude([]byte(source), nil) || own.Behind != want || len(own.Lines) != 3-want || (len(own.Functions) == 2) != (want == 0) {
			t.Errorf("%q: %d lines are behind the end, want %d; %d functions", source, own.Behind, want, len(own.Functions))
		}
		c := &Coverage{Files: []*File{f}}
		c.Finish()
		behind := 0
		got := written(t, "cobertura", c, WriteOptions{
			Source: func(string) ([]byte, error) { return []byte(source), nil },
			Behind: func(_ string, lines int) { behind = lines },
		})
		if behind != want || strings.Contains(got, `number="3"`) != (want == 0) || strings.Contains(got, `lines-valid="3"`) != (want == 0) || len(f.Lines) != 3 {
			t.Errorf("%q: %d lines are not written, want %d:\n%s", source, behind, want, got)
		}
	}
}

// TestUnionOfParts: the parts of functions, uses of macros, and decisions are added up by place; a
// condition that one input shows to decide is shown.
func TestUnionOfParts(t *testing.T) {
	part := func(count uint64) *File {
		return &File{Path: "a", Lines: []Line{{1, count}}, Regions: []Region{{Line: 1, EndLine: 1, Count: count}}}
	}
	macro := func(column uint32, count uint64) Expansion {
		return Expansion{Line: 2, Column: column, EndLine: 2, Of: part(count)}
	}
	one := &File{
		Path: "a", Functions: []Function{{Symbol: profile.Symbol{Name: "f"}, Part: part(1)}, {Symbol: profile.Symbol{Name: "g"}}},
		Regions: []Region{{Line: 1, EndLine: 3, Count: 1}}, Expansions: []Expansion{macro(4, 1), macro(9, 1)},
		Decisions: []Decision{
			{Line: 3, Conditions: Ratio{2, 1}, Operands: []Condition{{Column: 1, Covered: true}, {Column: 5, Have: "TF:F", Wanted: "TT:T"}}, Vectors: []string{"TF:F", "F-:F"}},
			{Line: 4, Conditions: Ratio{2, 0}},
			{Line: 5, Conditions: Ratio{2, 0}, Operands: make([]Condition, 2)},
		},
	}
	other := &File{
		Path: "a", Functions: []Function{{Symbol: profile.Symbol{Name: "f"}, Part: part(2)}, {Symbol: profile.Symbol{Name: "g"}, Part: part(3)}},
		Regions: []Region{{Line: 1, EndLine: 3, Count: 5}, {Line: 2, EndLine: 2, Count: 1}}, Expansions: []Expansion{macro(4, 7)},
		Decisions: []Decision{
			{Line: 3, Conditions: Ratio{2, 1}, Operands: []Condition{{Column: 1, Have: "TT:T", Wanted: "F-:F"}, {Column: 5, Covered: true}}, Vectors: []string{"TT:T", "TF:F"}},
			{Line: 4, Conditions: Ratio{2, 1}, Operands: []Condition{{Column: 1, Covered: true}, {Column: 5}}, Vectors: []string{"T-:T"}},
			{Line: 5, Conditions: Ratio{3, 1}},
		},
	}
	u := Union(&Coverage{Files: []*File{one}}, &Coverage{Files: []*File{other}}).Files[0]
	if got := u.Functions; len(got) != 2 || got[0].Part.Lines[0].Count != 3 || got[1].Part.Lines[0].Count != 3 || one.Functions[0].Part.Lines[0].Count != 1 {
		t.Errorf("functions %+v", got)
	}
	if want := []Region{{Line: 1, EndLine: 3, Count: 6}, {Line: 2, EndLine: 2, Count: 1}}; !reflect.DeepEqual(u.Regions, want) {
		t.Errorf("regions %+v", u.Regions)
	}
	if got := u.Expansions; len(got) != 2 || got[0].Of.Lines[0].Count != 8 || got[1].Of.Lines[0].Count != 1 {
		t.Errorf("expansions %+v", got)
	}
	want := []Decision{
		{Line: 3, Conditions: Ratio{2, 2}, Operands: []Condition{{Column: 1, Covered: true}, {Column: 5, Covered: true}}, Vectors: []string{"TF:F", "F-:F", "TT:T"}},
		{Line: 4, Conditions: Ratio{2, 1}, Operands: []Condition{{Column: 1, Covered: true}, {Column: 5}}, Vectors: []string{"T-:T"}},
		{Line: 5, Conditions: Ratio{3, 1}, Operands: make([]Condition, 2)},
	}
	if !reflect.DeepEqual(u.Decisions, want) {
		t.Errorf("decisions %+v", u.Decisions)
	}
	if len(one.Decisions[0].Vectors) != 2 || one.Decisions[0].Operands[1].Covered {
		t.Errorf("the input has changed: %+v", one.Decisions[0])
	}
}
