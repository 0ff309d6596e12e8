package compare_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/compare"
)

// view reads an IRPGO text profile: "name hash counts" lines.
func view(t *testing.T, lines ...string) profile.View {
	t.Helper()
	var b strings.Builder
	b.WriteString(":ir\n")
	for _, l := range lines {
		f := strings.Fields(l)
		fmt.Fprintf(&b, "%s\n%s\n%d\n%s\n\n", f[0], f[1], len(f)-2, strings.Join(f[2:], "\n"))
	}
	p, err := irpgo.Read("text", []byte(b.String()), irpgo.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p.View("text", nil)
}

// names lists a list's functions with their temperatures.
func names(list []compare.Change) string {
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%s:%v-%v", c.Symbol.Name, c.Before, c.After))
	}
	return strings.Join(out, " ")
}

func TestViews(t *testing.T) {
	base := view(t,
		"stays 1 900 0", "cools 2 90000 90000", "idle 3 0", "stops 4 50", "gone 5 100", "changes 6 500",
		"a.c;local 7 70", "b.c;twin 8 10", "c.c;twin 8 20")
	other := view(t,
		"stays 1 900 0", "cools 2 1 0", "idle 3 90000", "stops 4 0", "fresh 9 100", "changes 66 500",
		"moved/a.c;local 7 70", "x.c;twin 8 10")
	r, err := compare.Views(base, other, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ what, got, want string }{
		{"became hot", names(r.BecameHot), "idle:never ran-hot stays:warm-hot"},
		{"left hot", names(r.LeftHot), "cools:hot-cold"},
		{"started", names(r.Started), "idle:never ran-hot"},
		{"stopped", names(r.Stopped), "stops:warm-never ran"},
		{"appeared", names(r.Appeared), "fresh:absent-warm twin:absent-cold"},
		{"disappeared", names(r.Disappeared), "gone:warm-absent twin:warm-absent twin:cold-absent"},
		{"hash changed", names(r.HashChanged), "changes:warm-warm"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
	}
	if got := r.Movers[0].Symbol.Name + r.Movers[1].Symbol.Name; got != "coolsidle" {
		t.Errorf("moved most: %s", got)
	}
	if r.Base.Items != 9 || r.New.Items != 8 || r.Base.Ran != 8 || r.New.Ran != 7 || r.Base.Hot != 1 || r.HotTurnover != 1 {
		t.Errorf("%+v, %+v, turnover %v", r.Base, r.New, r.HotTurnover)
	}
	if r.Base.Total != 181650 || r.New.Total != 91581 {
		t.Errorf("totals %v and %v", r.Base.Total, r.New.Total)
	}
	// By hand: the lesser share of each function that both have.
	want := 900/181650.0 + 1/91581.0 + 500/181650.0 + 70/181650.0
	if math.Abs(r.Overlap-want) > 1e-12 {
		t.Errorf("overlap %v, want %v", r.Overlap, want)
	}
}

// A profile compared with itself differs in nothing, and one compared the other way round has the lists exchanged.
func TestViewsSymmetry(t *testing.T) {
	a := view(t, "f 1 10 20", "g 2 0", "h 3 5")
	b := view(t, "f 1 1 2", "g 2 100", "k 4 7")
	same, err := compare.Views(a, a, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(same.Overlap-1) > 1e-12 || same.HotTurnover != 0 || len(same.Movers)+len(same.Appeared)+len(same.Disappeared)+len(same.BecameHot) != 0 {
		t.Errorf("%+v", same)
	}
	ab, _ := compare.Views(a, b, compare.Options{})
	ba, _ := compare.Views(b, a, compare.Options{})
	set := func(list []compare.Change) string {
		var out []string
		for _, c := range list {
			out = append(out, c.Symbol.Name)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	for _, pair := range [][2][]compare.Change{
		{ab.BecameHot, ba.LeftHot}, {ab.Started, ba.Stopped}, {ab.Appeared, ba.Disappeared}, {ab.Movers, ba.Movers},
	} {
		if set(pair[0]) != set(pair[1]) {
			t.Errorf("%s and the other way round %s", set(pair[0]), set(pair[1]))
		}
	}
	if ab.Overlap != ba.Overlap {
		t.Errorf("overlap %v and %v", ab.Overlap, ba.Overlap)
	}
}

// stackView has one set of stacks, whose frames have "<" between.
func stackView(unit profile.Unit, stacks map[string]uint64) *memoryView {
	return &memoryView{file: "stacks", sets: []profile.StackSet{{
		Name: "samples", Values: []profile.ValueType{{Name: "count", Unit: unit}},
		ReusedStacks: func(yield func(*profile.Stack) bool) {
			for _, key := range slices.Sorted(maps.Keys(stacks)) {
				s := profile.Stack{Values: []uint64{stacks[key]}}
				for name := range strings.SplitSeq(key, "<") {
					s.Frames = append(s.Frames, profile.Frame{Symbol: profile.Symbol{Name: name}})
				}
				if !yield(&s) {
					return
				}
			}
		},
	}}}
}

func TestViewsStacks(t *testing.T) {
	a := stackView(profile.Count, map[string]uint64{"f<main": 60, "f<g<main": 40})
	b := stackView(profile.Count, map[string]uint64{"f<main": 10, "h<main": 10})
	r, err := compare.Views(a, b, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Kind != "samples" || r.ValueName != "count" || r.Overlap != 0.5 || len(r.Appeared) != 1 || len(r.Appeared[0].Frames) != 2 {
		t.Errorf("%+v", r)
	}
	for _, c := range []struct {
		opt  compare.Options
		b    profile.View
		want string
	}{
		{compare.Options{Table: "calls"}, b, `stacks: there are no stacks "calls", but samples`},
		{compare.Options{Value: "bytes"}, b, `stacks: samples have no value "bytes", but count`},
		{compare.Options{}, stackView(profile.Bytes, nil), "count is in count in one profile and in bytes in the other"},
	} {
		if _, err := compare.Views(a, c.b, c.opt); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v, want %s", c.opt, err, c.want)
		}
	}
}

// otherFamily is a view that says it is of another family.
type otherFamily struct{ profile.View }

func (otherFamily) Identity() profile.Identity { return profile.Identity{Family: "MIP"} }

// Hashes of different families are not made alike, and no reason to say that a function has changed.
func TestViewsOfFamilies(t *testing.T) {
	a, b := view(t, "f 1 10"), view(t, "f 2 10")
	for _, c := range []struct {
		other   profile.View
		changed int
	}{{b, 1}, {otherFamily{b}, 0}} {
		r, err := compare.Views(a, c.other, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.HashChanged) != c.changed || r.Overlap != 1 {
			t.Errorf("%s: %d hashes changed, overlap %v", c.other.Identity().Family, len(r.HashChanged), r.Overlap)
		}
	}
}
