// Package numbering numbers keys.
package numbering

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// A Table numbers keys from 0 in the order of their first appearance. The zero value is empty. It is a hash table
// with open addressing that holds numbers only: a map would hold the keys, which are large, once more.
type Table[K comparable] struct {
	Keys  []K          // by number
	slots []int32      // number plus 1; 0 if empty
	seed  maphash.Seed // no result depends on it
}

// Of returns the number of a key.
func (t *Table[K]) Of(key K) int32 {
	n, _ := t.Add(key)
	return n
}

// Add returns the number of a key, and whether the key is new.
func (t *Table[K]) Add(key K) (n int32, fresh bool) {
	if 3*len(t.Keys) >= 2*len(t.slots) {
		t.Expect(max(16, len(t.Keys)+1))
	}
	slot := t.slot(key)
	if t.slots[slot] == 0 {
		t.Keys = append(t.Keys, key)
		t.slots[slot] = int32(len(t.Keys))
		fresh = true
	}
	return t.slots[slot] - 1, fresh
}

// Find returns the number of a key, -1 if it has none.
func (t *Table[K]) Find(key K) int32 {
	if len(t.Keys) == 0 {
		return -1
	}
	if len(t.slots) == 0 {
		t.Expect(len(t.Keys))
	}
	return t.slots[t.slot(key)] - 1
}

// slot returns the slot of a key, or the empty one to put it in.
func (t *Table[K]) slot(key K) int {
	mask := len(t.slots) - 1
	slot := int(maphash.Comparable(t.seed, key)) & mask
	for t.slots[slot] != 0 && t.Keys[t.slots[slot]-1] != key {
		slot = (slot + 1) & mask
	}
	return slot
}

// Expect makes room for size keys in all.
func (t *Table[K]) Expect(size int) {
	if len(t.slots) == 0 {
		t.seed = maphash.MakeSeed()
	}
	t.Keys = slices.Grow(t.Keys, max(0, size-len(t.Keys)))
	t.slots = make([]int32, 1<<bits.Len(uint(size)+uint(size)/2))
	for i, key := range t.Keys {
		t.slots[t.slot(key)] = int32(i + 1)
	}
}

// Shrink gives back the memory that only finding keys needs. The next search makes it anew.
func (t *Table[K]) Shrink() { t.slots = nil }
