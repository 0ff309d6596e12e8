package iprofcmd

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
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

func anyMethod(*methodCount) bool { return true }

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
	sw := sites[slices.IndexFunc(sites, func(b *branchFacts) bool { return b.frame == iprof.Frame{Method: 4, BCI: 12} })]
	if diff := cmp.Diff([]wayFacts{{0, []int32{227}, 0}, {1, []int32{176}, 0}, {2, []int32{198}, 0}, {3, []int32{204}, 94}}, sw.Ways); diff != "" || sw.Bias != 1 {
		t.Errorf("bias %v\n%s", sw.Bias, diff)
	}
	if methodCounts(p, iprof.Monitors, anyMethod) != nil {
		t.Error("views of what is not there")
	}
}

func TestCompareSet(t *testing.T) {
	p := readFixture(t, "small.iprof")
	total := p.Sections[iprof.CallCounts].Total()
	set, gone := compareSet(p, iprof.CallCounts, func(m iprof.MethodRef) methodStatus {
		exists := m.Class != "app.Zoo$Cat" && m.Name != "main"
		return methodStatus{exists, !exists}
	})
	want := classesSetFacts{
		Set: "calls", Entries: 5, EntriesExist: 1, EntriesGone: 4, Count: total, CountExist: 24491824436273, CountGone: total - 24491824436273,
	}
	if set != want {
		t.Errorf("%+v, want %+v", set, want)
	}
	var got []string
	for _, m := range gone {
		ref, _ := p.Ref(m.Method)
		got = append(got, fmt.Sprint(ref.Class, ".", ref.Name, " ", m.Self))
	}
	if diff := cmp.Diff([]string{"app.Zoo$Cat.<init> 7", "app.Main.main 1"}, got); diff != "" {
		t.Error(diff)
	}
	exists := func(iprof.MethodRef) methodStatus { return methodStatus{exists: true} }
	if set, gone := compareSet(readFixture(t, "unresolved.iprof"), iprof.CallCounts, exists); set.EntriesExist != 0 || set.Entries != 2 || len(gone) != 0 {
		t.Errorf("%+v %v", set, gone)
	}
}

// TestDocument: the sums of the recordings that the document of the format explains.
func TestDocument(t *testing.T) {
	p := readFixture(t, "fib.iprof")
	want := []*branchFacts{{
		frame: iprof.Frame{Method: 19551, BCI: 11}, Count: 11, Bias: 10. / 11,
		Ways: []wayFacts{{0, []int32{20}, 10}, {1, []int32{53}, 1}},
	}}
	if loop := branchSites(p); !reflect.DeepEqual(loop, want) {
		t.Errorf("the loop: %+v, want %+v", loop, want)
	}

	types := func(id iprof.TypeID, count int64) typeFacts { return typeFacts{id: id, Count: count} }
	sites := typeSites(p, iprof.VirtualInvokes)
	if len(sites) != 2 || sites[0].Count != 118 || len(sites[1].Types) != 1 || sites[1].Count != 10 ||
		!slices.Equal(sites[0].Types, []typeFacts{types(2280, 60), types(3660, 56), types(1322, 2)}) {
		t.Errorf("receivers: %+v", sites)
	}
	locks := monitors(p)
	if len(locks) != 16 || locks[0] != types(3654, 61) || !slices.Contains(locks, types(9, 4)) || !slices.Contains(locks, types(10, 1)) {
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

// TestVersions: the help text of --iprof-version has the versions that package iprof writes.
func TestVersions(t *testing.T) {
	listed := strings.FieldsFunc(versions, func(r rune) bool { return r == ',' || r == ' ' })
	for major := range uint32(3) {
		for minor := range uint32(10) {
			v := iprof.Version{Major: major, Minor: minor}
			if slices.Contains(listed, v.String()) != v.Writable() {
				t.Errorf("version %s: listed in %q is %t, want %t", v, versions, !v.Writable(), v.Writable())
			}
		}
	}
}

func TestBytecodeName(t *testing.T) {
	var got []string
	for bci := int32(-7); bci <= 1; bci++ {
		got = append(got, bytecodeName(bci))
	}
	if want := "-7 INVALID_FRAMESTATE_BCI UNKNOWN_BCI AFTER_EXCEPTION_BCI AFTER_BCI BEFORE_BCI UNWIND_BCI 0 1"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %s", got, want)
	}
}
