package compare_test

import (
	"iter"
	"math"
	"testing"

	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/compare"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// sampled reads a sample profile.
func sampled(t *testing.T, text string) profile.View {
	t.Helper()
	p := oracle.Must(sampleprof.Read("sampled", []byte(text), sampleprof.ReaderOptions{}))(t)
	return p.View("sampled")
}

// nameless is a view that knows functions by their ids alone.
type nameless struct{ profile.View }

func (v nameless) Functions() iter.Seq[*profile.Function] {
	return func(yield func(*profile.Function) bool) {
		for f := range v.View.Functions() {
			f.Name = ""
			if !yield(f) {
				return
			}
		}
	}
}

// TestViewsOfNames: functions are the same under the suffixes of other builds, with and without
// files, and if one profile has only ids.
func TestViewsOfNames(t *testing.T) {
	counted := view(t, "f 1 60", "a.c;local 2 30", "cut.llvm.77 3 10", "cut.cold 4 1")
	native, wasm := view(t, "main 1 60", "f 2 30"), view(t, "__main_argc_argv 1 60", "f 2 30")
	samples := sampled(t, "f:60:0\n 1: 60\nlocal.__uniq.5:30:0\n 1: 30\ncut:10:0\n 1: 10\n")
	for _, c := range []struct {
		what      string
		a, b      profile.View
		gone, new string
	}{
		{"names", counted, samples, "cut.cold:cold-absent", ""},
		{"the other way", samples, counted, "", "cut.cold:absent-cold"},
		// The id of local.__uniq.5 is of the whole name.
		{"main", native, wasm, "", ""},
		{"main, the other way", wasm, native, "", ""},
		{"ids", counted, nameless{samples}, "local:hot-absent cut.cold:cold-absent", ":absent-hot"},
	} {
		r := oracle.Must(compare.Views(c.a, c.b, compare.Options{}))(t)
		if gone, fresh := names(r.Disappeared), names(r.Appeared); gone != c.gone || fresh != c.new {
			t.Errorf("%s: gone %q, new %q", c.what, gone, fresh)
		}
		if len(r.Disappeared)+len(r.Appeared) > 2 {
			continue
		}
		for _, m := range append(r.Movers, r.LeftHot...) {
			if m.Symbol.Name == "" {
				t.Errorf("%s: a function of both has no name: %+v", c.what, m)
			}
		}
	}
}

// TestRanks: the coefficient of Spearman over the functions of both profiles, with ties.
func TestRanks(t *testing.T) {
	for _, c := range []struct {
		a, b   []string
		want   float64
		ranked int
	}{
		{[]string{"f 1 1", "g 1 2", "h 1 3"}, []string{"f 1 10", "g 1 200", "h 1 3000"}, 1, 3},
		{[]string{"f 1 1", "g 1 2", "h 1 3"}, []string{"f 1 3", "g 1 2", "h 1 1"}, -1, 3},
		// Greatest counts, not sums; never ran in both does not count.
		{[]string{"f 1 1 1 1 1 1 1", "g 1 2", "h 1 3", "i 1 0"}, []string{"f 1 1", "g 1 2", "h 1 3", "i 1 0", "j 1 9"}, 1, 3},
		// Ranks 1.5 1.5 3 and 1 2 3: 1.5 / √(1.5·2).
		{[]string{"f 1 5", "g 1 5", "h 1 9"}, []string{"f 1 1", "g 1 2", "h 1 3"}, 1.5 / math.Sqrt(3), 3},
		{[]string{"f 1 5", "g 1 5"}, []string{"f 1 1", "g 1 2"}, 0, 2},
		{[]string{"f 1 5"}, []string{"g 1 5"}, 0, 0},
	} {
		r := oracle.Must(compare.Views(view(t, c.a...), view(t, c.b...), compare.Options{}))(t)
		if math.Abs(r.RankCorrelation-c.want) > 1e-12 || r.Ranked != c.ranked {
			t.Errorf("%q, %q: %v of %d, want %v of %d", c.a, c.b, r.RankCorrelation, r.Ranked, c.want, c.ranked)
		}
	}
}

// TestContexts: contexts are stacks without the place in the innermost function.
func TestContexts(t *testing.T) {
	a := sampled(t, "[main:3 @ f]:9:0\n 1: 4\n 2: 5\n[main:4 @ f]:1:0\n 1: 1\n")
	b := sampled(t, "[main:3 @ f]:9:0\n 7: 9\n[main:5 @ f]:1:0\n 1: 1\n")
	r, err := compare.Views(a, b, compare.Options{Table: "samples", Contexts: true})
	oracle.NoError(t, err)
	line := func(c compare.Change) int32 { return c.Frames[1].Line }
	if r.Base.Items != 2 || r.New.Items != 2 || r.Overlap != 0.9 || len(r.Appeared) != 1 || line(r.Appeared[0]) != 5 ||
		len(r.Disappeared) != 1 || line(r.Disappeared[0]) != 4 || r.Appeared[0].Frames[0].Line != 0 {
		t.Errorf("%+v", r)
	}
	if r, err = compare.Views(a, b, compare.Options{Table: "samples"}); err != nil || r.Overlap != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	for s := range a.Stacks()[0].ReusedStacks {
		if s.Frames[0].Line == 0 {
			t.Error("the comparison changed the view")
		}
	}
}
