package irpgo

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestRanking: the sample of exact merging is the same for any grouping of the inputs,
// in the order of the inputs, and each trace of the stream has its share.
func TestRanking(t *testing.T) {
	const inputs, size = 4000, 100
	limits := traceLimits{size, 3}
	rng := rand.New(rand.NewPCG(1, 2))
	tracesOf := func(input int) ([]Trace, uint64) {
		if input%2 == 0 {
			return []Trace{{1, []uint64{uint64(input), 1, 2, 3, 4}}}, 1
		}
		return []Trace{{1, []uint64{uint64(input)}}, {2, nil}, {3, []uint64{uint64(input), 7}}}, 6 // a sample
	}
	whole := &ranking{traceLimits: limits}
	for i := range inputs {
		traces, stream := tracesOf(i)
		whole.add(i, uint64(i), traces, stream, false)
	}
	want, stream := whole.sample()
	if len(want) != size || stream != inputs/2*7 {
		t.Fatalf("%d traces of %d", len(want), stream)
	}
	single := 0
	for i, tr := range want {
		if i > 0 && tr.NameRefs[0] < want[i-1].NameRefs[0] || len(tr.NameRefs) > 3 {
			t.Errorf("trace %d is %v after %v", i, tr.NameRefs, want[i-1].NameRefs)
		}
		if tr.NameRefs[0]%2 == 0 {
			single++
		}
	}
	// Every second input has one of seven traces of the stream.
	if single < 7 || single > 23 {
		t.Errorf("%d of %d traces are of inputs with one trace, want about a seventh", single, size)
	}
	for range 5 {
		groups := make([]*ranking, 1+rng.IntN(40))
		for i := range groups {
			groups[i] = &ranking{traceLimits: limits}
		}
		for _, i := range rng.Perm(inputs) {
			traces, stream := tracesOf(i)
			groups[rng.IntN(len(groups))].add(i, uint64(i), traces, stream, false)
		}
		for len(groups) > 1 {
			a := rng.IntN(len(groups) - 1)
			groups[a].merge(groups[len(groups)-1])
			groups = groups[:len(groups)-1]
		}
		if got, s := groups[0].sample(); !reflect.DeepEqual(got, want) || s != stream {
			t.Errorf("another grouping keeps %d traces of %d: %v", len(got), s, got)
		}
	}
}
