package iprof

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/profile"
)

// The tests of this file are the examples of the format's document, with every number in it.

func TestDocumentMinimalFile(t *testing.T) {
	p := read(t, []byte("{\n  \"version\": \"1.0.0\",\n  \"types\": [],\n  \"methods\": []\n}\n"))
	if p.Version != version100 || len(p.Types)+len(p.Methods)+p.entries() != 0 {
		t.Errorf("read as %+v", p)
	}
}

func TestDocumentFib(t *testing.T) {
	p := readFixture(t, "fib.iprof")
	for id, want := range map[TypeID]string{
		0: "boolean", 1: "byte", 2: "short", 8: "void", 9: "java.lang.Object", 10: "Fib", 629: "java.lang.System",
		2280: "java.lang.String", 4823: "[Ljava.lang.String;",
	} {
		if got := p.TypeName(id); got != want {
			t.Errorf("type %d is %s, want %s", id, got, want)
		}
	}
	for id, want := range map[MethodID]string{
		19547: "Fib.main([Ljava/lang/String;)V",
		19551: "Fib.fibonacci()V",
		4669:  "java.io.PrintStream.print(Ljava/lang/String;)V",
		3236:  "java.lang.String.valueOf(Ljava/lang/Object;)Ljava/lang/String;",
		11823: "com.oracle.svm.core.thread.PlatformThreads.sleep()V",
		12811: "java.lang.Thread.sleepNanos0(J)V",
	} {
		if ref, ok := p.Ref(id); !ok || methodText(ref) != want {
			t.Errorf("method %d is %+v, want %s", id, ref, want)
		}
	}
	if ref, _ := p.Ref(19547); ref.Class != "Fib" || !slices.Equal(ref.Parameters, []string{"[Ljava.lang.String;"}) || ref.Return != "void" {
		t.Errorf("main is %+v", ref)
	}

	type entry struct {
		Context string
		Records []int64
	}
	entries := func(k Kind) (out []entry) {
		for c, r := range p.Sections[k].All() {
			out = append(out, entry{contextNames(p, c), r})
		}
		return out
	}
	for k, want := range map[Kind][]entry{
		CallCounts: {
			{"Fib.fibonacci:0", []int64{1}},
			{"java.io.PrintStream.print:0<Fib.fibonacci:34", []int64{10}},
		},
		Conditionals: {{"Fib.fibonacci:11", []int64{20, 0, 10, 53, 1, 1}}},
		VirtualInvokes: {
			{"java.lang.String.valueOf:11<java.io.PrintStream.print:2<Fib.fibonacci:34", []int64{2280, 10}},
			{"java.lang.Object.method6886:9<java.lang.Object.method6882:23", []int64{1322, 2, 2280, 60, 3660, 56}},
		},
	} {
		if diff := cmp.Diff(want, entries(k)); diff != "" {
			t.Errorf("%s:\n%s", k, diff)
		}
	}

	locks := &p.Sections[Monitors]
	if locks.Len() != 1 || contextText(locks.Context(0)) != "0:0" || !slices.Equal(locks.Records(0), []int64{
		9, 4, 10, 1, 579, 9, 619, 10, 1213, 1, 1972, 1, 2284, 2, 2337, 1, 2612, 2, 3474, 3, 3654, 61, 3807, 3, 3820, 7, 4060, 2, 4127, 3, 4725, 6,
	}) {
		t.Errorf("monitors: %v", locks.Records(0))
	}
	stacks := &p.Sections[Samples]
	if stacks.Len() != 2 || stacks.Total() != 11 || stacks.Records(0)[0] != 10 || stacks.Records(1)[0] != 1 ||
		contextText(stacks.Context(0)) != "11823:38<12811:1<12810:33<12855:25<19551:17<19547:9<19529:10<6305:105<5998:67<5941:0<5903:50<2684:23<2685:1" ||
		contextText(stacks.Context(1)) != "22500:23<22353:65<22210:15<22187:246<22032:20<22030:1<22027:22<11795:68<11793:12<43854:2" {
		t.Error("the stacks differ from the document")
	}
}

func TestDocumentEvenOdd(t *testing.T) {
	p := readFixture(t, "even-odd.iprof")
	s := &p.Sections[CallCounts]
	var got []string
	for c := range s.All() {
		got = append(got, contextNames(p, c))
	}
	const class = "EvenOrOddLength."
	want := []string{
		class + "main:0",
		class + "printEvenOrOdd:0<" + class + "main:3",
		class + "printEven:0<" + class + "printEvenOrOdd:9<" + class + "main:3",
		class + "print:0<" + class + "printEven:2<" + class + "printEvenOrOdd:9<" + class + "main:3",
		class + "print:0<" + class + "printEven:2<" + class + "printEvenOrOdd:2<" + class + "main:3", // sic, see the document
		class + "printOdd:0",
		class + "print:0<" + class + "printOdd:2",
		class + "print:0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for i, text := range map[int]string{0: "1:0", 1: "2:0<1:3", 4: "5:0<3:2<2:2<1:3", 6: "5:0<4:2", 7: "5:0"} {
		if c, err := parseContext(text); err != nil || !slices.Equal(c, s.Context(i)) || contextText(s.Context(i)) != text {
			t.Errorf("context %d is %v, want %s (%v)", i, s.Context(i), text, err)
		}
	}
	// The call graph of the document, with "2:9<1:3" and "1:3" as callers.
	edges := p.View("", ViewOptions{}).(*view).edgeCounts()
	for _, e := range []viewEdge{
		{profile.Call, Frame{1, 3}, 2}, {profile.Call, Frame{2, 9}, 3}, {profile.Call, Frame{3, 2}, 5}, {profile.Call, Frame{4, 2}, 5},
	} {
		if _, ok := edges[e]; !ok {
			t.Errorf("no call %+v", e)
		}
		delete(edges, e)
	}
	if len(edges) != 0 {
		t.Errorf("calls that are not in the program: %v", edges)
	}
}
