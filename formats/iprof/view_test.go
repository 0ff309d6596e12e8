package iprof

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/compare"
)

func viewLines(v profile.View) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	id := v.Identity()
	add("%v omits %q", id.String(), id.Omits)
	add("%s", strings.Join(v.Features().Names(), " "))
	for f := range v.Functions() {
		add("%s%s calls=%d covered=%t start=%s:%d", f.Name, f.Signature, f.Calls, f.Covered, f.File, f.StartLine)
	}
	for _, set := range v.Stacks() {
		add("%s %v partial=%t", set.Name, set.Values, set.Partial)
		for s := range set.ReusedStacks {
			var frames []string
			for _, f := range s.Frames {
				frame := fmt.Sprintf("%s@%d", f.Name, f.BCI)
				if f.Line != 0 {
					frame += fmt.Sprintf("(%s:%d)", f.File, f.Line)
				}
				if f.Inlined {
					frame += "!"
				}
				frames = append(frames, frame)
			}
			add("  %s %d %v", strings.Join(frames, "<"), s.Values[0], s.Labels)
		}
	}
	for e := range v.Edges() {
		add("%s@%d:%d -%v-> %s %d", e.Caller.Name, e.Site, e.Line, e.Kind, e.Target.Name, e.Count)
	}
	for range v.Traces() {
		add("a trace")
	}
	return lines
}

func TestView(t *testing.T) {
	got := viewLines(readFixture(t, "checks.iprof").View("checks.iprof", ViewOptions{}))
	want := strings.Split(strings.TrimSpace(`
iprof version 1.1.0 (pgo-instrument, pgo-sampling), written by GraalVM native-image omits []
calls bytecode_indexes edges
app.Main.main([Ljava/lang/String;)V calls=1 covered=true start=:0
app.Main.loop(I)V calls=4 covered=true start=:0
app.Zoo$Cat.<init>()V calls=7 covered=true start=:0
app.Main.pick(IJ)Ljava/lang/Object; calls=25591336064049 covered=true start=:0
app.Main.pick(I)Ljava/lang/Object; calls=0 covered=false start=:0
app.Main$$Lambda/0xe1988ad9f06c144a025b413f8a9a021e6.get()Ljava/lang/Object; calls=0 covered=true start=:0
unused.Größe.unused(SC)B calls=0 covered=false start=:0
samples [{samples count 0}] partial=false
  app.Main.pick@3<app.Main.loop@9<app.Main.main@3 10 []
  app.Main.loop@9<app.Main.loop@9<app.Main.loop@9<app.Main.main@3 2 []
calls [{calls count 0}] partial=true
  app.Main.main@0 1 []
  app.Main.loop@0!<app.Main.main@3 4 []
  app.Main.pick@0!<app.Main.loop@9!<app.Main.main@3 1099511627776 []
  app.Main.pick@0 24491824436273 []
  app.Zoo$Cat.<init>@0!<app.Main.pick@-6!<app.Main.loop@9 7 []
branches [{branches count 0}] partial=true
  app.Main.loop@5!<app.Main.main@3 10 [{branch 0@20}]
  app.Main.loop@5!<app.Main.main@3 1 [{branch 1@53}]
  app.Main.pick@12 0 [{branch 0@227}]
  app.Main.pick@12 0 [{branch 1@176}]
  app.Main.pick@12 0 [{branch 2@198}]
  app.Main.pick@12 94 [{branch 3@204}]
  app.Main.pick@-1 5 [{branch 0@-1}]
  app.Main.pick@-1 6 [{branch 1@-1}]
  app.Main.pick@-4!<app.Main.loop@9 13 [{branch 0@-4}]
  app.Main.pick@-4!<app.Main.loop@9 0 [{branch 1@-4}]
receivers [{receivers count 0}] partial=true
  app.Main.loop@17!<app.Main.main@3 3 [{type app.Zoo$Cat}]
  app.Main.loop@17!<app.Main.main@3 1 [{type app.Zoo$Dog}]
  app.Main$$Lambda/0xe1988ad9f06c144a025b413f8a9a021e6.get@4 60 [{type app.Main}]
type_checks [{type_checks count 0}] partial=true
  app.Main.pick@7 12 [{type java.lang.Object}]
  app.Main.pick@7 3 [{type app.Zoo$Cat}]
  app.Main.pick@7!<app.Main.loop@5 1 [{type app.Zoo$Dog}]
locks [{locks count 0}] partial=false
  java.lang.Object@0 4 []
  app.Zoo$Cat@0 1 []
app.Main.main@3:0 -call-> app.Main.loop 4
app.Main.loop@9:0 -call-> app.Main.pick 1099511627776
app.Main.loop@17:0 -receiver-> app.Zoo$Cat 3
app.Main.loop@17:0 -receiver-> app.Zoo$Dog 1
app.Main.pick@-6:0 -call-> app.Zoo$Cat.<init> 7
app.Main.pick@7:0 -type_check-> java.lang.Object 12
app.Main.pick@7:0 -type_check-> app.Zoo$Cat 3
app.Main.pick@7:0 -type_check-> app.Zoo$Dog 1
app.Main$$Lambda/0xe1988ad9f06c144a025b413f8a9a021e6.get@4:0 -receiver-> app.Main 60`), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestViewSources has lines for one method only.
func TestViewSources(t *testing.T) {
	v := readFixture(t, "small.iprof").View("", ViewOptions{Source: func(m MethodRef) (Source, bool) {
		line := func(bci int) (int, bool) { return 100 + bci, bci < 10 }
		return Source{File: "app/Main.java", StartLine: 100, Line: line}, m.Name == "loop"
	}})
	got := strings.Join(viewLines(v), "\n")
	for _, want := range []string{
		"calls lines bytecode_indexes edges\n", "app.Main.loop(I)V calls=4 covered=true start=app/Main.java:100\n",
		"  app.Main.pick@3<app.Main.loop@9(app/Main.java:109)<app.Main.main@3 10 []\n",
		"  app.Main.loop@17!<app.Main.main@3 3 [{type app.Zoo$Cat}]\n", // beyond the known lines
		"app.Main.loop@9:109 -call-> app.Main.pick 1099511627776\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestViewOfOdd: what the tables lack, negative counts and unknown sections are shown or named.
func TestViewOfOdd(t *testing.T) {
	got := strings.Join(viewLines(readFixture(t, "unresolved.iprof").View("", ViewOptions{})), "\n")
	if !strings.Contains(got, "method 3228@0!<method 1666@5 10") || !strings.Contains(got, "-receiver-> type 0 ") {
		t.Errorf("unresolved:\n%s", got)
	}
	if v := readFixture(t, "future.iprof").View("", ViewOptions{}); len(v.Identity().Omits) != 2 {
		t.Errorf("omits %q", v.Identity().Omits)
	}
	negative := read(t, []byte(minimal(`,"callCountProfiles":[{"ctx":"1:0","records":[-5]}]`)))
	for f := range negative.View("", ViewOptions{}).Functions() {
		if f.Calls != 0 || f.Covered {
			t.Errorf("%+v", f)
		}
	}
	empty := viewLines(newProfile(version100).View("", ViewOptions{}))
	if diff := cmp.Diff([]string{"iprof version 1.0.0, written by GraalVM native-image omits []", "bytecode_indexes"}, empty); diff != "" {
		t.Error(diff)
	}
}

// TestViewAllocates: walking costs nothing per step.
func TestViewAllocates(t *testing.T) {
	p := readFixture(t, "small.iprof")
	samples := &p.Sections[Samples]
	ctx := append([]Frame(nil), samples.Context(0)...)
	for range 10_000 {
		must(t, samples.add(ctx, 1))
	}
	v := p.View("", ViewOptions{})
	walk := func() {
		for range v.Stacks()[0].ReusedStacks {
		}
	}
	if n := testing.AllocsPerRun(5, walk); n > 50 {
		t.Errorf("%v allocations for 10,000 stacks", n)
	}
}

// TestCompareTwins: a renumbered twin, all counts times three, has the same shares in every set.
func TestCompareTwins(t *testing.T) {
	a := readFixture(t, "small.iprof").View("", ViewOptions{})
	b := readFixture(t, "twin-x3.iprof").View("", ViewOptions{})
	for _, table := range []string{profile.FunctionSet, "samples", "calls", "branches", "receivers", "locks"} {
		r, err := compare.Views(a, b, compare.Options{Table: table})
		must(t, err)
		if r.Overlap < 1-1e-9 || len(r.Appeared)+len(r.Disappeared) > 0 || r.Base.Items != r.New.Items {
			t.Errorf("%s: %+v", table, r)
		}
	}
}
