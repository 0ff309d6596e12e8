// Package llvmorder reproduces the orders of LLVM's hash maps, and the order in which its sort
// leaves equal elements. LLVM writes files in these orders; they matter only when bytes are
// compared. Package hashtable has the order inside the hash tables of files.
package llvmorder

import "github.com/zeebo/xxh3"

// A Hash is how a release of LLVM hashes integers (DenseMapInfo<uint64_t>::getHashValue).
type Hash func(key uint64) uint32

// Times37 is the hash before LLVM 19.
func Times37(key uint64) uint32 { return uint32(key * 37) }

// Mixed is the hash since LLVM 19.
func Mixed(key uint64) uint32 {
	key *= 0xbf58476d1ce4e5b9
	return uint32(key ^ key>>31)
}

// leastBuckets is the smallest number of buckets of a dense map on the heap.
const leastBuckets = 64

// DenseMap returns the indexes of the distinct keys in the order of a DenseMap or SmallDenseMap
// into which they were inserted one by one. inline is the number of inline buckets of a
// SmallDenseMap, a power of two; 0 for a DenseMap.
func DenseMap(keys []uint64, inline int, hash Hash) []int32 {
	if inline == 0 {
		inline = leastBuckets
	}
	t := newTable(inline, func(i int32) uint32 { return hash(keys[i]) })
	for i := range keys {
		if 4*(i+1) >= 3*len(t.buckets) {
			t.rehash(max(leastBuckets, 2*len(t.buckets)))
		}
		t.insert(int32(i))
	}
	return t.order(len(keys))
}

// StringMap returns the indexes of n distinct strings in the order of a StringMap into which they were inserted one by one.
func StringMap(n int, key func(i int) string, hash StringHash) []int32 {
	hashes := make([]uint32, n)
	t := newTable(16, func(i int32) uint32 { return hashes[i] })
	for i := range n {
		hashes[i] = hash(key(i))
		t.insert(int32(i))
		switch size := len(t.buckets); {
		case 4*(i+1) > 3*size:
			t.rehash(2 * size)
		case size-(i+1) <= size/8:
			t.rehash(size)
		}
	}
	return t.order(n)
}

// A StringHash is how a release of LLVM hashes the keys of a StringMap.
type StringHash func(key string) uint32

// DJB is the hash before LLVM 17, with a seed of 0.
func DJB(s string) uint32 {
	h := uint32(0)
	for i := range len(s) {
		h = h*33 + uint32(s[i])
	}
	return h
}

// XXH3 is the hash since LLVM 17.
func XXH3(s string) uint32 { return uint32(xxh3.HashString(s)) }

// A table is a hash table with quadratic probing, like all of LLVM's.
type table struct {
	buckets []int32 // index of the key plus 1, 0 if empty
	hash    func(i int32) uint32
}

func newTable(buckets int, hash func(i int32) uint32) *table {
	return &table{make([]int32, buckets), hash}
}

func (t *table) insert(i int32) {
	mask := uint32(len(t.buckets) - 1)
	at := t.hash(i) & mask
	for step := uint32(1); t.buckets[at] != 0; step++ {
		at = (at + step) & mask
	}
	t.buckets[at] = i + 1
}

func (t *table) rehash(buckets int) {
	old := t.buckets
	t.buckets = make([]int32, buckets)
	for _, i := range old {
		if i != 0 {
			t.insert(i - 1)
		}
	}
}

func (t *table) order(n int) []int32 {
	order := make([]int32, 0, n)
	for _, i := range t.buckets {
		if i != 0 {
			order = append(order, i-1)
		}
	}
	return order
}
