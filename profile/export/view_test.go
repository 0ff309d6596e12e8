package export

import (
	"iter"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// fakeView is a view of what it holds.
type fakeView struct {
	identity  profile.Identity
	features  profile.Features
	functions []profile.Function
	stacks    []profile.StackSet
	edges     []profile.Edge
	traces    []profile.Trace
}

func (v *fakeView) Identity() profile.Identity             { return v.identity }
func (v *fakeView) Features() profile.Features             { return v.features }
func (v *fakeView) Functions() iter.Seq[*profile.Function] { return each(v.functions) }
func (v *fakeView) Stacks() []profile.StackSet             { return v.stacks }
func (v *fakeView) Edges() iter.Seq[*profile.Edge]         { return each(v.edges) }
func (v *fakeView) Traces() iter.Seq[*profile.Trace]       { return each(v.traces) }

// each yields copies, of which whoever keeps one keeps the wrong one: as views do, it reuses what it yields.
func each[T any](s []T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		var reused T
		for i := range s {
			reused = s[i]
			if !yield(&reused) {
				return
			}
		}
	}
}

// reusing yields stacks in one Stack, overwritten at each step.
func reusing(stacks []profile.Stack) iter.Seq[*profile.Stack] {
	return func(yield func(*profile.Stack) bool) {
		var s profile.Stack
		for _, src := range stacks {
			s.Frames = append(s.Frames[:0], src.Frames...)
			s.Values = append(s.Values[:0], src.Values...)
			s.Labels = append(s.Labels[:0], src.Labels...)
			if !yield(&s) {
				return
			}
		}
	}
}

// javaView has what iprof profiles have: whole and partial stacks with bytecode indexes, labels, overloads.
func javaView() *fakeView {
	method := func(name, signature string) profile.Symbol {
		return profile.Symbol{Name: name, Signature: signature, File: "Fib.java"}
	}
	main, fib, fibLong := method("Fib.main", "([Ljava/lang/String;)V"), method("Fib.fib", "(I)I"), method("Fib.fib", "(J)J")
	at := func(s profile.Symbol, bci int32) profile.Frame { return profile.Frame{Symbol: s, BCI: bci} }
	return &fakeView{
		identity: profile.Identity{File: "default.iprof", Family: "iprof", Version: "1.0.0"},
		features: profile.Features{Calls: true, Bytecodes: true, Edges: true},
		functions: []profile.Function{
			{Symbol: main, Calls: 1, Covered: true},
			{Symbol: fib, Calls: 41, Covered: true},
			{Symbol: fibLong},
		},
		stacks: []profile.StackSet{
			{
				Name: "samples", Description: "a sampled stack", Values: []profile.ValueType{{Name: "samples", Unit: profile.Count}},
				ReusedStacks: reusing([]profile.Stack{
					{Frames: []profile.Frame{at(fib, 7), at(fib, 12), at(main, 3)}, Values: []uint64{30}},
					{Frames: []profile.Frame{at(fib, -6), at(main, 3)}, Values: []uint64{2}},
					{Frames: []profile.Frame{at(fibLong, 0), at(main, 9)}, Values: []uint64{5}},
					{Frames: []profile.Frame{at(main, 9)}, Values: []uint64{0}},
				}),
			},
			{
				Name: "receivers", Description: "a receiver's type at a call", Partial: true, Values: []profile.ValueType{{Name: "receivers", Unit: profile.Count}},
				ReusedStacks: reusing([]profile.Stack{
					{Frames: []profile.Frame{at(fib, 5)}, Values: []uint64{1 << 60}, Labels: []profile.Label{{Key: "type", Value: "A"}}},
					{Frames: []profile.Frame{at(fib, 5)}, Values: []uint64{3}, Labels: []profile.Label{{Key: "type", Value: "B"}}},
				}),
			},
		},
		edges: []profile.Edge{{Kind: profile.Receiver, Caller: fib, Site: 5, Target: profile.Symbol{Name: "A"}, Count: 1 << 60}},
	}
}

// heapView has what MemProf profiles have: values of several units and combinations, inlined frames, lines within
// functions, functions without a name, and a name that no format likes.
func heapView() *fakeView {
	frame := func(s profile.Symbol, line, column int32, inlined bool) profile.Frame {
		return profile.Frame{Symbol: s, Line: line, Column: column, Inlined: inlined}
	}
	var (
		alloc  = profile.Symbol{Name: "_ZN5store3newEm", ID: 1}
		insert = profile.Symbol{Name: "a;b\nc\"\xff", ID: 2}
		anon   = profile.Symbol{ID: 0xdb956436e78dd5fa}
	)
	return &fakeView{
		identity: profile.Identity{Family: "MemProf", BuildIDs: [][]byte{{0xab, 0xcd}}, Omits: []string{"histograms of accesses"}},
		features: profile.Features{LineOffsets: true},
		functions: []profile.Function{
			{Symbol: alloc, Covered: true}, {Symbol: insert, Covered: true},
		},
		stacks: []profile.StackSet{{
			Name: "allocations", Description: "an allocation", Values: []profile.ValueType{
				{Name: "alloc_space", Unit: profile.Bytes},
				{Name: "alloc_objects", Unit: profile.Count},
				{Name: "max_lifetime", Unit: profile.Milliseconds, Combine: profile.Max},
				{Name: "lifetime", Unit: profile.Milliseconds},
			},
			ReusedStacks: reusing([]profile.Stack{
				{Frames: []profile.Frame{frame(alloc, 0, 7, true), frame(insert, 3, 1, false), frame(anon, 12, 0, false)}, Values: []uint64{4096, 2, 9, 17}, Labels: []profile.Label{{Key: profile.LabelTemperature, Value: "cold"}}},
				{Frames: []profile.Frame{frame(alloc, 0, 7, false), frame(anon, 14, 5, false)}, Values: []uint64{1<<64 - 1, 1, 1, 0}},
			}),
		}},
	}
}

// counterView has what IRPGO and MIP profiles have: functions, edges, traces.
func counterView() *fakeView {
	var (
		main   = profile.Symbol{Name: "main", ID: 0xdb956436e78dd5fa}
		helper = profile.Symbol{Name: "_ZL6helperi", File: "dir/a.c", ID: 7}
		never  = profile.Symbol{Name: "never", ID: 8}
	)
	return &fakeView{
		identity: profile.Identity{File: "a.profdata", Family: "IRPGO", Format: "indexed", Version: "12", ReadableBy: "LLVM 19 and newer", Variant: []string{"ir", "entry-first"}, BuildIDs: [][]byte{{1}, {2, 3}}},
		features: profile.Features{Calls: true, Blocks: true, Hashes: true, Edges: true, Traces: true, FirstCalls: true},
		functions: []profile.Function{
			{Symbol: main, Hash: 0x10, Calls: 1, Covered: true, FirstCall: 1, Blocks: []profile.Block{{Count: 1}, {Count: 100}, {Count: 0}}},
			{Symbol: helper, Hash: 0x20, Calls: 250, Covered: true, FirstCall: 2.5, Blocks: []profile.Block{{Count: 250}, {Count: 40}}, Labels: []profile.Label{{Key: "instrumentation", Value: "context-sensitive"}}},
			{Symbol: never, Hash: 0x30, Blocks: []profile.Block{{Count: 0}}},
		},
		edges: []profile.Edge{
			{Kind: profile.IndirectCall, Caller: main, Hash: 0x10, Site: 0, Target: helper, Count: 200},
			{Kind: profile.IndirectCall, Caller: main, Hash: 0x10, Site: 0, Count: 3},
			{Kind: profile.MemOpSize, Caller: helper, Hash: 0x20, Site: 1, Size: 16, Count: 40},
		},
		traces: []profile.Trace{{Weight: 2, Functions: []profile.Symbol{main, helper}}, {Weight: 1, Functions: []profile.Symbol{{ID: 99}}}},
	}
}

// namedView is a view and what to call it.
type namedView struct {
	name string
	v    profile.View
}

func fakeViews() []namedView {
	return []namedView{{"java", javaView()}, {"heap", heapView()}, {"counter", counterView()}, {"source", sourceView()}, {"empty", &fakeView{identity: profile.Identity{Family: "MIP"}}}}
}

// fixtures are read once for all tests.
var fixtures struct {
	once  sync.Once
	views []namedView
}

// realViews returns views of all fixtures that can be read.
func realViews(t testing.TB) []namedView {
	t.Helper()
	fixtures.once.Do(func() { fixtures.views = readFixtures(t) })
	if len(fixtures.views) < 150 {
		t.Fatalf("only %d fixtures", len(fixtures.views))
	}
	return slices.Clone(fixtures.views)
}

func readFixtures(t testing.TB) (views []namedView) {
	t.Helper()
	for _, f := range oracle.Fixtures(t) {
		r, err := irpgo.NewReader(f.Path, f.Bytes(t), irpgo.ReaderOptions{})
		if err != nil {
			continue // the reader's tests say which and why
		}
		m := irpgo.NewMerger(irpgo.MergeOptions{KeepSymbols: true, KeepVTableNames: true})
		if _, err := m.Add(r, 1); err != nil {
			continue
		}
		views = append(views, namedView{f.Path, m.Finish().Profile().View(f.Path, r.Info)})
	}
	mips, err := filepath.Glob(filepath.Join(oracle.Root(t), "testdata", "mip", "*.mip*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range mips {
		data := oracle.ReadFile(t, path)
		name := filepath.Base(path)
		r, err := mip.NewReader(name, data, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Info.Format == mip.FormatRaw {
			continue // nothing without its map
		}
		p, err := r.Profile()
		if err != nil {
			t.Fatal(err)
		}
		views = append(views, namedView{name, p.View(name, mip.ViewOptions{Info: r.Info, BuildID: []byte{1, 2, 3}})})
	}
	return views
}

// collect returns copies of a set's stacks.
func collect(set profile.StackSet) []profile.Stack {
	var out []profile.Stack
	for s := range set.ReusedStacks {
		out = append(out, profile.Stack{Frames: slices.Clone(s.Frames), Values: slices.Clone(s.Values), Labels: slices.Clone(s.Labels)})
	}
	return out
}
