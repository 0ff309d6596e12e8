package iprof

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/program/classfile"
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
	for k := range NumKinds {
		n[k] = p.Sections[k].Len()
	}
	return n
}

func TestPruneUnused(t *testing.T) {
	p := readFixture(t, "small.iprof")
	q, err := Prune(p, PruneOptions{})
	must(t, err)
	types, methods := names(q)
	if want := "int long void java.lang.Object app.Main app.Zoo$Cat app.Zoo$Dog [Ljava.lang.String; app.Main$$Lambda/0xe1988ad9f06c144a025b413f8a9a021e6"; types != want {
		t.Errorf("types %s, want %s", types, want)
	}
	// pick with one parameter is not in any context
	if want := "main loop <init> pick get"; methods != want {
		t.Errorf("methods %s, want %s", methods, want)
	}
	if len(p.Types)-len(q.Types) != 7 || len(p.Methods)-len(q.Methods) != 2 || lens(q) != lens(p) {
		t.Errorf("%d types, %d methods, entries %v", len(q.Types), len(q.Methods), lens(q))
	}
	for k := range NumKinds {
		if !slices.Equal(p.Sections[k].frames, q.Sections[k].frames) || !slices.Equal(p.Sections[k].records, q.Sections[k].records) {
			t.Errorf("%s changed", k)
		}
	}
	if bytes.Equal(encode(t, p, WriteOptions{}), encode(t, q, WriteOptions{})) || !bytes.Equal(encode(t, p, WriteOptions{}), fixture(t, "small.iprof")) {
		t.Error("the original changed, or nothing did")
	}
	if rep := checkOf("q", encode(t, q, WriteOptions{})); len(rep.Findings) > 0 {
		t.Errorf("%v", rep.Findings)
	}
	again, err := Prune(q, PruneOptions{})
	if err != nil || len(again.Types) != len(q.Types) || len(again.Methods) != len(q.Methods) || !sameContent(q, again) {
		t.Errorf("pruning again changes the profile (%v)", err)
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
		q, err := Prune(p, tc.opt)
		must(t, err)
		if got := lens(q); got != tc.want {
			t.Errorf("%s: %v entries, want %v", tc.name, got, tc.want)
		}
		if rep := checkOf(tc.name, encode(t, q, WriteOptions{})); slices.Contains([]string{suspect, broken}, rep.worst()) {
			t.Errorf("%s: %v", tc.name, rep.Findings)
		}
	}
	q, err := Prune(p, PruneOptions{MaxFrames: 1, KeepUnused: true})
	must(t, err)
	if len(q.Types) != len(p.Types) || len(q.Methods) != len(p.Methods) {
		t.Error("tables changed")
	}
	for i, ctx := range []string{"1:0", "2:0", "4:0", "3:0"} {
		if got := contextText(q.Sections[CallCounts].Context(i)); got != ctx {
			t.Errorf("context %d is %s, want %s", i, got, ctx)
		}
	}
	if got := q.Sections[CallCounts].Count(2); got != 1<<40+24491824436273 {
		t.Errorf("pick was called %d times", got)
	}
	if q.Sections[CallCounts].Total() != p.Sections[CallCounts].Total() || q.Sections[Conditionals].Total() != p.Sections[Conditionals].Total() {
		t.Error("cutting contexts changes totals")
	}
	top, err := Prune(p, PruneOptions{Top: 1})
	must(t, err)
	if contextText(top.Sections[CallCounts].Context(0)) != "4:0" {
		t.Errorf("the hottest is %v", top.Sections[CallCounts].Context(0))
	}
}

func TestPruneKeepsExtraMembers(t *testing.T) {
	p := read(t, []byte(minimal(`,"samplingProfiles":[{"ctx":"1:1","records":[1],"a":1},{"ctx":"1:2","records":[5]},{"ctx":"1:3","records":[9],"b":[2]}]`)))
	if _, err := Prune(p, PruneOptions{MinCount: 5}); !errors.Is(err, profile.ErrUnsupported) {
		t.Errorf("unused types dropped beside unknown members: %v", err)
	}
	q, err := Prune(p, PruneOptions{MinCount: 5, KeepUnused: true})
	must(t, err)
	if got, want := string(encode(t, q, WriteOptions{})), minimal(`,"samplingProfiles":[{"ctx":"1:2","records":[5]},{"ctx":"1:3","records":[9],"b":[2]}]`); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	q, err = Prune(p, PruneOptions{DropUnknown: true})
	must(t, err)
	if len(q.Extra) != 0 || q.Sections[Samples].Len() != 3 {
		t.Errorf("%+v", q.Extra)
	}
}

func TestNames(t *testing.T) {
	for _, tc := range []struct{ name, descriptor string }{
		{"int", "I"},
		{"void", "V"},
		{"boolean", "Z"},
		{"long", "J"},
		{"java.util.Map$Entry", "Ljava/util/Map$Entry;"},
		{"[I", "[I"},
		{"[[J", "[[J"},
		{"[Ljava.lang.String;", "[Ljava/lang/String;"},
		{"a.B$$Lambda/0x12", "La/B$$Lambda.0x12;"},
	} {
		if got := classfile.Descriptor(nil, tc.name); got != "()"+tc.descriptor {
			t.Errorf("descriptor of %s is %s", tc.name, got)
		}
	}
	p := readFixture(t, "small.iprof")
	ref, ok := p.Ref(4)
	if !ok || methodText(ref) != "app.Main.pick(IJ)Ljava/lang/Object;" {
		t.Errorf("method 4 is %+v", ref)
	}
	if _, ok := p.Ref(99); ok || p.MethodName(99) != "method 99" || p.TypeName(99) != "type 99" || p.typeOf(99) != nil {
		t.Error("method 99 has a name")
	}
}

func TestParseContext(t *testing.T) {
	for _, bad := range []string{"", "1", "1:", ":0", "1:-", "1:0<", "1:0,1:0", "2147483648:0", "1:2147483648", "a:0", "1:0 ", "-1:0"} {
		if c, err := parseContext(bad); err == nil {
			t.Errorf("%q is %v", bad, c)
		}
	}
}

// TestSelect: Prune keeps the entries whose contexts and types are selected.
func TestSelect(t *testing.T) {
	p := readFixture(t, "small.iprof")
	q, err := Prune(p, PruneOptions{
		KeepContext: func(c []Frame) bool { return c[0].Method == 4 },
		KeepLock:    func(id TypeID) bool { return id == 11 },
		KeepUnused:  true,
	})
	must(t, err)
	if got, want := lens(q), [NumKinds]int{2, 3, 0, 1, 1, 0}; got != want {
		t.Errorf("%v entries, want %v", got, want)
	}
	if got := fmt.Sprint(q.Sections[Monitors].Records(0)); got != "[11 1]" {
		t.Errorf("monitors %s", got)
	}
}
