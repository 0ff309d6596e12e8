package iprofcmd

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/formats/iprof"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func readFixture(t *testing.T, name string) *iprof.Profile {
	t.Helper()
	data := oracle.ReadFile(t, "../../../../testdata/iprof/"+name)
	return readText(t, data)
}

func readText(t *testing.T, data []byte) *iprof.Profile {
	t.Helper()
	p, err := iprof.Read("test.iprof", data, iprof.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSums(t *testing.T) {
	p := readFixture(t, "small.iprof")
	counts := methodCounts(p, iprof.CallCounts, anyMethod)
	want := []methodCount{
		{Method: 4, Self: 1<<40 + 24491824436273, Total: 1<<40 + 24491824436273 + 7, Inlined: 1 << 40, Entries: 2},
		{Method: 3, Self: 7, Total: 7, Inlined: 7, Entries: 1},
		{Method: 2, Self: 4, Total: 1<<40 + 11, Inlined: 4, Entries: 1},
		{Method: 1, Self: 1, Total: 1<<40 + 5, Entries: 1},
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Error(diff)
	}
	// Recursion counts once.
	for _, c := range methodCounts(p, iprof.Samples, anyMethod) {
		if c.Method == 2 && (c.Self != 2 || c.Total != 12) {
			t.Errorf("loop: %+v", c)
		}
	}
	sites := branchSites(p)
	var sw *branchSite
	for i := range sites {
		if sites[i].Frame == (iprof.Frame{Method: 4, BCI: 12}) {
			sw = &sites[i]
		}
	}
	if sw == nil {
		t.Fatal("no switch")
	}
	if diff := cmp.Diff([]wayFacts{{0, []int32{227}, 0}, {1, []int32{176}, 0}, {2, []int32{198}, 0}, {3, []int32{204}, 94}}, sw.Ways); diff != "" || sw.bias() != 1 {
		t.Errorf("bias %v\n%s", sw.bias(), diff)
	}
	if methodCounts(p, iprof.Monitors, anyMethod) != nil {
		t.Error("views of what is not there")
	}
}

func TestRelevance(t *testing.T) {
	p := readFixture(t, "small.iprof")
	r, missing := relevanceOf(p, iprof.CallCounts, func(m iprof.MethodRef) bool { return m.Class != "app.Zoo$Cat" && m.Name != "main" })
	if want := (relevance{1, 5, 24491824436273, p.Sections[iprof.CallCounts].Total()}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
	var got []string
	for _, m := range missing {
		got = append(got, fmt.Sprint(qualified(m.Ref), " ", m.Self))
	}
	if diff := cmp.Diff([]string{"app.Zoo$Cat.<init> 7", "app.Main.main 1"}, got); diff != "" {
		t.Error(diff)
	}
	unresolved := readFixture(t, "unresolved.iprof")
	if r, missing := relevanceOf(unresolved, iprof.CallCounts, func(iprof.MethodRef) bool { return true }); r.Entries != 0 || r.Of != 2 || len(missing) != 0 {
		t.Errorf("%+v %v", r, missing)
	}
}

// TestDocument: the sums of the recordings that the document of the format explains.
func TestDocument(t *testing.T) {
	p := readFixture(t, "fib.iprof")
	loop := branchSites(p)
	want := []branchSite{{
		Frame: iprof.Frame{Method: 19551, BCI: 11}, Total: 11,
		Ways: []wayFacts{{0, []int32{20}, 10}, {1, []int32{53}, 1}},
	}}
	if diff := cmp.Diff(want, loop); diff != "" {
		t.Errorf("the loop:\n%s", diff)
	}
	if bias := loop[0].bias(); bias != 10./11 {
		t.Errorf("bias of the loop is %v", bias)
	}

	sites := typeSites(p, iprof.VirtualInvokes)
	if len(sites) != 2 || !sites[0].polymorphic() || sites[0].Total != 118 || sites[1].polymorphic() || sites[1].Total != 10 {
		t.Errorf("receivers: %+v", sites)
	}
	if diff := cmp.Diff([]typeCount{{2280, 60}, {3660, 56}, {1322, 2}}, sites[0].Types); diff != "" {
		t.Errorf("receivers:\n%s", diff)
	}

	locks := monitors(p)
	if len(locks) != 16 || locks[0] != (typeCount{3654, 61}) || !slices.Contains(locks, typeCount{9, 4}) || !slices.Contains(locks, typeCount{10, 1}) {
		t.Errorf("monitors: %v", locks)
	}

	counts := methodCounts(p, iprof.Samples, anyMethod)
	if c := counts[0]; c.Method != 11823 || c.Self != 10 || c.Total != 10 || c.Inlined != 10 {
		t.Errorf("hottest by samples: %+v", c)
	}
	i := slices.IndexFunc(counts, func(c methodCount) bool { return c.Method == 19547 })
	if counts[i].Self != 0 || counts[i].Total != 10 {
		t.Errorf("main has samples %+v", counts[i])
	}
	p = readFixture(t, "even-odd.iprof")
	print := methodCounts(p, iprof.CallCounts, anyMethod)[0]
	if print.Method != 5 || print.Self != 4+5+7+8 || print.Inlined != 4+5+7 || print.Entries != 4 {
		t.Errorf("print: %+v", print)
	}
}
