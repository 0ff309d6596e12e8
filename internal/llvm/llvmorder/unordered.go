package llvmorder

import (
	"iter"
	"slices"
)

// An Unordered has its keys in the order of a std::unordered_map of libstdc++ whose
// keys are 64-bit numbers that are their own hashes. The zero value is empty.
//
// All keys are one list. Those of a bucket are next to each other in it; a bucket is
// known by the node before its first one.
type Unordered struct {
	nodes   []node  // the first one only begins the list
	before  []int32 // by bucket, the node before its first one; absent if it is empty
	limit   int     // number of keys from which on buckets are added
	len     int
	removed []int32 // nodes to use again
}

type node struct {
	key  uint64
	next int32
}

const absent = -1

// primes are the numbers of buckets that a map goes through while it grows
// (__prime_list of libstdc++, doubled each time). A larger map keeps the last one.
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

// All yields the places of the keys in the order of the map: numbers from 1 up, as
// [Unordered.Insert] returned them.
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

// Find returns the place of a key; ok is false if the map does not have it.
func (u *Unordered) Find(key uint64) (place int, ok bool) {
	if u.len == 0 {
		return 0, false
	}
	prev := u.find(key)
	if prev == absent {
		return 0, false
	}
	return int(u.nodes[prev].next), true
}

// Insert adds a key unless the map has it, and returns its place. A place is used again
// once its key was removed.
func (u *Unordered) Insert(key uint64) (place int, added bool) {
	if u.nodes == nil {
		u.nodes, u.before = []node{{next: absent}}, []int32{absent}
	}
	if place, ok := u.Find(key); ok {
		return place, false
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
	prev := u.find(key)
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

// find returns the node before that of a key, or absent.
func (u *Unordered) find(key uint64) int32 {
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

// grow adds buckets if one key more needs them (_Prime_rehash_policy), and inserts
// all keys anew, in the order of the list.
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
