package tally

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// TestAddAll: adding at once is adding one by one, and tells the greatest.
func TestAddAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	shares := []uint64{10_000, 500_000, 999_999}
	for round := range 8 {
		values := make([]uint64, rng.IntN(pendingValues)<<(round%3))
		for i := range values {
			values[i] = rng.Uint64() >> rng.IntN(64)
		}
		var all, single Tally
		greatest, want := uint64(0), uint64(0)
		for part := range slices.Chunk(values, 100) {
			greatest = max(greatest, all.AddAll(part))
		}
		for _, v := range values {
			single.Add(v)
			want = max(want, v)
			if IsSmall(v) != (v < smallValues) {
				t.Fatalf("IsSmall(%d) is %t", v, IsSmall(v))
			}
		}
		got, plain := all.Distribution(shares, false), single.Distribution(shares, false)
		if greatest != want || !reflect.DeepEqual(got, plain) {
			t.Fatalf("%d values: greatest %d, want %d; %+v, want %+v", len(values), greatest, want, got, plain)
		}
	}
}
