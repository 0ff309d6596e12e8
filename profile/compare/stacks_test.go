package compare_test

import (
	"fmt"
	"iter"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/compare"
)

// memoryView is a view of what its fields hold.
type memoryView struct {
	profile.View
	file      string
	sets      []profile.StackSet
	functions []profile.Function
}

func (v *memoryView) Identity() profile.Identity { return profile.Identity{File: v.file} }

func (v *memoryView) Features() profile.Features { return profile.Features{} }

func (v *memoryView) Functions() iter.Seq[*profile.Function] {
	return func(yield func(*profile.Function) bool) {
		for i := range v.functions {
			if !yield(&v.functions[i]) {
				return
			}
		}
	}
}

func (v *memoryView) Stacks() []profile.StackSet { return v.sets }

type sample struct {
	name   string
	values [3]uint64 // sum, least, greatest
}

func samplesView(samples ...sample) *memoryView {
	return &memoryView{file: "file", sets: []profile.StackSet{{
		Name: "samples",
		Values: []profile.ValueType{
			{Name: "time", Unit: profile.Milliseconds}, {Name: "least", Unit: profile.Milliseconds, Combine: profile.Min}, {Name: "most", Unit: profile.Milliseconds, Combine: profile.Max},
		},
		ReusedStacks: func(yield func(*profile.Stack) bool) {
			for _, s := range samples {
				if !yield(&profile.Stack{Frames: []profile.Frame{{Symbol: profile.Symbol{Name: s.name}}}, Values: s.values[:]}) {
					return
				}
			}
		},
	}}}
}

// TestCombine: of stacks that come several times the values are brought together as their type says.
func TestCombine(t *testing.T) {
	base := samplesView(sample{"f", [3]uint64{3, 7, 7}}, sample{"f", [3]uint64{4, 5, 9}}, sample{"f", [3]uint64{1, 6, 8}})
	other := samplesView(sample{"g", [3]uint64{1, 1, 1}})
	for value, want := range map[string]uint64{"": 8, "time": 8, "least": 5, "most": 9} {
		r, err := compare.Views(base, other, compare.Options{Value: value})
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind != "samples" || r.Unit != profile.Milliseconds || len(r.Disappeared) != 1 || r.Disappeared[0].Base != want || r.Disappeared[0].Frames[0].Name != "f" {
			t.Errorf("%q: %+v, want %d", value, r.Disappeared, want)
		}
	}
}

// TestCovered: where no counts are known, what ran has one; functions without
// names are known by their ids, and records of one function are one item.
func TestCovered(t *testing.T) {
	base := &memoryView{functions: []profile.Function{
		{Symbol: profile.Symbol{ID: 7}, Covered: true}, {Symbol: profile.Symbol{ID: 7}}, {Symbol: profile.Symbol{Name: "idle"}},
	}}
	other := &memoryView{functions: []profile.Function{{Symbol: profile.Symbol{ID: 7}, Covered: true}, {Symbol: profile.Symbol{Name: "idle"}, Covered: true}}}
	r, err := compare.Views(base, other, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Base.Items != 2 || r.Base.Ran != 1 || r.Base.Total != 1 || r.New.Total != 2 || len(r.Appeared)+len(r.Disappeared) != 0 {
		t.Errorf("%+v, %+v", r.Base, r.New)
	}
	if got := names(r.Started); got != "idle:never ran-hot" {
		t.Errorf("started %s", got)
	}
	if _, err := compare.Views(samplesView(), &memoryView{file: "file"}, compare.Options{}); err == nil || err.Error() != `file: there are no stacks "samples", but no stacks` {
		t.Error(err)
	}
	// Pages and tables show these words.
	if got := fmt.Sprint(compare.Absent, ", ", compare.NeverRan, ", ", compare.Cold, ", ", compare.Warm, ", ", compare.Hot); got != "absent, never ran, cold, warm, hot" {
		t.Error(got)
	}
}
