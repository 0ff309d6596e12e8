package iprofcmd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/iprof"
)

func patterns(t testing.TB, texts ...string) (out []pattern) {
	for _, s := range texts {
		p, err := parsePattern(s)
		if err != nil {
			t.Fatal(err)
		}
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
		if _, err := parsePattern(bad); err == nil {
			t.Errorf("pattern %q", bad)
		}
	}
}

func TestFilter(t *testing.T) {
	p := readFixture(t, "small.iprof")
	for _, tc := range []struct {
		name   string
		filter selection
		want   [iprof.NumKinds]int
		lock   string
	}{
		{"all", selection{where: "leaf"}, [iprof.NumKinds]int{5, 4, 2, 1, 2, 0}, "[9 4 11 1]"},
		{"leaf", selection{keep: patterns(t, "*.pick"), where: "leaf"}, [iprof.NumKinds]int{2, 3, 0, 1, 1, 0}, "[]"},
		{"anywhere", selection{keep: patterns(t, "*#pick"), where: "anywhere"}, [iprof.NumKinds]int{3, 3, 0, 1, 1, 0}, "[]"},
		{"root", selection{keep: patterns(t, "app.Main.main"), where: "root"}, [iprof.NumKinds]int{3, 1, 1, 1, 2, 0}, "[]"},
		{"drop", selection{drop: patterns(t, "app.Main.main"), where: "anywhere"}, [iprof.NumKinds]int{2, 3, 1, 1, 0, 0}, "[9 4 11 1]"},
		{"class", selection{keep: patterns(t, "app.Zoo*", "java.lang.*"), where: "leaf"}, [iprof.NumKinds]int{1, 0, 0, 1, 0, 0}, "[9 4 11 1]"},
		{"keep and drop", selection{keep: patterns(t, "app.*"), drop: patterns(t, "*Lambda*", "app.Zoo$Cat"), where: "leaf"}, [iprof.NumKinds]int{4, 4, 1, 1, 2, 0}, "[]"},
	} {
		tc.filter.readTables(p)
		q, err := iprof.Prune(p, iprof.PruneOptions{KeepContext: tc.filter.keepsContext, KeepLock: tc.filter.keepsLock, KeepUnused: true})
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range tc.want {
			if got := q.Sections[iprof.Kind(k)].Len(); got != want {
				t.Errorf("%s: %d entries of %v, want %d", tc.name, got, iprof.Kind(k), want)
			}
		}
		if got := fmt.Sprint(q.Sections[iprof.Monitors].Records(0)); got != tc.lock {
			t.Errorf("%s: monitors %s, want %s", tc.name, got, tc.lock)
		}
	}
	unresolved, f := readFixture(t, "unresolved.iprof"), selection{keep: patterns(t, "*")}
	f.readTables(unresolved)
	if f.keepsContext(unresolved.Sections[iprof.CallCounts].Context(0)) {
		t.Error("methods without names match a pattern")
	}
}
