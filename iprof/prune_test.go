package iprof

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/profile"
)

func names(p *Profile) (types, methods string) {
	var t, m []string
	for i := range p.Types {
		t = append(t, p.Types[i].Name)
	}
	for i := range p.Methods {
		m = append(m, p.Methods[i].Name)
	}
	return strings.Join(t, " "), strings.Join(m, " ")
}

func lens(p *Profile) (n [NumKinds]int) {
	for _, k := range Kinds() {
		n[k] = p.Section(k).Len()
	}
	return n
}

func TestPruneUnused(t *testing.T) {
	p := readFixture(t, "small.iprof")
	q, pruned, err := Prune(p, PruneOptions{})
	must(t, err)
	types, methods := names(q)
	if want := "int long void java.lang.Object app.Main app.Zoo$Cat app.Zoo$Dog [Ljava.lang.String; app.Main$$Lambda/0xe1988ad9f06c144a025b413f8a9a021e6"; types != want {
		t.Errorf("types %s, want %s", types, want)
	}
	// pick with one parameter is not in any context
	if want := "main loop <init> pick get"; methods != want {
		t.Errorf("methods %s, want %s", methods, want)
	}
	if pruned.Types != 7 || pruned.Methods != 2 || pruned.Entries != [NumKinds]int{} {
		t.Errorf("%+v", pruned)
	}
	for _, k := range Kinds() {
		if !slices.Equal(p.Section(k).frames, q.Section(k).frames) || !slices.Equal(p.Section(k).records, q.Section(k).records) {
			t.Errorf("%s changed", k)
		}
	}
	if bytes.Equal(encode(t, p, WriteOptions{}), encode(t, q, WriteOptions{})) || !bytes.Equal(encode(t, p, WriteOptions{}), fixture(t, "small.iprof")) {
		t.Error("the original changed, or nothing did")
	}
	if rep := Check("q", encode(t, q, WriteOptions{})); len(rep.Findings) > 0 {
		t.Errorf("%v", rep.Findings)
	}
	again, pruned, err := Prune(q, PruneOptions{})
	if err != nil || pruned != (Pruned{}) || !sameContent(q, again) {
		t.Errorf("pruned again: %+v (%v)", pruned, err)
	}
}

func TestPruneEntries(t *testing.T) {
	p := readFixture(t, "small.iprof")
	for _, tc := range []struct {
		name string
		opt  PruneOptions
		want [NumKinds]int
	}{
		{"count", PruneOptions{MinCount: 10}, [NumKinds]int{2, 4, 1, 1, 1, 0}},
		{"top", PruneOptions{Top: 1}, [NumKinds]int{1, 1, 1, 1, 1, 0}},
		{"drop", PruneOptions{Drop: []Kind{Monitors, Samples}}, [NumKinds]int{5, 4, 2, 0, 0, 0}},
		{"one frame", PruneOptions{MaxFrames: 1}, [NumKinds]int{4, 4, 2, 1, 2, 0}},
		{"one frame, top", PruneOptions{MaxFrames: 1, Top: 2}, [NumKinds]int{2, 2, 2, 1, 2, 0}},
	} {
		q, pruned, err := Prune(p, tc.opt)
		must(t, err)
		if got := lens(q); got != tc.want {
			t.Errorf("%s: %v entries, want %v", tc.name, got, tc.want)
		}
		for k, n := range lens(p) {
			if n-pruned.Entries[k] != tc.want[k] {
				t.Errorf("%s: %+v", tc.name, pruned)
			}
		}
		if rep := Check(tc.name, encode(t, q, WriteOptions{})); rep.worst() > Info {
			t.Errorf("%s: %v", tc.name, rep.Findings)
		}
	}
	q, _, err := Prune(p, PruneOptions{MaxFrames: 1, KeepUnused: true})
	must(t, err)
	if len(q.Types) != len(p.Types) || len(q.Methods) != len(p.Methods) {
		t.Error("tables changed")
	}
	for i, ctx := range []string{"1:0", "2:0", "4:0", "3:0"} {
		if got := q.Section(CallCounts).Context(i).String(); got != ctx {
			t.Errorf("context %d is %s, want %s", i, got, ctx)
		}
	}
	if got := q.Section(CallCounts).Count(2); got != 1<<40+24491824436273 {
		t.Errorf("pick was called %d times", got)
	}
	if q.Section(CallCounts).Total() != p.Section(CallCounts).Total() || q.Section(Conditionals).Total() != p.Section(Conditionals).Total() {
		t.Error("cutting contexts changes totals")
	}
	top, _, err := Prune(p, PruneOptions{Top: 1})
	must(t, err)
	if top.Section(CallCounts).Context(0).String() != "4:0" {
		t.Errorf("the hottest is %s", top.Section(CallCounts).Context(0))
	}
}

func TestPruneKeepsExtraMembers(t *testing.T) {
	p := read(t, []byte(minimal(`,"samplingProfiles":[{"ctx":"1:1","records":[1],"a":1},{"ctx":"1:2","records":[5]},{"ctx":"1:3","records":[9],"b":[2]}]`)))
	if _, _, err := Prune(p, PruneOptions{MinCount: 5}); !errors.Is(err, profile.ErrUnsupported) {
		t.Errorf("unused types dropped beside unknown members: %v", err)
	}
	q, _, err := Prune(p, PruneOptions{MinCount: 5, KeepUnused: true})
	must(t, err)
	if got, want := string(encode(t, q, WriteOptions{})), minimal(`,"samplingProfiles":[{"ctx":"1:2","records":[5]},{"ctx":"1:3","records":[9],"b":[2]}]`); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	q, _, err = Prune(p, PruneOptions{DropUnknown: true})
	must(t, err)
	if len(q.Extra) != 0 || q.Section(Samples).Len() != 3 {
		t.Errorf("%+v", q.Extra)
	}
}

func patterns(t testing.TB, texts ...string) (out []Pattern) {
	for _, s := range texts {
		p, err := ParsePattern(s)
		must(t, err)
		out = append(out, p)
	}
	return out
}

func TestPattern(t *testing.T) {
	for _, tc := range []struct {
		pattern, class, method string
		want, wholeClass       bool
	}{
		{"*", "a.B", "m", true, true},
		{"a.*", "a.B", "m", true, true},
		{"a.B", "a.B", "m", true, true},
		{"a.B", "a.BC", "m", false, false},
		{"a.B.m", "a.B", "m", true, false},
		{"a.B.m", "a.B", "mm", false, false},
		{"*.m", "a.B", "m", true, false},
		{"*#m", "a.B", "m", true, false},
		{"*#m", "a.m", "x", false, false},
		{"*B#*", "a.B", "x", true, true},
		{"a.?#<init>", "a.B", "<init>", true, false},
		{"*a*b*c", "xxaxxbxxc", "m", true, true},
		{"*a*b*c", "xxaxxbxxcx", "m", false, false},
		{strings.Repeat("*a", 200) + "*b", strings.Repeat("a", 2000), "m", false, false},
		{"a.Größ?", "a.Größe", "m", true, true},
	} {
		p := patterns(t, tc.pattern)[0]
		if got := p.matchMethod(tc.class, tc.method); got != tc.want {
			t.Errorf("%s matches %s.%s: %t", p.text, tc.class, tc.method, got)
		}
		if got := p.matchClass(tc.class); got != tc.wholeClass {
			t.Errorf("%s matches class %s: %t", p.text, tc.class, got)
		}
	}
	for _, bad := range []string{"", "#m", "a#", "a#b#c"} {
		if _, err := ParsePattern(bad); err == nil {
			t.Errorf("pattern %q", bad)
		}
	}
}

func TestFilter(t *testing.T) {
	p := readFixture(t, "small.iprof")
	for _, tc := range []struct {
		name string
		opt  FilterOptions
		want [NumKinds]int
		lock string
	}{
		{"all", FilterOptions{}, [NumKinds]int{5, 4, 2, 1, 2, 0}, "[9 4 11 1]"},
		{"leaf", FilterOptions{Keep: patterns(t, "*.pick")}, [NumKinds]int{2, 3, 0, 1, 1, 0}, "[]"},
		{"anywhere", FilterOptions{Keep: patterns(t, "*#pick"), Where: Anywhere}, [NumKinds]int{3, 3, 0, 1, 1, 0}, "[]"},
		{"root", FilterOptions{Keep: patterns(t, "app.Main.main"), Where: Root}, [NumKinds]int{3, 1, 1, 1, 2, 0}, "[]"},
		{"drop", FilterOptions{Drop: patterns(t, "app.Main.main"), Where: Anywhere}, [NumKinds]int{2, 3, 1, 1, 0, 0}, "[9 4 11 1]"},
		{"class", FilterOptions{Keep: patterns(t, "app.Zoo*", "java.lang.*")}, [NumKinds]int{1, 0, 0, 1, 0, 0}, "[9 4 11 1]"},
		{"keep and drop", FilterOptions{Keep: patterns(t, "app.*"), Drop: patterns(t, "*Lambda*", "app.Zoo$Cat")}, [NumKinds]int{4, 4, 1, 1, 2, 0}, "[]"},
	} {
		q, pruned := Filter(p, tc.opt)
		if got := lens(q); got != tc.want {
			t.Errorf("%s: %v entries, want %v", tc.name, got, tc.want)
		}
		for k, n := range lens(p) {
			if n-pruned.Entries[k] != tc.want[k] {
				t.Errorf("%s: %+v", tc.name, pruned)
			}
		}
		if got := fmt.Sprint(q.Section(Monitors).Records(0)); got != tc.lock {
			t.Errorf("%s: monitors %s, want %s", tc.name, got, tc.lock)
		}
	}
	unresolved := readFixture(t, "unresolved.iprof")
	if q, _ := Filter(unresolved, FilterOptions{Keep: patterns(t, "*")}); q.Section(CallCounts).Len() != 0 {
		t.Error("methods without names match a pattern")
	}
}

func TestNames(t *testing.T) {
	for _, tc := range []struct{ name, descriptor, source string }{
		{"int", "I", "int"},
		{"void", "V", "void"},
		{"boolean", "Z", "boolean"},
		{"long", "J", "long"},
		{"java.util.Map$Entry", "Ljava/util/Map$Entry;", "java.util.Map$Entry"},
		{"[I", "[I", "int[]"},
		{"[[J", "[[J", "long[][]"},
		{"[Ljava.lang.String;", "[Ljava/lang/String;", "java.lang.String[]"},
		{"a.B$$Lambda/0x12", "La/B$$Lambda.0x12;", "a.B$$Lambda/0x12"},
	} {
		if got := (MethodRef{Return: tc.name}).Descriptor(); got != "()"+tc.descriptor {
			t.Errorf("descriptor of %s is %s", tc.name, got)
		}
		if got := sourceType(tc.name); got != tc.source {
			t.Errorf("%s in source is %s", tc.name, got)
		}
	}
	p := readFixture(t, "small.iprof")
	ref, ok := p.Ref(4)
	if !ok || ref.String() != "java.lang.Object app.Main.pick(int, long)" || ref.Descriptor() != "(IJ)Ljava/lang/Object;" || ref.Qualified() != "app.Main.pick" {
		t.Errorf("method 4 is %s %s", ref, ref.Descriptor())
	}
	if _, ok := p.Ref(99); ok || p.MethodName(99) != "method 99" || p.TypeName(99) != "type 99" || p.typeOf(99) != nil {
		t.Error("method 99 has a name")
	}
}

func TestBCI(t *testing.T) {
	var got []string
	for b := BCI(-7); b <= 1; b++ {
		got = append(got, b.String())
	}
	if diff := cmp.Diff(strings.Fields("-7 INVALID_FRAMESTATE_BCI UNKNOWN_BCI AFTER_EXCEPTION_BCI AFTER_BCI BEFORE_BCI UNWIND_BCI 0 1"), got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "1", "1:", ":0", "1:-", "1:0<", "1:0,1:0", "2147483648:0", "1:2147483648", "a:0", "1:0 ", "-1:0"} {
		if c, err := parseContext(bad); err == nil {
			t.Errorf("%q is %v", bad, c)
		}
	}
}

func TestViews(t *testing.T) {
	p := readFixture(t, "small.iprof")
	counts := p.MethodCounts(CallCounts)
	want := []MethodCount{
		{Method: 4, Self: 1<<40 + 24491824436273, Total: 1<<40 + 24491824436273 + 7, Inlined: 1 << 40, Entries: 2},
		{Method: 3, Self: 7, Total: 7, Inlined: 7, Entries: 1},
		{Method: 2, Self: 4, Total: 1<<40 + 11, Inlined: 4, Entries: 1},
		{Method: 1, Self: 1, Total: 1<<40 + 5, Entries: 1},
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Error(diff)
	}
	// Recursion counts once.
	for _, c := range p.MethodCounts(Samples) {
		if c.Method == 2 && (c.Self != 2 || c.Total != 12) {
			t.Errorf("loop: %+v", c)
		}
	}
	edges := p.edges(Samples)
	if diff := cmp.Diff([]edge{{Frame{1, 3}, 2, 12, 2}, {Frame{2, 9}, 4, 10, 1}, {Frame{2, 9}, 2, 2, 1}}, edges); diff != "" {
		t.Error(diff)
	}
	sum := p.Summary(Samples)
	if sum != (Summary{Samples, 2, 12, 10, 2, 7, 4}) {
		t.Errorf("%+v", sum)
	}
	sites := p.BranchSites()
	var sw *BranchSite
	for i := range sites {
		if sites[i].Frame == (Frame{4, 12}) {
			sw = &sites[i]
		}
	}
	if sw == nil {
		t.Fatal("no switch")
	}
	if diff := cmp.Diff([]Way{{0, []BCI{227}, 2, 0}, {1, []BCI{176}, 2, 0}, {2, []BCI{198}, 1, 0}, {3, []BCI{204}, 1, 94}}, sw.Ways); diff != "" || sw.Bias() != 1 {
		t.Errorf("bias %v\n%s", sw.Bias(), diff)
	}
	if p.TypeSites(CallCounts) != nil || p.MethodCounts(Monitors) != nil {
		t.Error("views of what is not there")
	}
}

func TestRelevance(t *testing.T) {
	p := readFixture(t, "small.iprof")
	r, missing := p.Relevance(CallCounts, func(m MethodRef) bool { return m.Class != "app.Zoo$Cat" && m.Name != "main" })
	if want := (Relevance{CallCounts, 1, 5, 24491824436273, p.Section(CallCounts).Total()}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
	var got []string
	for _, m := range missing {
		got = append(got, fmt.Sprint(m.Ref, m.Self))
	}
	if diff := cmp.Diff([]string{"void app.Zoo$Cat.<init>() 7", "void app.Main.main(java.lang.String[]) 1"}, got); diff != "" {
		t.Error(diff)
	}
	unresolved := readFixture(t, "unresolved.iprof")
	if r, missing := unresolved.Relevance(CallCounts, func(MethodRef) bool { return true }); r.Entries != 0 || r.Of != 2 || len(missing) != 0 {
		t.Errorf("%+v %v", r, missing)
	}
}
