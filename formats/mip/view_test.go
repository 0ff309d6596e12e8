package mip

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/profile"
)

// TestView: what the views of the fixtures say, two runs of one program in each
// of the ways it was instrumented in.
func TestView(t *testing.T) {
	for _, tc := range []struct {
		kind, features string
		functions      []string
		trace          string
	}{
		{"function", "calls calls_are_coverage hashes sizes runs", []string{
			"add 1 runs=1", "pick 1 runs=2", "helper 1 runs=1", "never 0 runs=0", "main 1 runs=2",
			"table 1 runs=2", "helper 1 runs=2", "unused 0 runs=0",
		}, ""},
		{"counts", "calls hashes sizes first_calls runs traces", []string{
			"add 1 runs=1 first=3", "pick 4 runs=2 first=2", "helper 1 runs=1 first=4", "never 0 runs=0", "main 2 runs=2 first=1",
			"table 2 runs=2 first=4", "helper 3 runs=2 first=5", "unused 0 runs=0",
		}, "main pick add helper table helper"},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			r, err := NewReader(tc.kind+".mip", fixture(t, tc.kind+".mip"), nil)
			if err != nil {
				t.Fatal(err)
			}
			p, err := r.Profile()
			if err != nil {
				t.Fatal(err)
			}
			v := p.View(r.name, ViewOptions{Info: r.Info, BuildID: []byte{1, 2}})
			id := v.Identity()
			if got, want := id.String(), "MIP .mip version 8B ("+p.Type.String()+")"; got != want || len(id.BuildIDs) != 1 {
				t.Errorf("identity %q, want %q", got, want)
			}
			if got := strings.Join(v.Features().Names(), " "); got != tc.features {
				t.Errorf("features %q, want %q", got, tc.features)
			}
			var got []string
			i := 0
			for f := range v.Functions() {
				src := &p.Functions[i]
				i++
				if f.Address != src.Address || f.Size != uint64(src.Size) || f.Hash != uint64(src.CFG) || f.ID != guid.Of(src.Name) || f.Covered != src.Covered() {
					t.Errorf("%+v of %+v", f, src)
				}
				s := fmt.Sprintf("%s %d runs=%d", f.Name, f.Calls, f.Runs)
				if f.FirstCall != 0 {
					s += fmt.Sprintf(" first=%v", f.FirstCall)
				}
				got = append(got, s)
			}
			if diff := cmp.Diff(tc.functions, got); diff != "" {
				t.Error(diff)
			}
			var trace []string
			for tr := range v.Traces() {
				if !tr.Mean || tr.Weight != 1 {
					t.Errorf("trace %+v", tr)
				}
				for _, s := range tr.Functions {
					trace = append(trace, s.Name)
				}
			}
			if got := strings.Join(trace, " "); got != tc.trace {
				t.Errorf("trace %q, want %q", got, tc.trace)
			}
			if v.Stacks() != nil {
				t.Error("there are stacks")
			}
			for e := range v.Edges() {
				t.Errorf("edge %+v", e)
			}
		})
	}
}

// TestViewBlocks: the entry is there, blocks without a probe are left out, and
// blocks without block coverage altogether.
func TestViewBlocks(t *testing.T) {
	p := &Profile{Type: FunctionCoverage | BlockCoverage, Functions: []Function{
		{Name: "f", MergeCount: 1, CallCount: 1, Size: 9, Blocks: []Block{{Offset: 4, Covered: true}, {}, {Offset: 7}}},
		{Name: "g"},
	}}
	var got [][]profile.Block
	for f := range p.View("", ViewOptions{}).Functions() {
		got = append(got, append([]profile.Block{}, f.Blocks...))
	}
	if diff := cmp.Diff([][]profile.Block{{{Count: 1}, {Count: 1, Offset: 4}, {Offset: 7}}, {{}}}, got); diff != "" {
		t.Error(diff)
	}
	p.Type = FunctionCoverage
	for f := range p.View("", ViewOptions{}).Functions() {
		if len(f.Blocks) != 0 {
			t.Errorf("%s has blocks %v", f.Name, f.Blocks)
		}
	}

	// The fixtures agree with what their own test counts, and each function has an entry.
	all := read(t, fixture(t, "all.mip"))
	s := profile.Summarize(all.View("", ViewOptions{}), nil)
	blocks, covered := countBlocks(all)
	if s.Blocks != uint64(8+blocks) || s.CoveredBlocks != uint64(6+covered) || !s.OfCalls || s.Covered != 6 || s.Counts.Total != 13 {
		t.Errorf("%+v; %d blocks, %d covered", s, blocks, covered)
	}
}

// TestViewLines: blocks and functions have the lines that the sources say, and
// a line the count of what begins on it.
func TestViewLines(t *testing.T) {
	p := &Profile{Type: FunctionCoverage | BlockCoverage, Functions: []Function{
		{Name: "f", MergeCount: 1, CallCount: 1, Size: 9, Blocks: []Block{{Offset: 4, Covered: true}, {}, {Offset: 7}}},
		{Name: "g"},
	}}
	block := func(file string, line, inFunction uint32) Source {
		return Source{file, line, inFunction}
	}
	sources := []FunctionSource{
		{Declared: Source{File: "f.c", Line: 3}, Entry: block("f.c", 4, 4), Blocks: []Source{block("f.h", 1, 6), block("f.c", 7, 7), block("f.c", 8, 8)}},
		{Entry: block("", 0, 0), Blocks: nil},
	}
	v := p.View("", ViewOptions{Sources: sources})
	if !v.Features().BlockLines {
		t.Errorf("features %q", v.Features().Names())
	}
	var functions []profile.Function
	for f := range v.Functions() {
		c := *f
		c.Blocks = append([]profile.Block(nil), f.Blocks...)
		c.ID = 0
		functions = append(functions, c)
	}
	want := []profile.Function{
		{
			Symbol: profile.Symbol{Name: "f", File: "f.c", StartLine: 3}, Calls: 1, Covered: true, Runs: 1, Size: 9,
			Blocks: []profile.Block{{Count: 1, Line: 4}, {Count: 1, Offset: 4, Line: 6}, {Offset: 7, Line: 8}},
		},
		{Symbol: profile.Symbol{Name: "g"}, Blocks: []profile.Block{{}}},
	}
	if diff := cmp.Diff(want, functions); diff != "" {
		t.Error(diff)
	}
	var lines []profile.Line
	for l := range v.(profile.LineView).Lines() {
		if l.Function.Name != "f" || l.Function.File != "f.c" {
			t.Errorf("%+v", l)
		}
		l.Function = profile.Symbol{}
		lines = append(lines, l)
	}
	// The line of a block without a probe is not known to have run or not.
	if diff := cmp.Diff([]profile.Line{{File: "f.c", Number: 4, Count: 1}, {File: "f.h", Number: 1, Count: 1}, {File: "f.c", Number: 8}}, lines); diff != "" {
		t.Error(diff)
	}
	for range v.(profile.LineView).Lines() {
		break // an iteration may end early
	}
	p.Type = FunctionCoverage
	if _, ok := p.View("", ViewOptions{Sources: sources}).(profile.LineView); ok {
		t.Error("lines without blocks")
	}
}

// TestInvalid: a profile in memory that no file can hold is refused, with the function's index.
func TestInvalid(t *testing.T) {
	good := Function{Name: "f", RawOffset: headerSizeB}
	bad := func(change func(*Function)) Function {
		f := good
		change(&f)
		return f
	}
	for _, tc := range []struct {
		p      Profile
		class  error
		record int
		field  string
	}{
		{Profile{Type: FunctionCoverage | FunctionCallCount}, profile.ErrCorrupt, -1, "ProfileType"},
		{Profile{Type: 1 << 7}, profile.ErrUnsupported, -1, "ProfileType"},
		{Profile{Type: FunctionCoverage, Functions: []Function{good, bad(func(f *Function) { f.Name = "a\x00b" })}}, profile.ErrCorrupt, 1, "function name"},
		{Profile{Type: FunctionCoverage, Functions: []Function{bad(func(f *Function) { f.RawOffset = 1 })}}, profile.ErrCorrupt, 0, "raw offset"},
		{Profile{Type: FunctionCoverage, Functions: []Function{bad(func(f *Function) { f.RawOffset = 1 << 31 })}}, profile.ErrCorrupt, 0, "raw offset"},
		{Profile{Type: callGraph, Functions: []Function{good, bad(func(f *Function) { f.CallEdges = []CallEdge{{5, 1}, {4, 1}} })}}, profile.ErrCorrupt, 1, "SectionRelativeSourceAddress"},
	} {
		_, mergeErr := NewMerger(&tc.p, MergeOptions{})
		for what, err := range map[string]error{"Validate": tc.p.validate(), "NewMerger": mergeErr, "WriteMIP": WriteMIP(nil, &tc.p, WriteOptions{}), "WriteYAML": WriteYAML(nil, &tc.p, WriteOptions{})} {
			var fe *profile.FormatError
			if !errors.As(err, &fe) || profile.ClassOf(fe) != tc.class || fe.Record != tc.record || fe.Field != tc.field || fe.Got == "" || fe.Want == "" {
				t.Errorf("%s: %+v", what, err)
			}
		}
	}
	// Addresses beyond 32 bits have no place in narrow files.
	far := &Profile{Type: FunctionCoverage, Functions: []Function{good, bad(func(f *Function) { f.Address = 1 << 40 })}}
	err := WriteMIP(nil, far, WriteOptions{DocumentLayout: true})
	if fe := wantError(t, "far", err, profile.ErrUnsupported, "FunctionStartOffset is 0x10000000000"); fe.Section != "functions" || fe.Record != 1 {
		t.Errorf("%+v", fe)
	}
	m := mergerOf(t, &Profile{Type: FunctionCoverage, ModuleHash: 7}, nil)
	err = m.addProfile("other.mip", &Profile{Type: FunctionCoverage, ModuleHash: 8}, 1)
	if fe := wantError(t, "other module", err, profile.ErrMismatch, "ModuleHash is 0x8"); fe.File != "other.mip" {
		t.Errorf("%+v", fe)
	}
}
