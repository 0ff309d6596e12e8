package memprof

import (
	"math/rand/v2"
	"testing"
)

// TestFindAll: finding values together gives what finding each gives.
func TestFindAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var table numbering[uint64]
	for range 5000 {
		table.add(rng.Uint64N(20_000))
		values := make([]uint64, rng.IntN(together+1))
		for i := range values {
			values[i] = rng.Uint64N(20_000)
		}
		numbers := make([]int32, len(values))
		table.findAll(values, numbers)
		for i, v := range values {
			if want := table.find(v); numbers[i] != want {
				t.Fatalf("value %d has number %d, together with %d others %d", v, want, len(values)-1, numbers[i])
			}
		}
	}
}
