package hashtable

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// payloadOrder returns the entries in the order in which they are written.
func payloadOrder(hashes []uint64) []int {
	c := Arrange(hashes)
	var out []int
	for b := range c.NumBuckets() {
		for i := range c.Bucket(b) {
			out = append(out, i)
		}
	}
	return out
}

func pick(hashes []uint64, order []int) []uint64 {
	out := make([]uint64, len(order))
	for i, k := range order {
		out[i] = hashes[k]
	}
	return out
}

// TestInsertionOrderLeadsBack: a table read and written again has its entries where they were.
func TestInsertionOrderLeadsBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	sizes := []int{2000}
	for n := range 200 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		for _, mask := range []uint64{^uint64(0), 0xf0, 0} { // the last two crowd buckets
			hashes := make([]uint64, n)
			for i := range hashes {
				hashes[i] = rng.Uint64()&mask | uint64(i)<<40
			}
			payload := pick(hashes, payloadOrder(hashes))
			again := pick(payload, InsertionOrder(payload))
			if got := pick(again, payloadOrder(again)); !slices.Equal(got, payload) {
				t.Fatalf("%d entries, mask %#x: order changed", n, mask)
			}
		}
	}
}
