package irpgocmd

import (
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestSketch compares sketches with the smallest references of all, for few functions and for many.
func TestSketch(t *testing.T) {
	for _, n := range []int{0, 1, sketchSize, 2*sketchSize + 7, 12 * sketchSize} {
		p := &irpgo.Profile{Variant: irpgo.IRLevel}
		want := []uint64{}
		for i := range n {
			name := fmt.Sprintf("function%06d", i)
			want = append(want, irpgo.NameRef(name))
			p.Functions = append(p.Functions, irpgo.Function{Name: name, Records: []*irpgo.Record{{Name: name, Hash: 1, Counts: []uint64{1}}}})
		}
		p.Functions = append(p.Functions, irpgo.Function{Name: "main", Records: []*irpgo.Record{{Name: "main", Hash: 1, Counts: []uint64{1}}}})
		slices.SortFunc(p.Functions, func(a, b irpgo.Function) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
		data, err := oracle.Written(func(w io.Writer) error { return irpgo.WriteIndexed(w, p, irpgo.IndexedOptions{}) })
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		want = want[:min(n, sketchSize)]
		functions, got := new(knownPrograms).sketch(nameRefs("in", data))
		if functions != n+1 || !slices.Equal(got, want) {
			t.Errorf("%d functions: counted %d, %d in the sketch, want %d", n+1, functions, len(got), len(want))
		}
	}
}

// TestProgramOfLayout: without binary ids, profiles of one layout are of one program, which
// is told from the others by its functions.
func TestProgramOfLayout(t *testing.T) {
	profile := func(name string) []byte {
		p := &irpgo.Profile{Variant: irpgo.IRLevel, Functions: []irpgo.Function{
			{Name: name, Records: []*irpgo.Record{{Name: name, Hash: 1, Counts: []uint64{1}}}},
		}}
		data, err := oracle.Written(func(w io.Writer) error { return irpgo.WriteIndexed(w, p, irpgo.IndexedOptions{}) })
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	a, b := profile("a"), profile("b")
	var p knownPrograms
	p.addProfile(mergedProfile{3, "in3", nil, 1, nameRefs("a", a)})
	p.addProfile(mergedProfile{1, "in1", nil, 1, func(func(uint64) bool) {}}) // of the layout of in3
	p.addProfile(mergedProfile{2, "in2", nil, 0, nameRefs("a", a)})
	p.addProfile(mergedProfile{4, "in4", nil, 2, nameRefs("b", b)})
	p.addProfile(mergedProfile{5, "in5", [][]byte{{1}}, 1, nameRefs("a", a)})
	var got []string
	for key, q := range p.all {
		got = append(got, fmt.Sprintf("%d of %s: %d, %d functions", len(key), q.file, q.profiles, q.functions))
	}
	slices.Sort(got)
	want := []string{"2 of in5: 1, 1 functions", "26 of in1: 3, 1 functions", "26 of in4: 1, 1 functions"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestInCommon compares the estimate with the number of functions that two programs really have in common: exact while
// one sketch holds all of both, within a few per cent beyond.
func TestInCommon(t *testing.T) {
	of := func(from, to int) *program {
		p := &program{functions: to - from}
		for i := from; i < to; i++ {
			p.sketch = append(p.sketch, irpgo.NameRef(fmt.Sprintf("function%06d", i)))
		}
		p.sketch = smallest(p.sketch)
		return p
	}
	for _, c := range []struct{ a, b, shared, n int }{
		{0, 0, 0, 0},
		{0, 5, 0, 0},
		{5, 0, 0, 0},
		{3, 4, 0, 0},
		{300, 700, 0, 0},
		{300, 700, 300, 0},
		{400, 700, 100, 0},
		{20000, 30000, 15000, 1500},
		{20000, 30000, 0, 0},
		{20000, 20000, 20000, 0},
	} {
		p, q := of(0, c.a), of(c.a-c.shared, c.a-c.shared+c.b)
		for _, got := range []float64{p.inCommon(q), q.inCommon(p)} {
			if got < float64(c.shared-c.n)-1e-6 || got > float64(c.shared+c.n)+1e-6 {
				t.Errorf("%d and %d functions, %d of them the same: %f", c.a, c.b, c.shared, got)
			}
		}
	}
}
