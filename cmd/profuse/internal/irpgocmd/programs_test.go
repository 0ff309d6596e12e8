package irpgocmd

import (
	"fmt"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/irpgo"
)

// TestSketch compares sketches with the smallest references of all, for few
// functions and for many.
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
		data, err := irpgo.AppendIndexed(nil, p, irpgo.IndexedOptions{})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		want = want[:min(n, sketchSize)]
		functions, got := sketch("in", data)
		if functions != n+1 || !slices.Equal(got, want) {
			t.Errorf("%d functions: counted %d, %d in the sketch, want %d", n+1, functions, len(got), len(want))
		}
	}
}
