package ondisk

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestChainIsArrangement: what is known of a bucket's entries without
// arranging the others gives the order that they are arranged in.
func TestChainIsArrangement(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 2))
	for n := 48; n < 5000; n += 1 + n/9 {
		for _, mask := range []uint64{^uint64(0), 0xf0, 0} { // the last two crowd buckets
			hashes := make([]uint64, n)
			for i := range hashes {
				hashes[i] = rng.Uint64() & mask
			}
			growth := Growth(n)
			turned := func(i int32) (turns int) {
				for _, g := range growth {
					if int(i) < g {
						turns++
					}
				}
				return turns
			}
			c := Arrange(hashes)
			if c.NumBuckets() != NumBuckets(n) {
				t.Fatalf("%d entries: %d buckets, not %d", n, NumBuckets(n), c.NumBuckets())
			}
			buckets := make([][]int32, c.NumBuckets())
			for i, h := range hashes {
				b := h & uint64(len(buckets)-1)
				buckets[b] = append(buckets[b], int32(i))
			}
			for b, got := range buckets {
				var want []int32
				for i := range c.Bucket(b) {
					want = append(want, int32(i))
				}
				if Chain(got, turned); !slices.Equal(got, want) {
					t.Fatalf("%d entries, mask %#x, bucket %d: %v, not %v", n, mask, b, got, want)
				}
			}
		}
	}
}
