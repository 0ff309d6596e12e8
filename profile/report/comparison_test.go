package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/compare"
	"github.com/profuse-pgo/profuse/test/alike"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// counted is a profile of functions, "name hash calls".
func counted(label, family string, lines ...string) *source {
	v := &madeView{identity: profile.Identity{Family: family}, features: profile.Features{Calls: true, Hashes: true}}
	for _, line := range lines {
		var f profile.Function
		fmt.Sscan(line, &f.Name, &f.Hash, &f.Calls)
		f.Covered = f.Calls > 0
		v.functions = append(v.functions, f)
	}
	return newSource(0, Source{View: v, Label: label}, Options{})
}

func compared(t *testing.T, a, b *source) (string, *comparisonData, *nameTable) {
	t.Helper()
	a = a.with(newNameTable())
	p, err := comparisonPage(a, b)
	if err != nil || p == nil {
		t.Fatalf("page %v, error %v", p, err)
	}
	return string(p.Body), p.data.(*comparisonData), a.names
}

// Each change is a row once, with the lists it is in.
func TestComparison(t *testing.T) {
	a := counted("old", "IRPGO", "stays 1 500", "cools 2 500", "idle 3 0", "stops 4 100", "gone 5 100", "changes 6 300")
	b := counted("new", "IRPGO", "stays 1 500", "cools 2 1", "idle 3 699", "stops 4 0", "fresh 9 0", "changes 66 300")
	body, d, names := compared(t, a, b)
	got := make(map[string]string)
	var order []string
	for i := range d.Name {
		var in []string
		for l, title := range d.ListTitles {
			if d.Lists[i]&(1<<l) != 0 {
				in = append(in, title)
			}
		}
		name := names.Keys[d.Name[i]]
		order = append(order, name)
		got[name] = fmt.Sprintf("%d %d %s→%s %s", d.Base[i], d.New[i], d.Temperatures[d.Before[i]], d.Temperatures[d.After[i]], strings.Join(in, ", "))
	}
	want := map[string]string{
		"cools":   "500 1 hot→cold No longer hot, Share changed",
		"idle":    "0 699 never ran→hot Became hot, Ran for the first time, Share changed",
		"stops":   "100 0 hot→never ran No longer hot, Does not run any more, Share changed",
		"gone":    "100 0 hot→absent No longer hot, Gone, Share changed",
		"fresh":   "0 0 absent→never ran New",
		"changes": "300 300 hot→hot Control flow changed",
	}
	alike.Values(t, "rows (-want +got)", want, got)
	if order[0] != "idle" || order[1] != "cools" {
		t.Errorf("order %v", order)
	}
	for _, s := range []string{
		"old and new have 53.4 % of their weight in common: they differ.",
		"Of 5 hot functions 3 are no longer hot (60.0 %); 1 became hot.",
		"1 function has another control flow", "idle moved most: from 0 % to 46.6 %.",
		"<h4>Became hot: 1</h4>", "<h4>Gone: 1</h4>", `aria-label="from 33.3 % to 0.1 %"`,
	} {
		if !strings.Contains(body, s) {
			t.Errorf("static page lacks %q", s)
		}
	}
}

// The same profile twice.
func TestComparisonOfEqual(t *testing.T) {
	a := counted("x", "MIP", "f 1 10", "g 2 5", "h 3 0")
	body, d, _ := compared(t, a, a)
	if len(d.Name) != 0 || !strings.Contains(body, "100 % of their weight in common: they are as good as the same.") ||
		!strings.Contains(body, "Of 2 hot functions all are still hot; none became hot.") {
		t.Errorf("%d rows\n%s", len(d.Name), body)
	}
}

// Profiles in which nothing ran, and hashes of different families, say nothing.
func TestComparisonSaysNothingFalse(t *testing.T) {
	idle := counted("idle", "MIP", "f 1 0")
	busy := counted("busy", "IRPGO", "f 77 3")
	body, _, _ := compared(t, busy, idle)
	if !strings.Contains(body, "Nothing ran in idle, so there are no shares to compare.") || strings.Contains(body, "another control flow") {
		t.Error(body)
	}
	if body, _, _ = compared(t, busy, counted("other", "MIP", "f 1 4")); strings.Contains(body, "control flow") {
		t.Error(body)
	}
	// What has nothing of the kind has no page.
	heap := &madeView{sets: []madeSet{{StackSet: profile.StackSet{Name: "allocations", Values: []profile.ValueType{{Name: "bytes", Unit: profile.Bytes}}}}}}
	if p, err := comparisonPage(made(heap), busy); p != nil || err != nil {
		t.Errorf("page %v, error %v", p, err)
	}
}

// Stacks are compared where functions are not counted.
func TestComparisonOfStacks(t *testing.T) {
	view := func(values ...uint64) *source {
		set := madeSet{StackSet: profile.StackSet{Name: "allocations", Values: []profile.ValueType{{Name: "bytes", Unit: profile.Bytes}}}}
		for i, v := range values {
			set.stacks = append(set.stacks, profile.Stack{
				Frames: []profile.Frame{{Symbol: profile.Symbol{Name: "alloc"}, Line: int32(i + 1)}, {Symbol: profile.Symbol{Name: "main"}, Line: 9}},
				Values: []uint64{v},
			})
		}
		return made(&madeView{features: profile.Features{Lines: true}, sets: []madeSet{set}})
	}
	body, d, names := compared(t, view(100, 100), view(300, 100))
	if d.Kind != "stacks of allocations" || d.Unit != "bytes" || len(d.Name) != 2 || !slices.Contains(names.Keys, "alloc:1 < main:9") {
		t.Errorf("%+v of %q", d, names.Keys)
	}
	if !strings.Contains(body, "Of 2 hot stacks all are still hot") {
		t.Error(body)
	}
}

// Of real profiles the page says what package compare says.
func TestComparisonOfFixtures(t *testing.T) {
	for _, pair := range [][2]string{
		{"irpgo/clang19/ir-run1.profraw", "irpgo/clang22/ir-run2.profraw"},
		{"mip/counts.mip", "mip/all.mip"},
		{"iprof/app.iprof", "iprof/fib.iprof"},
		{"irpgo/clang22/ir.profraw", "mip/all.mip"},
	} {
		a, b := fixture(t, pair[0]), fixture(t, pair[1])
		r := oracle.Must(compare.Views(a.view, b.view, compare.Options{}))(t)
		body, d, _ := compared(t, a, b)
		counts := make([]int, len(d.ListTitles))
		for i := range d.Name {
			for l := range counts {
				counts[l] += d.Lists[i] >> l & 1
			}
			if math.Abs(d.NewShare[i]-float64(d.New[i])/max(r.New.Total, 1)) > 1e-5 {
				t.Errorf("%v: share %v of %v is %v", pair, d.New[i], r.New.Total, d.NewShare[i])
			}
		}
		for l, list := range comparedLists(r) {
			if counts[l] != len(list.changes) {
				t.Errorf("%v: %d rows in list %q, want %d", pair, counts[l], list.title, len(list.changes))
			}
		}
		if want := percentText(r.Overlap) + " of the weight"; !strings.Contains(body, want) {
			t.Errorf("%v: page lacks %q", pair, want)
		}
	}
}

// The drawing keeps to its frame, whatever the shares.
func TestScatterScale(t *testing.T) {
	rows := []comparedRow{{Change: compare.Change{BaseShare: 1e-300, NewShare: 1}}, {Change: compare.Change{BaseShare: 0.02}}}
	s := newScatterScale(rows)
	last := -1.0
	for _, share := range []float64{0, 1e-300, 1e-9, 1e-8, 0.02, 1, 7} {
		at := s.at(share)
		if at < last || at < 0 || at > scatterSize {
			t.Errorf("share %v is at %v, after %v", share, at, last)
		}
		last = at
	}
}
