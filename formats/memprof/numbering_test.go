package memprof

import (
	"math/rand/v2"
	"testing"
)

// TestNumbering: values have the numbers of their first appearance, however they are found.
func TestNumbering(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var table numbering[uint64]
	known := make(map[uint64]int32)
	value := func() uint64 {
		n := uint64(len(known))
		return rng.Uint64N(n+2)<<32 | rng.Uint64N(4) // some have their own number in the upper half
	}
	for range 5000 {
		v := value()
		want, ok := known[v]
		if !ok {
			want = int32(len(known))
			known[v] = want
		}
		switch n, isNew := table.find(v), !ok; {
		case n < 0 && isNew && rng.IntN(2) == 0:
			table.append(v)
		default:
			if n, added := table.add(v); n != want || added != isNew {
				t.Fatalf("value %#x has number %d (new: %v), want %d", v, n, added, want)
			}
		}
		values := make([]uint64, rng.IntN(together+1))
		for i := range values {
			values[i] = value()
		}
		numbers := make([]int32, len(values))
		table.findAll(values, numbers)
		for i, v := range values {
			want, ok := known[v]
			if !ok {
				want = -1
			}
			if numbers[i] != want || table.find(v) != want {
				t.Fatalf("value %#x has number %d, together with %d others %d, want %d", v, table.find(v), len(values)-1, numbers[i], want)
			}
		}
	}
	if table.used == 0 || table.used == len(table.list) {
		t.Errorf("%d of %d values are in the table", table.used, len(table.list))
	}
}
