package memprof

import (
	"hash/maphash"
	"math/bits"
)

// A hashSeed randomizes a hash table, so that a hostile file cannot force collisions. No
// result depends on it.
type hashSeed [2]uint64

func newHashSeed() hashSeed {
	seed := maphash.MakeSeed()
	return hashSeed{maphash.Comparable(seed, 0), maphash.Comparable(seed, 1) | 1}
}

func (s *hashSeed) hash(x uint64) int {
	hi, lo := bits.Mul64(x^s[0], s[1])
	return int(hi ^ lo)
}

// A numbering numbers distinct values by first appearance. The millions of PCs of a
// profile have a few thousand distinct values.
type numbering struct {
	list  []uint64
	slots []int32 // index in list plus 1; 0 if empty
	seed  hashSeed
}

// slot returns the slot of a value, or the empty slot to put it in.
func (t *numbering) slot(v uint64) int {
	mask := len(t.slots) - 1
	i := t.seed.hash(v) & mask
	for t.slots[i] != 0 && t.list[t.slots[i]-1] != v {
		i = (i + 1) & mask
	}
	return i
}

// add numbers a value. It reports whether it is new.
func (t *numbering) add(v uint64) bool {
	if 3*(len(t.list)+1) > 2*len(t.slots) {
		t.resize(max(64, 2*len(t.slots)))
	}
	i := t.slot(v)
	if t.slots[i] != 0 {
		return false
	}
	t.list = append(t.list, v)
	t.slots[i] = int32(len(t.list))
	return true
}

// find returns the number of a value, -1 if it has none.
func (t *numbering) find(v uint64) int32 {
	if len(t.slots) == 0 {
		return -1
	}
	return t.slots[t.slot(v)] - 1
}

// expect makes room for n values.
func (t *numbering) expect(n int) {
	t.list = make([]uint64, 0, n)
	t.resize(1 << bits.Len(uint(n)+uint(n)/2))
}

func (t *numbering) resize(n int) {
	if len(t.slots) == 0 {
		t.seed = newHashSeed()
	}
	t.slots = make([]int32, n)
	for i, v := range t.list {
		t.slots[t.slot(v)] = int32(i + 1)
	}
}
