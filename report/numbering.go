package report

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// A numbering numbers keys from 0 in the order of their first appearance. The zero value
// is empty. It is a hash table with open addressing that holds numbers only: a map would hold
// the keys, which are large, once more.
type numbering[K comparable] struct {
	keys  []K          // by number
	slots []int32      // number plus 1; 0 if empty
	seed  maphash.Seed // no result depends on it
}

// of returns the number of a key.
func (n *numbering[K]) of(key K) int32 {
	if 3*len(n.keys) >= 2*len(n.slots) {
		n.expect(max(16, len(n.keys)+1))
	}
	slot := n.slot(key)
	if n.slots[slot] == 0 {
		n.keys = append(n.keys, key)
		n.slots[slot] = int32(len(n.keys))
	}
	return n.slots[slot] - 1
}

// find returns the number of a key, -1 if it has none.
func (n *numbering[K]) find(key K) int32 {
	if len(n.slots) == 0 {
		return -1
	}
	return n.slots[n.slot(key)] - 1
}

// slot returns the slot of a key, or the empty one to put it in.
func (n *numbering[K]) slot(key K) int {
	mask := len(n.slots) - 1
	slot := int(maphash.Comparable(n.seed, key)) & mask
	for n.slots[slot] != 0 && n.keys[n.slots[slot]-1] != key {
		slot = (slot + 1) & mask
	}
	return slot
}

// expect makes room for size keys in all.
func (n *numbering[K]) expect(size int) {
	if len(n.slots) == 0 {
		n.seed = maphash.MakeSeed()
	}
	n.keys = slices.Grow(n.keys, max(0, size-len(n.keys)))
	n.slots = make([]int32, 1<<bits.Len(uint(size)+uint(size)/2))
	for i, key := range n.keys {
		n.slots[n.slot(key)] = int32(i + 1)
	}
}
