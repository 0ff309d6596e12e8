package report

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// A madeView is a view of what it holds.
type madeView struct {
	identity  profile.Identity
	features  profile.Features
	functions []profile.Function
	sets      []madeSet
	edges     []profile.Edge
	traces    []profile.Trace
}

type madeSet struct {
	profile.StackSet
	stacks []profile.Stack
}

func (v *madeView) Identity() profile.Identity             { return v.identity }
func (v *madeView) Features() profile.Features             { return v.features }
func (v *madeView) Functions() iter.Seq[*profile.Function] { return reused(v.functions) }
func (v *madeView) Edges() iter.Seq[*profile.Edge]         { return reused(v.edges) }
func (v *madeView) Traces() iter.Seq[*profile.Trace]       { return reused(v.traces) }

func (v *madeView) Stacks() []profile.StackSet {
	var out []profile.StackSet
	for _, s := range v.sets {
		s.StackSet.ReusedStacks = reused(s.stacks)
		out = append(out, s.StackSet)
	}
	return out
}

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

// hostileView has hostile text and numbers wherever a view has any.
func hostileView() *madeView {
	v := &madeView{
		identity: profile.Identity{
			File: "dir/" + hostile[2], Family: hostile[3], Format: hostile[2], Version: hostile[8], Producer: hostile[9],
			Variant: hostile, Omits: hostile, BuildIDs: [][]byte{{0xff}, {}},
		},
		features: profile.Features{Calls: true, Blocks: true, Offsets: true, BlockLines: true, Hashes: true, Sizes: true, FirstCalls: true, Runs: true, Lines: true, Edges: true, Traces: true},
	}
	set := madeSet{StackSet: profile.StackSet{
		Name: hostile[2], Description: hostile[2],
		Values: []profile.ValueType{{Name: hostile[2], Unit: profile.Unit(hostile[2])}, {Name: hostile[9], Unit: profile.Milliseconds, Combine: profile.Max}},
	}}
	var all []profile.Symbol
	for i, name := range hostile {
		s := profile.Symbol{Name: name, Signature: name, File: hostile[(i+1)%len(hostile)], StartLine: math.MinInt32, ID: math.MaxUint64}
		all = append(all, s)
		v.functions = append(v.functions, profile.Function{
			Symbol: s, Hash: math.MaxUint64, Calls: math.MaxUint64, Covered: true, Runs: math.MaxUint64, FirstCall: math.MaxFloat64,
			Address: math.MinInt64, Size: math.MaxUint64, Labels: []profile.Label{{Key: name, Value: hostile[2]}},
			Blocks: []profile.Block{{Count: math.MaxUint64, Offset: math.MaxUint32, Line: math.MaxUint32}, {}},
		})
		set.stacks = append(set.stacks, profile.Stack{
			Frames: []profile.Frame{{Symbol: s, Line: math.MinInt32, Column: -1, BCI: math.MinInt32, Inlined: true}, {Symbol: s, Line: 3}, {}},
			Values: []uint64{math.MaxUint64, math.MaxUint64}, Labels: []profile.Label{{Key: profile.LabelTemperature, Value: name}},
		}, profile.Stack{Values: []uint64{7, 0}})
		for kind := profile.Call; kind <= profile.MemOpSize; kind++ {
			v.edges = append(v.edges, profile.Edge{
				Kind: kind, Caller: s, Hash: math.MaxUint64, Site: math.MinInt32, Line: math.MinInt32,
				Target: profile.Symbol{Name: name, ID: 1}, Size: math.MaxUint64, Count: math.MaxUint64,
			})
		}
	}
	v.sets = []madeSet{set, {StackSet: profile.StackSet{Name: "empty", Values: set.Values, Partial: true}}}
	v.traces = []profile.Trace{{Weight: math.MaxUint64, Functions: all}, {Weight: 1, Mean: true}}
	return v
}

func TestHostileNames(t *testing.T) {
	text, _ := writeReport(t, []Source{{View: hostileView(), Label: hostile[2]}, {View: hostileView()}}, Options{Title: hostile[2]})
	for _, bad := range []string{"<img", "<script><", "\u2028", "\u202e", "\x00"} {
		if bytes.Contains(text, []byte(bad)) {
			t.Errorf("the file has %q", bad)
		}
	}
	if !bytes.Contains(text, []byte("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;")) {
		t.Error("the name is not in the file")
	}
}

// What a profile lacks is not shown, and nothing fails for it.
func TestLittle(t *testing.T) {
	all := &madeView{}
	for i := range reflect.TypeFor[profile.Features]().NumField() {
		v := hostileView()
		v.features = profile.Features{}
		for _, f := range []*profile.Features{&v.features, &all.features} {
			reflect.ValueOf(f).Elem().Field(i).SetBool(true)
		}
		writeReport(t, []Source{{View: v}}, Options{})
	}
	writeReport(t, []Source{{View: &madeView{}}}, Options{})
	writeReport(t, []Source{{View: all}, {View: &madeView{}}}, Options{})
	if err := Write(&bytes.Buffer{}, nil, Options{}); err == nil {
		t.Error("a report on nothing")
	}
}

// Every profile of the test data has an overview, and no page twice.
func TestReportsOfFixtures(t *testing.T) {
	families := make(map[string]int)
	eachFixture(t, func(t *testing.T, src *source) {
		if strings.HasSuffix(src.id.File, ".proftext") { // most are what another profile is as text
			oracle.Slow(t)
		}
		_, elements := writeReport(t, []Source{{View: src.view}}, Options{})
		families[src.id.Family]++
		var pages []string
		for _, e := range elements {
			if id := e.attributes["data-page"]; id != "" {
				pages = append(pages, id)
			}
		}
		if len(pages) == 0 || pages[0] != "overview" {
			t.Errorf("pages %v", pages)
		}
		for range src.view.Functions() {
			if !slices.Contains(pages, "functions") {
				t.Errorf("pages %v", pages)
			}
			break
		}
	})
	for _, family := range []string{"IRPGO", "MemProf", "MIP", "iprof"} {
		if families[family] == 0 {
			t.Errorf("no profile of %s", family)
		}
	}
}

func TestLabels(t *testing.T) {
	view := func(file string) Source { return Source{View: &madeView{identity: profile.Identity{File: file}}} }
	_, elements := writeReport(t, []Source{view("a/x.mip"), view("b/x.mip"), view(""), {View: &madeView{}, Label: "nightly"}}, Options{})
	var got []string
	for _, e := range elements {
		if l, ok := strings.CutPrefix(e.attributes["aria-label"], "Pages of "); ok {
			got = append(got, l)
		}
	}
	if want := []string{"1: x.mip", "2: x.mip", "profile 3", "nightly"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTitles(t *testing.T) {
	var many []Source
	for i := range 7 {
		many = append(many, Source{View: &madeView{}, Label: fmt.Sprint("p", i+1)})
	}
	for _, tc := range []struct {
		sources []Source
		title   string
		want    string
	}{
		{many[:1], "", "p1 – profuse report"},
		{many[:2], "", "p1, p2 – profuse report"}, // and not their comparison
		{many[:5], "", "p1, p2, p3, p4, p5 – profuse report"},
		{many, "", "p1, p2, p3, p4, 3 more – profuse report"},
		{many[:1], "Last night", "Last night"},
	} {
		var w bytes.Buffer
		if err := Write(&w, tc.sources, Options{Title: tc.title}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(w.Bytes(), []byte("<title>"+tc.want+"</title>")) {
			t.Errorf("%d profiles: no title %q", len(tc.sources), tc.want)
		}
	}
}

// The file does not depend on how many pages are made at a time.
func TestPagesAtATime(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want []byte
	for _, cpus := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(cpus)
		var w bytes.Buffer
		if err := Write(&w, []Source{{View: largeView(2000)}, {View: locatedView()}}, Options{}); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = w.Bytes()
		}
		if !bytes.Equal(w.Bytes(), want) {
			t.Errorf("%d CPUs make another file than one", cpus)
		}
	}
}

// largeView has n functions with names of C++, 12 blocks each, and an edge each.
func largeView(n int) *madeView {
	random := rand.New(rand.NewPCG(3, 4))
	words := []string{"parser", "Index", "Cache", "request", "Handler", "visit", "Emitter", "table", "lookup", "insert", "Stream", "decode", "Node", "walk", "flush"}
	v := &madeView{
		identity: profile.Identity{File: "large.profdata", Family: "IRPGO"},
		features: profile.Features{Calls: true, Blocks: true, Hashes: true, Edges: true},
	}
	for i := range n {
		var name strings.Builder
		name.WriteString("_ZN")
		for j := range 4 + random.IntN(4) {
			w := words[random.IntN(len(words))]
			if j == 3 {
				w += fmt.Sprint(i)
			}
			fmt.Fprintf(&name, "%d%s", len(w), w)
		}
		name.WriteString("ERKSsi")
		f := profile.Function{Symbol: profile.Symbol{Name: name.String(), ID: random.Uint64()}, Hash: random.Uint64()}
		level := 1 << random.IntN(30)
		for range 12 {
			f.Blocks = append(f.Blocks, profile.Block{Count: uint64(random.IntN(level))})
		}
		f.Calls = f.Blocks[0].Count
		f.Covered = f.Max() > 0
		v.functions = append(v.functions, f)
		v.edges = append(v.edges, profile.Edge{
			Kind: profile.IndirectCall, Caller: f.Symbol, Hash: f.Hash, Target: v.functions[random.IntN(len(v.functions))].Symbol, Count: f.Calls,
		})
	}
	return v
}

// A report on 100,000 functions can be mailed.
func TestLargeReport(t *testing.T) {
	oracle.Slow(t)
	const limit = 15 << 20
	var w bytes.Buffer
	if err := Write(&w, []Source{{View: largeView(100_000)}}, Options{}); err != nil {
		t.Fatal(err)
	}
	if w.Len() > limit {
		t.Errorf("%d bytes, want at most %d", w.Len(), limit)
	}
	for _, e := range checkReport(t, w.Bytes()) {
		if len(e.text) > 100_000 {
			t.Logf("%s: %d bytes", e.attributes["id"], len(e.text))
		}
	}
}
