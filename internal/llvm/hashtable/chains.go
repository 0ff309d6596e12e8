package hashtable

import (
	"iter"
	"math/bits"
)

// Chains holds entries in the buckets where LLVM's OnDiskChainedHashTableGenerator puts them. An
// insertion prepends to the bucket's chain, a resize re-inserts bucket by bucket and so reverses
// chains, and a last resize before writing sets the final number of buckets.
type Chains struct {
	hashes []uint64
	head   []int32 // per bucket, -1 if empty
	next   []int32 // per entry, -1 at the end of a chain
}

const initialBuckets = 64

// Arrange inserts entries 0 … len(hashes)-1 in this order.
func Arrange(hashes []uint64) *Chains {
	c := &Chains{hashes: hashes, next: make([]int32, len(hashes))}
	c.head = emptyBuckets(initialBuckets)
	for i := range hashes {
		if 4*(i+1) >= 3*len(c.head) {
			c.resize(2 * len(c.head))
		}
		c.insert(int32(i))
	}
	if target := targetBuckets(len(hashes)); target != len(c.head) {
		c.resize(target)
	}
	return c
}

// targetBuckets is the number of buckets of a written table of n entries.
func targetBuckets(n int) int {
	if n <= 2 {
		return 1
	}
	return 1 << bits.Len(uint(n*4/3)) // bit_ceil(n·4/3 + 1)
}

func emptyBuckets(n int) []int32 {
	b := make([]int32, n)
	for i := range b {
		b[i] = -1
	}
	return b
}

func (c *Chains) insert(i int32) {
	b := c.hashes[i] & uint64(len(c.head)-1)
	c.next[i] = c.head[b]
	c.head[b] = i
}

func (c *Chains) resize(n int) {
	old := c.head
	c.head = emptyBuckets(n)
	for _, i := range old {
		for i >= 0 {
			next := c.next[i]
			c.insert(i)
			i = next
		}
	}
}

// NumBuckets returns the number of buckets, a power of two.
func (c *Chains) NumBuckets() int { return len(c.head) }

// BucketLen returns the number of entries in bucket b.
func (c *Chains) BucketLen(b int) int {
	n := 0
	for range c.Bucket(b) {
		n++
	}
	return n
}

// Bucket iterates over the entries of bucket b, in the order in which they are written.
func (c *Chains) Bucket(b int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := c.head[b]; i >= 0; i = c.next[i] {
			if !yield(int(i)) {
				return
			}
		}
	}
}

// ItemSize is the size in bytes of an item with a key and data of the given lengths, without the bucket's count of two bytes.
func ItemSize(key, data int) int { return itemHeader + key + data }

// ImpliedItemSize is [ItemSize] for tables without key lengths.
func ImpliedItemSize(key, data int) int { return itemHeader - 8 + key + data }

// BucketHeaderSize and IndexHeaderSize are the sizes in bytes of the headers
// before the items of a bucket and before the bucket offsets of the index.
const (
	BucketHeaderSize = bucketHeader
	IndexHeaderSize  = indexHeader
)

// NumBuckets returns the number of buckets of a table of n entries.
func NumBuckets(n int) int { return targetBuckets(n) }

// growth returns the resizes of a table that ends with n entries: for each, in
// ascending order, how many entries the table holds at that time.
func growth(n int) []int {
	buckets := initialBuckets
	var grown []int
	for i := range n {
		if 4*(i+1) >= 3*buckets {
			buckets *= 2
			grown = append(grown, i)
		}
	}
	if targetBuckets(n) != buckets {
		grown = append(grown, n)
	}
	return grown
}

// InsertionOrder returns an order of insertion with which [Arrange] reproduces a payload. hashes
// are the hashes of the entries in payload order.
func InsertionOrder(hashes []uint64) []int {
	n := len(hashes)
	grown, last := growth(n), targetBuckets(n)
	// Entries that share a bucket in the end shared one at all times. An
	// insertion prepends the entry, and each resize reverses the chain.
	type span struct{ from, to int }
	var spans []span // of entries in one bucket
	for i := range hashes {
		if k := len(spans); k > 0 && (hashes[spans[k-1].from]^hashes[i])&uint64(last-1) == 0 {
			spans[k-1].to = i + 1
		} else {
			spans = append(spans, span{i, i + 1})
		}
	}
	order := make([]int, n)
	for i := n - 1; i >= 0; i-- {
		turns := 0
		for k := len(grown) - 1; k >= 0 && grown[k] > i; k-- {
			turns++
		}
		s := &spans[len(spans)-1]
		if turns%2 == 0 {
			order[i] = s.from
			s.from++
		} else {
			s.to--
			order[i] = s.to
		}
		if s.from == s.to {
			spans = spans[:len(spans)-1]
		}
	}
	return order
}
