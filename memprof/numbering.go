package memprof

import (
	"hash/maphash"
	"math/bits"
)

// A numbering numbers distinct values by first appearance. The millions of PCs of a
// profile have a few thousand distinct values. It is a hash table with open addressing
// that holds numbers only: a map takes a seventh longer.
type numbering[K ~uint64] struct {
	list  []K
	slots []int32 // index in list plus 1; 0 if empty
	// seed randomizes the hashes, so that a hostile file cannot force collisions. No
	// result depends on it.
	seed [2]uint64
}

// home returns the slot where a value is, unless others are there.
func (t *numbering[K]) home(v K) int {
	hi, lo := bits.Mul64(uint64(v)^t.seed[0], t.seed[1])
	return int(hi^lo) & (len(t.slots) - 1)
}

// slot returns the slot of a value, or the empty slot to put it in.
func (t *numbering[K]) slot(v K) int {
	mask := len(t.slots) - 1
	i := t.home(v)
	for t.slots[i] != 0 && t.list[t.slots[i]-1] != v {
		i = (i + 1) & mask
	}
	return i
}

// add returns the number of a value, and numbers it if it is new.
func (t *numbering[K]) add(v K) (n int32, isNew bool) {
	if 3*(len(t.list)+1) > 2*len(t.slots) {
		t.resize(max(64, 2*len(t.slots)))
	}
	i := t.slot(v)
	if t.slots[i] != 0 {
		return t.slots[i] - 1, false
	}
	t.list = append(t.list, v)
	t.slots[i] = int32(len(t.list))
	return t.slots[i] - 1, true
}

// find returns the number of a value, -1 if it has none.
func (t *numbering[K]) find(v K) int32 {
	if len(t.slots) == 0 {
		return -1
	}
	return t.slots[t.slot(v)] - 1
}

// findAll finds several values, so that the processor waits for the memory of all of them
// at the same time. The table must not be empty.
func (t *numbering[K]) findAll(values []K, numbers []int32) {
	for i, v := range values {
		numbers[i] = t.slots[t.home(v)] - 1
	}
	for i, v := range values {
		if n := numbers[i]; n >= 0 && t.list[n] != v {
			numbers[i] = t.find(v)
		}
	}
}

// expect makes room for n values.
func (t *numbering[K]) expect(n int) { t.resize(1 << bits.Len(uint(n)+uint(n)/2)) }

// resize changes the number of slots. It grows the list, which fills two thirds of
// them, at the same time: append's smaller steps would leave a multiple of it as
// garbage.
func (t *numbering[K]) resize(n int) {
	if len(t.slots) == 0 {
		seed := maphash.MakeSeed()
		t.seed = [2]uint64{maphash.Comparable(seed, 0), maphash.Comparable(seed, 1) | 1}
	}
	t.list = append(make([]K, 0, 2*n/3+1), t.list...)
	t.slots = make([]int32, n)
	for i, v := range t.list {
		t.slots[t.slot(v)] = int32(i + 1)
	}
}
