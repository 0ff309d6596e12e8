package profile

import (
	"iter"
	"reflect"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/internal/tally"
)

// testView is a view of functions and edges.
type testView struct {
	features  Features
	functions []Function
	edges     []Edge
}

func (v *testView) Identity() Identity             { return Identity{Family: "test"} }
func (v *testView) Features() Features             { return v.features }
func (v *testView) Functions() iter.Seq[*Function] { return pointers(v.functions) }
func (v *testView) Stacks() []StackSet             { return nil }
func (v *testView) Edges() iter.Seq[*Edge]         { return pointers(v.edges) }
func (v *testView) Traces() iter.Seq[*Trace]       { return pointers([]Trace(nil)) }

func pointers[T any](s []T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for i := range s {
			if !yield(&s[i]) {
				return
			}
		}
	}
}

// TestDistribute compares with package tally, whose tests compare with the definition. Totals and shares have a limit.
func TestDistribute(t *testing.T) {
	values, shares := []uint64{7, 1<<64 - 1, 0, 7, 1}, []uint64{whole + 1, 0, 500_000, 999_999}
	got := Distribute(slices.Values(values), shares)
	var all tally.Tally
	for _, v := range values {
		all.Add(v)
	}
	spread := all.Distribution([]uint64{whole, 0, 500_000, 999_999}, false)
	want := Distribution{Values: 5, Max: 1<<64 - 1, Total: 1<<64 - 1}
	for _, c := range spread.Cutoffs {
		want.Cutoffs = append(want.Cutoffs, Cutoff(c))
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestSummarize(t *testing.T) {
	functions := []Function{
		{Symbol: Symbol{Name: "a"}, Calls: 7, Covered: true, Blocks: []Block{{Count: 1}, {Count: 0}, {Count: 1}}},
		{Symbol: Symbol{Name: "b"}},
		{Symbol: Symbol{Name: "c"}, Calls: 3, Covered: true, Blocks: []Block{{Count: 1}}},
	}
	for _, tc := range []struct {
		name     string
		features Features
		ofCalls  bool
		total    uint64
	}{
		{"blocks", Features{Blocks: true}, false, 3},
		{"calls", Features{Calls: true}, true, 10},
		{"calls and counted blocks", Features{Calls: true, Blocks: true}, false, 3},
		{"calls and covered blocks", Features{Calls: true, Blocks: true, BlocksAreCoverage: true}, true, 10},
		{"coverage", Features{Calls: true, Blocks: true, BlocksAreCoverage: true, CallsAreCoverage: true}, false, 3},
	} {
		s := Summarize(&testView{features: tc.features, functions: functions}, []uint64{whole})
		if s.OfCalls != tc.ofCalls || s.Counts.Total != tc.total {
			t.Errorf("%s: of calls %v, total %d; want %v, %d", tc.name, s.OfCalls, s.Counts.Total, tc.ofCalls, tc.total)
		}
		s.Counts, s.OfCalls = Distribution{}, false
		if want := (Summary{Functions: 3, Covered: 2, Blocks: 4, CoveredBlocks: 3, MaxCalls: 7}); !reflect.DeepEqual(s, want) {
			t.Errorf("%s: %+v, want %+v", tc.name, s, want)
		}
	}
}

// TestNames: what files and sentences show.
func TestNames(t *testing.T) {
	var all Features
	fields := reflect.ValueOf(&all).Elem()
	for i := range fields.NumField() {
		fields.Field(i).SetBool(true)
	}
	if n := all.Names(); len(n) != fields.NumField() || slices.Contains(n, "") {
		t.Errorf("features %q", n)
	}
	if got := (Features{Blocks: true, Traces: true}).Names(); !slices.Equal(got, []string{"blocks", "traces"}) {
		t.Errorf("features %q", got)
	}
	for k := Call; k <= MemOpSize; k++ {
		if k.String() == "" {
			t.Errorf("edge kind %d has no name", int(k))
		}
	}
	for want, s := range map[string]Symbol{
		"f":                  {Name: "f", ID: 5},
		"0x0000000000000005": {ID: 5},
		"unknown":            {},
	} {
		if s.String() != want {
			t.Errorf("%+v prints as %q", s, s.String())
		}
	}
	id := Identity{Family: "IRPGO", Format: "indexed", Version: "12", Variant: []string{"ir", "cs"}, ReadableBy: "LLVM 19 and newer"}
	if got, want := id.String(), "IRPGO indexed version 12 (ir, cs), readable by LLVM 19 and newer"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (&Identity{Family: "MIP"}).String(); got != "MIP" {
		t.Errorf("%q", got)
	}
}

func TestCutoffs(t *testing.T) {
	d := Distribute(func(yield func(uint64) bool) {
		for c := range uint64(1000) {
			if !yield(c * c) {
				return
			}
		}
	}, DefaultCutoffs())
	for _, tt := range []struct {
		name string
		f    func() (uint64, bool)
		want Cutoff
	}{{"hot", d.Cutoffs.Hot, d.Cutoffs[11]}, {"cold", d.Cutoffs.Cold, d.Cutoffs[15]}} {
		if got, ok := tt.f(); !ok || got != tt.want.Min || got == 0 {
			t.Errorf("%s from %d, %v; want the least of %+v", tt.name, got, ok, tt.want)
		}
	}
	if got, ok := d.Cutoffs[:11].Hot(); ok {
		t.Errorf("hot from %d without the cutoff, want none", got)
	}
	if got, ok := d.Cutoffs[:15].Cold(); ok {
		t.Errorf("cold from %d without the cutoff, want none", got)
	}
}
