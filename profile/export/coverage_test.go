package export

import (
	"bytes"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// linedView is a view that knows lines.
type linedView struct {
	*fakeView
	lines []profile.Line
}

func (v *linedView) Lines() iter.Seq[profile.Line] { return slices.Values(v.lines) }

// sourceView has the places of functions, lines and branches, overloads, a name
// to demangle, and a function whose place is not known.
func sourceView() *linedView {
	fib := profile.Symbol{Name: "Fib.fib", Signature: "(I)I", File: "Fib.java", StartLine: 7}
	fibLong := profile.Symbol{Name: "Fib.fib", Signature: "(J)J", File: "Fib.java", StartLine: 20}
	native := profile.Symbol{Name: "_ZL6helperi", File: "dir/a.c", StartLine: 3}
	branch := func(way string, count uint64) profile.Stack {
		return profile.Stack{
			Frames: []profile.Frame{{Symbol: fib, Line: 8, BCI: 2}}, Values: []uint64{count},
			Labels: []profile.Label{{Key: profile.LabelBranch, Value: way}},
		}
	}
	return &linedView{
		&fakeView{
			identity: profile.Identity{Family: "iprof"},
			features: profile.Features{Calls: true, Lines: true, Bytecodes: true, Blocks: true, Edges: true},
			functions: []profile.Function{
				{Symbol: fib, Calls: 41, Covered: true, Blocks: []profile.Block{{Count: 41}}},
				{Symbol: fibLong},
				{Symbol: native, Calls: 2, Covered: true},
				{Symbol: profile.Symbol{Name: "Lost.f"}},
			},
			stacks: []profile.StackSet{{
				Name: "branches", Values: []profile.ValueType{{Name: "branches", Unit: profile.Count}},
				ReusedStacks: reusing([]profile.Stack{branch("0@5", 20), branch("1@9", 21)}),
			}},
			edges: []profile.Edge{{Kind: profile.Call, Caller: fib, Site: 9, Line: 10, Target: fib, Count: 40}},
		},
		[]profile.Line{{Function: fib, File: "Fib.java", Number: 7, Count: 41}, {Function: fibLong, File: "Fib.java", Number: 20}},
	}
}

// TestNoSourceLines: a view without source lines, or a table that has none, is refused before anything is written.
func TestNoSourceLines(t *testing.T) {
	for _, c := range []struct {
		v     profile.View
		table string
		want  string
	}{
		{javaView(), "", "the source lines of the functions are not known"},
		{javaView(), profile.FunctionSet, "the source lines of the functions are not known"},
		{sourceView(), edgeSet, `table "edges" has no source lines, which lcov is made of`},
		{sourceView(), "branches", `table "branches" has no source lines, which lcov is made of`},
	} {
		var out bytes.Buffer
		if _, err := Write(&out, lcov, c.v, Options{Table: c.table}); err == nil || !strings.HasPrefix(err.Error(), c.want) || out.Len() > 0 {
			t.Errorf("table %q: %v, %d bytes", c.table, err, out.Len())
		}
	}
}

const (
	lcov     = Format("lcov")
	llvmJSON = Format("llvm-json")
)

// TestLLVMJSON: the view of a profile with its programs has the document of llvm-cov; an
// export of some functions, or of another profile, has none.
func TestLLVMJSON(t *testing.T) {
	v := coveredView{sourceView(), &coverage.Coverage{
		Files: []*coverage.File{{Path: "a.c", Functions: []coverage.Function{{Symbol: profile.Symbol{Name: "f", File: "a.c", StartLine: 1}}}}},
		LLVMJSON: func(w io.Writer) error {
			_, err := io.WriteString(w, "{}")
			return err
		},
	}}
	if got, _ := written(t, llvmJSON, v, Options{}); string(got) != "{}" {
		t.Errorf("got %s", got)
	}
	all := func(*profile.Symbol) bool { return true }
	for _, c := range []struct {
		v   profile.View
		opt Options
	}{{v, Options{Function: all}}, {v, Options{SourceDir: "src"}}, {sourceView(), Options{}}} {
		if _, err := Write(io.Discard, llvmJSON, c.v, c.opt); err == nil || !strings.Contains(err.Error(), "llvm-json is for LLVM profiles") {
			t.Errorf("%v", err)
		}
	}
}

type coveredView struct {
	profile.View
	coverage *coverage.Coverage
}

func (v coveredView) Coverage() *coverage.Coverage { return v.coverage }

// TestLCOVOptions: a tracefile has the functions chosen, in files of the folder given.
// Other formats are whole and refuse a choice.
func TestLCOVOptions(t *testing.T) {
	opt := Options{SourceDir: "src", Function: func(s *profile.Symbol) bool { return s.Signature == "(J)J" }}
	var out bytes.Buffer
	losses, err := Write(&out, lcov, sourceView(), opt)
	if err != nil {
		t.Fatal(err)
	}
	const want = "TN:\nSF:src/Fib.java\nFN:20,Fib.fib(J)J\nFNDA:0,Fib.fib(J)J\nFNF:1\nFNH:0\nDA:20,0\nLF:1\nLH:0\nend_of_record\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	for _, l := range losses {
		if l.What == "functions" {
			t.Errorf("%v: the function lost is not chosen", l)
		}
	}
	absolute := sourceView()
	absolute.functions[2].File = "/dir/a.c"
	out.Reset()
	if _, err := Write(&out, lcov, absolute, Options{SourceDir: "src"}); err != nil || !strings.Contains(out.String(), "SF:/dir/a.c\n") {
		t.Errorf("%v:\n%s", err, out.String())
	}
	for _, f := range Formats() {
		if _, err := Write(&out, f, sourceView(), opt); (err == nil) != (f.ofCoverage() && f != llvmJSON) {
			t.Errorf("%s: %v", f, err)
		}
	}
}
