package llvmorder

import (
	"iter"
	"slices"
)

// An Unordered is a set of 64-bit keys in the order of libstdc++'s std::unordered_map, where each
// key is its own hash. The zero value is empty.
//
// All keys are in one list, in which the keys of a bucket are neighbours.
type Unordered struct {
	nodes   []node  // node 0 is the head of the list and has no key
	before  []int32 // by bucket: the node before its first node; absent if the bucket is empty
	limit   int     // number of keys at which the next key adds buckets
	len     int
	removed []int32 // nodes to use again
}

type node struct {
	key  uint64
	next int32
}

const absent = -1

// primes are the numbers of buckets of a growing map (__prime_list of libstdc++, doubled each
// time). A larger map keeps the last number.
var primes = []int{
	13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10273, 20753, 42043, 85229, 172933, 351061, 712697, 1447153,
	2938679, 5967347, 12117689,
}

// Len returns the number of keys.
func (u *Unordered) Len() int { return u.len }

// Clone returns a copy.
func (u *Unordered) Clone() Unordered {
	c := *u
	c.nodes, c.before, c.removed = slices.Clone(u.nodes), slices.Clone(u.before), slices.Clone(u.removed)
	return c
}

// All yields the indexes of the keys, as [Unordered.Insert] returned them, in the order of the map.
func (u *Unordered) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		if u.len == 0 {
			return
		}
		for i := u.nodes[0].next; i != absent; {
			next := u.nodes[i].next // the caller may remove the key
			if !yield(int(i)) {
				return
			}
			i = next
		}
	}
}

// Find returns the index of a key; ok is false if the map does not have the key.
func (u *Unordered) Find(key uint64) (index int, ok bool) {
	if u.len == 0 {
		return 0, false
	}
	prev := u.nodeBefore(key)
	if prev == absent {
		return 0, false
	}
	return int(u.nodes[prev].next), true
}

// Insert adds a key unless the map has it, and returns its index, from 1. The index of a removed key is used again.
func (u *Unordered) Insert(key uint64) (index int, added bool) {
	if u.nodes == nil {
		u.nodes, u.before = []node{{next: absent}}, []int32{absent}
	}
	if index, ok := u.Find(key); ok {
		return index, false
	}
	u.grow()
	u.len++
	i := int32(len(u.nodes))
	if n := len(u.removed); n > 0 {
		i, u.removed = u.removed[n-1], u.removed[:n-1]
		u.nodes[i].key = key
	} else {
		u.nodes = append(u.nodes, node{key: key})
	}
	bucket := u.bucket(i)
	if at := u.before[bucket]; at != absent {
		u.insertAfter(at, i)
		return int(i), true
	}
	u.insertAfter(0, i)
	u.before[bucket] = 0
	if next := u.nodes[i].next; next != absent {
		u.before[u.bucket(next)] = i
	}
	return int(i), true
}

// Remove removes a key and reports whether the map had it.
func (u *Unordered) Remove(key uint64) bool {
	if u.len == 0 {
		return false
	}
	prev := u.nodeBefore(key)
	if prev == absent {
		return false
	}
	i := u.nodes[prev].next
	bucket, next := u.bucket(i), u.nodes[i].next
	last := next == absent || u.bucket(next) != bucket
	if last && next != absent {
		u.before[u.bucket(next)] = prev
	}
	if last && u.before[bucket] == prev {
		u.before[bucket] = absent
	}
	u.nodes[prev].next = next
	u.removed = append(u.removed, i)
	u.len--
	return true
}

// nodeBefore returns the node before the node of a key, or absent.
func (u *Unordered) nodeBefore(key uint64) int32 {
	bucket := int(key % uint64(len(u.before)))
	prev := u.before[bucket]
	if prev == absent {
		return absent
	}
	for {
		i := u.nodes[prev].next
		if i == absent || u.bucket(i) != bucket {
			return absent
		}
		if u.nodes[i].key == key {
			return prev
		}
		prev = i
	}
}

func (u *Unordered) bucket(i int32) int { return int(u.nodes[i].key % uint64(len(u.before))) }

func (u *Unordered) insertAfter(at, i int32) {
	u.nodes[i].next, u.nodes[at].next = u.nodes[at].next, i
}

// grow (_Prime_rehash_policy) adds buckets if another key needs them, and inserts all keys again, in the order of the list.
func (u *Unordered) grow() {
	if u.len < u.limit {
		return
	}
	n := len(u.before)
	for _, p := range primes {
		if p >= 2*n && p > u.len+1 {
			n = p
			break
		}
	}
	u.limit = n
	if n == len(u.before) {
		u.limit = int(^uint(0) >> 1)
		return
	}
	u.before = make([]int32, n)
	for b := range u.before {
		u.before[b] = absent
	}
	i := u.nodes[0].next
	u.nodes[0].next = absent
	first := 0 // bucket of the first node
	for i != absent {
		next, bucket := u.nodes[i].next, u.bucket(i)
		if at := u.before[bucket]; at != absent {
			u.insertAfter(at, i)
		} else {
			u.insertAfter(0, i)
			u.before[bucket] = 0
			if u.nodes[i].next != absent {
				u.before[first] = i
			}
			first = bucket
		}
		i = next
	}
}
