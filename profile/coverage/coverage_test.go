package coverage_test

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
	"github.com/profuse-pgo/profuse/test/alike"
)

// A madeView is a view of what it holds, without lines.
type madeView struct {
	features  profile.Features
	functions []profile.Function
	sets      []profile.StackSet
}

func (v *madeView) Identity() profile.Identity             { return profile.Identity{} }
func (v *madeView) Features() profile.Features             { return v.features }
func (v *madeView) Functions() iter.Seq[*profile.Function] { return reused(v.functions) }
func (v *madeView) Stacks() []profile.StackSet             { return v.sets }
func (v *madeView) Edges() iter.Seq[*profile.Edge]         { return reused[profile.Edge](nil) }
func (v *madeView) Traces() iter.Seq[*profile.Trace]       { return reused[profile.Trace](nil) }

// reused yields one value over and over, as views do.
func reused[T any](list []T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		var one T
		for i := range list {
			one = list[i]
			if !yield(&one) {
				return
			}
		}
	}
}

// A linedView knows lines besides.
type linedView struct {
	*madeView
	lines []profile.Line
}

func (v *linedView) Lines() iter.Seq[profile.Line] { return slices.Values(v.lines) }

func symbol(name, file string, line int32) profile.Symbol {
	return profile.Symbol{Name: name, File: file, StartLine: line}
}

// branch is a stack of one frame with a way of a branch, as of an inlined copy.
func branch(s profile.Symbol, line, bci int32, way string, count uint64) profile.Stack {
	return profile.Stack{
		Frames: []profile.Frame{{Symbol: s, Line: line, BCI: bci}, {Symbol: symbol("caller", "z.c", 1), Line: 9}},
		Values: []uint64{count}, Labels: []profile.Label{{Key: profile.LabelBranch, Value: way}},
	}
}

// everything is a view with all that a coverage may have.
func everything() *linedView {
	a, b, header := symbol("a", "src/x.c", 10), symbol("b", "src/x.c", 3), symbol("inl", "src/lib/h.h", 2)
	stacks := []profile.Stack{
		branch(a, 12, 8, "1@20", 5), branch(a, 12, 8, "0@9", 0), branch(a, 12, 8, "1@20", 2), // two contexts
		branch(a, 12, 4, "0@6", 0), branch(a, 12, 4, "1@5", 0), // never reached
		branch(b, 4, 1, "0@2", math.MaxUint64), branch(b, 4, 1, "0@2", 1),
		branch(b, 0, 1, "0@2", 1),                     // a line that is not known
		branch(symbol("lost", "", 0), 4, 1, "0@2", 1), // a file that is not known
		{Values: []uint64{1}},                         // no branch
		{Values: []uint64{1}, Labels: []profile.Label{{Key: profile.LabelBranch}}}, // nowhere
	}
	return &linedView{
		madeView: &madeView{
			features: profile.Features{Calls: true, Blocks: true, Lines: true},
			functions: []profile.Function{
				{Symbol: a, Calls: 7, Covered: true, Blocks: []profile.Block{{Count: 7}, {}, {Count: 2}}},
				{Symbol: b, Covered: true}, // ran without being counted
				{Symbol: header, Calls: 1, Covered: true},
				{Symbol: header},
				{Symbol: symbol("nofile", "", 4), Calls: 1, Covered: true, Blocks: []profile.Block{{}}},
				{Symbol: symbol("noline", "src/x.c", 0)},
			},
			sets: []profile.StackSet{{Name: "branches", Values: []profile.ValueType{{Name: "branches"}}, ReusedStacks: reused(stacks)}},
		},
		lines: []profile.Line{
			{Function: a, File: "src/x.c", Number: 12, Count: 5},
			{Function: a, File: "src/x.c", Number: 10, Count: 0},
			{Function: b, File: "src/x.c", Number: 12, Count: 6}, // the greatest stands
			{Function: a, File: "src/x.c", Number: 12, Count: 1},
			{Function: a, File: "src/lib/h.h", Number: 3, Count: math.MaxUint64}, // inlined
		},
	}
}

// TestCollect holds every number of a view to what is known to be in it.
func TestCollect(t *testing.T) {
	c := coverage.Collect(everything(), nil)
	ratio := func(total, covered int) coverage.Ratio { return coverage.Ratio{Total: total, Covered: covered} }
	a, b, header := symbol("a", "src/x.c", 10), symbol("b", "src/x.c", 3), symbol("inl", "src/lib/h.h", 2)
	want := &coverage.Coverage{
		Files: []*coverage.File{
			{
				Path:      "src/lib/h.h",
				Functions: []coverage.Function{{Symbol: header, Calls: 1}, {Symbol: header}},
				Lines:     []coverage.Line{{Number: 3, Count: math.MaxUint64}},
				Total:     coverage.Summary{Functions: ratio(1, 1), Lines: ratio(1, 1)}, // both are instances of one function
			},
			{
				Path:      "src/x.c",
				Functions: []coverage.Function{{Symbol: b, Calls: 1}, {Symbol: a, Calls: 7, Blocks: ratio(3, 2)}},
				Lines:     []coverage.Line{{Number: 10}, {Number: 12, Count: 6}},
				Branches: []coverage.Branch{
					{Function: b, Line: 4, Ways: []uint64{math.MaxUint64}, Names: []string{"0@2"}},
					{Function: a, Line: 12, Ways: []uint64{0, 0}, Names: []string{"0@6", "1@5"}},
					{Function: a, Line: 12, Ways: []uint64{0, 7}, Names: []string{"0@9", "1@20"}},
				},
				Total: coverage.Summary{Functions: ratio(2, 2), Blocks: ratio(3, 2), Lines: ratio(2, 1), Branches: ratio(5, 2)},
			},
		},
		Total:    coverage.Summary{Functions: ratio(3, 3), Blocks: ratio(3, 2), Lines: ratio(3, 2), Branches: ratio(5, 2)},
		Unplaced: coverage.Summary{Functions: ratio(2, 1), Blocks: ratio(1, 0)},
		Unknown: []coverage.Function{
			{Symbol: profile.Symbol{Name: "nofile", StartLine: 4}, Calls: 1, Blocks: ratio(1, 0)},
			{Symbol: profile.Symbol{Name: "noline", File: "src/x.c"}},
		},
		HasLines: true,
	}
	alike.Values(t, "(-want +got)", want, c)
	if share := c.Total.Lines.Share(); share != 2.0/3 || (coverage.Ratio{}).Share() != 0 {
		t.Errorf("share %v", share)
	}
}

// TestCollectChosen: what belongs to functions that are not chosen is in no list and in no sum, wherever it lies.
func TestCollectChosen(t *testing.T) {
	c := coverage.Collect(everything(), func(s *profile.Symbol) bool { return s.Name == "b" })
	if len(c.Files) != 1 || c.Unplaced != (coverage.Summary{}) {
		t.Fatalf("%d files, unplaced %+v", len(c.Files), c.Unplaced)
	}
	want := coverage.Summary{Functions: coverage.Ratio{Total: 1, Covered: 1}, Lines: coverage.Ratio{Total: 1, Covered: 1}, Branches: coverage.Ratio{Total: 1, Covered: 1}}
	if c.Total != want || c.Files[0].Lines[0].Count != 6 {
		t.Errorf("%+v, lines %+v", c.Total, c.Files[0].Lines)
	}
}

// TestCollectLess: without lines there are none, and branches only where frames have lines of the sources.
func TestCollectLess(t *testing.T) {
	v := everything()
	if c := coverage.Collect(v.madeView, nil); c.HasLines || c.Total.Lines.Total != 0 || c.Total.Functions.Total != 3 { // two are instances of one
		t.Errorf("%+v", c)
	}
	v.features = profile.Features{LineOffsets: true}
	if c := coverage.Collect(v, nil); c.Total.Branches.Total != 0 || !c.HasLines {
		t.Errorf("%+v", c)
	}
	if c := coverage.Collect(&madeView{}, nil); len(c.Files) != 0 {
		t.Errorf("%+v", c)
	}
}

// TestTree: folders with one folder alone share a row, and every row has the sums of what is below it.
func TestTree(t *testing.T) {
	deep := strings.Repeat("x/", 10_000) + "y.c"
	var files []*coverage.File
	for i, path := range []string{"/p/a/x.c", "/p/a/y.c", "/p/b/c/d/z.c", "w.c", `C:\q\v.c`, "/p/a", "a//b.c", deep} {
		files = append(files, &coverage.File{Path: path, Total: coverage.Summary{Lines: coverage.Ratio{Total: 10 + i, Covered: i}}})
	}
	var rows []string
	for _, r := range coverage.Tree(files) {
		rows = append(rows, fmt.Sprintf("%s%.8s %d/%d", strings.Repeat("  ", r.Depth), r.Label, r.Total.Lines.Covered, r.Total.Lines.Total))
		if r.File >= 0 && (!strings.HasSuffix(files[r.File].Path, r.Label) || files[r.File].Total != r.Total) {
			t.Errorf("%+v is not file %d", r, r.File)
		}
	}
	want := []string{
		"/p/ 8/48",
		"  a/ 1/21", "    x.c 0/10", "    y.c 1/11",
		"  b/c/d/ 2/12", "    z.c 2/12",
		"  a 5/15",
		`C:\q\ 4/14`, "  v.c 4/14",
		"a// 6/16", "  b.c 6/16",
		"x/x/x/x/ 7/17", "  x/x/x/x/ 7/17",
		"w.c 3/13",
	}
	alike.Values(t, "(-want +got)", want, rows)
}
