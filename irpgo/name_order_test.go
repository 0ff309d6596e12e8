package irpgo

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestNameOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for round := range 300 {
		names := make([]string, rng.IntN(200))
		for i := range names {
			name := strings.Repeat("_ZN5space", rng.IntN(3))
			for range rng.IntN(12) {
				name += string([]byte{"ab\x00\xff"[rng.IntN(4)]})
			}
			names[i] = name
		}
		want := make([]int32, len(names))
		for i := range want {
			want[i] = int32(i)
		}
		slices.SortFunc(want, func(a, b int32) int {
			return cmp.Or(cmp.Compare(names[a], names[b]), cmp.Compare(a, b))
		})
		if got := nameOrder(len(names), func(i int) string { return names[i] }); !slices.Equal(got, want) {
			t.Fatalf("round %d: %q\ngot  %v\nwant %v", round, names, got, want)
		}
	}
}

// TestNameOrderDeep: a name may be as long as a file.
func TestNameOrderDeep(t *testing.T) {
	names := make([]string, 20)
	for i := range names {
		names[i] = strings.Repeat("x", 1<<20) + string(rune('t'-i))
	}
	order := nameOrder(len(names), func(i int) string { return names[i] })
	for i, at := range order {
		if int(at) != len(names)-1-i {
			t.Fatalf("name %d at place %d", at, i)
		}
	}
}
