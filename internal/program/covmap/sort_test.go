package covmap

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRunSorter: the order is that of a stable sort, for lists of runs and for others, and
// equal elements are joined in their order.
func TestRunSorter(t *testing.T) {
	type element struct {
		key   int
		place string
	}
	compare := func(a, b *element) int { return cmp.Compare(a.key, b.key) }
	join := func(to, other *element) { to.place += other.place }
	random := rand.New(rand.NewPCG(1, 2))
	var s runSorter[element]
	for n := range 400 {
		list := make([]element, n)
		for i, run := 0, 1+n%70; i < n; i++ {
			list[i] = element{i%run + random.IntN(1+n%5), string(rune('a' + i))}
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, func(a, b element) int { return compare(&a, &b) })
		if got := s.sort(slices.Clone(list), compare, nil); !slices.Equal(got, want) {
			t.Fatalf("%d elements: got %v, want %v", n, got, want)
		}
		joined := want[:0]
		for _, e := range want {
			if k := len(joined); k > 0 && joined[k-1].key == e.key {
				join(&joined[k-1], &e)
			} else {
				joined = append(joined, e)
			}
		}
		if got := s.sort(list, compare, join); !slices.Equal(got, joined) {
			t.Fatalf("%d elements: got %v, want %v", n, got, joined)
		}
	}
}
