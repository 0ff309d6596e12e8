package covmap

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRunSorter: the order is that of a stable sort, for lists of runs and for others.
func TestRunSorter(t *testing.T) {
	type element struct{ key, place int }
	compare := func(a, b *element) int { return cmp.Compare(a.key, b.key) }
	random := rand.New(rand.NewPCG(1, 2))
	var s runSorter[element]
	for n := range 400 {
		list := make([]element, n)
		for i, run := 0, 1+n%70; i < n; i++ {
			list[i] = element{i%run + random.IntN(1+n%5), i}
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, func(a, b element) int { return compare(&a, &b) })
		s.sort(list, compare)
		if !slices.Equal(list, want) {
			t.Fatalf("%d elements: got %v, want %v", n, list, want)
		}
	}
}
