package memprof

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// A numbering numbers distinct values by first appearance. The millions of PCs of a profile have a few
// thousand distinct values. It is a hash table with open addressing that holds numbers only: a map
// takes a seventh longer. Package internal/numbering is for keys of any type.
//
// A value whose upper half is its own number is found without the table. That holds for most
// call stacks, see [stackNode].
type numbering[K ~uint64] struct {
	list    []K
	entered int     // how many values of the list the table takes into account
	slots   []int32 // index in list plus 1; 0 if empty
	used    int     // of the slots
	// seed randomizes the hashes, so that a hostile file cannot force collisions. No result depends on it.
	seed [2]uint64
}

// home returns the slot of a value, unless other values occupy it.
func (t *numbering[K]) home(v K) int {
	hi, lo := bits.Mul64(uint64(v)^t.seed[0], t.seed[1])
	return int(hi^lo) & (len(t.slots) - 1)
}

// add returns the number of a value, and numbers it if it is new.
func (t *numbering[K]) add(v K) (n int32, isNew bool) {
	if n = t.find(v); n >= 0 {
		return n, false
	}
	return t.append(v), true
}

// append numbers a value that is new. The next lookup enters the value into the table.
func (t *numbering[K]) append(v K) int32 {
	if n := len(t.list); n == cap(t.list) {
		t.list = append(make([]K, 0, max(64, n+n/2)), t.list...)
	}
	t.list = append(t.list, v)
	return int32(len(t.list) - 1)
}

// enterAppended enters the values that were appended into the table.
func (t *numbering[K]) enterAppended() {
	for i, v := range t.list[t.entered:] {
		if uint64(v)>>32 != uint64(t.entered+i) {
			t.used++
		}
	}
	if need := 3 * t.used / 2; need >= len(t.slots) {
		t.resize(max(64, 1<<bits.Len(uint(need))))
	}
	mask := len(t.slots) - 1
	for ; t.entered < len(t.list); t.entered++ {
		v := t.list[t.entered]
		if uint64(v)>>32 == uint64(t.entered) {
			continue
		}
		i := t.home(v)
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = int32(t.entered + 1)
	}
}

// direct returns the number of a value that is found without the table, or -1.
func (t *numbering[K]) direct(v K) int32 {
	if n := uint64(v) >> 32; n < uint64(len(t.list)) && t.list[n] == v {
		return int32(n)
	}
	return -1
}

// find returns the number of a value, -1 if it has none.
func (t *numbering[K]) find(v K) int32 {
	if t.entered < len(t.list) {
		t.enterAppended()
	}
	if n := t.direct(v); n >= 0 || len(t.slots) == 0 {
		return n
	}
	mask := len(t.slots) - 1
	i := t.home(v)
	for t.slots[i] != 0 && t.list[t.slots[i]-1] != v {
		i = (i + 1) & mask
	}
	return t.slots[i] - 1
}

// findAll finds several values, so that the processor waits for the memory of all values at the same time.
func (t *numbering[K]) findAll(values []K, numbers []int32) {
	if t.entered < len(t.list) {
		t.enterAppended()
	}
	for i, v := range values {
		if numbers[i] = t.direct(v); numbers[i] < 0 && len(t.slots) > 0 {
			numbers[i] = t.slots[t.home(v)] - 1
		}
	}
	for i, v := range values {
		if n := numbers[i]; n >= 0 && t.list[n] != v {
			numbers[i] = t.find(v)
		}
	}
}

func (t *numbering[K]) expect(n int) {
	t.list = slices.Grow(t.list, n)
	t.resize(1 << bits.Len(uint(n)+uint(n)/2))
}

// resize empties the table and changes the number of slots.
func (t *numbering[K]) resize(n int) {
	if len(t.slots) == 0 {
		seed := maphash.MakeSeed()
		t.seed = [2]uint64{maphash.Comparable(seed, 0), maphash.Comparable(seed, 1) | 1}
	}
	t.slots, t.entered = make([]int32, n), 0
}
