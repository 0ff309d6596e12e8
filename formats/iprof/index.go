package iprof

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// A contextIndex finds entries by their context: a hash table, with open addressing, of numbers of entries.
type contextIndex struct {
	at    func(entry uint32) []Frame
	slots []uint32 // entry + 1; 0 is free
	used  int
	seed  uint64 // random, so that no file can force collisions
}

func newContextIndex(at func(entry uint32) []Frame) contextIndex {
	return contextIndex{at: at, seed: rand.Uint64() | 1}
}

// find returns the entry with the context, or the slot to put it in.
func (x *contextIndex) find(c []Frame) (entry uint32, slot int, ok bool) {
	if len(x.slots) == 0 {
		return 0, 0, false
	}
	mask := len(x.slots) - 1
	for slot = int(x.hash(c)) & mask; ; slot = (slot + 1) & mask {
		switch e := x.slots[slot]; {
		case e == 0:
			return 0, slot, false
		case slices.Equal(x.at(e-1), c):
			return e - 1, slot, true
		}
	}
}

// add adds an entry whose context find did not find.
func (x *contextIndex) add(entry uint32, slot int) {
	if x.used*4 >= len(x.slots)*3 {
		x.grow()
		_, slot, _ = x.find(x.at(entry))
	}
	x.slots[slot] = entry + 1
	x.used++
}

func (x *contextIndex) grow() {
	old := x.slots
	x.slots = make([]uint32, max(64, 2*len(old)))
	for _, e := range old {
		if e != 0 {
			_, slot, _ := x.find(x.at(e - 1))
			x.slots[slot] = e
		}
	}
}

func (x *contextIndex) hash(c []Frame) uint32 {
	h := x.seed
	for _, f := range c {
		hi, lo := bits.Mul64(h^(uint64(uint32(f.Method))<<32|uint64(uint32(f.BCI))), 0x9e3779b97f4a7c15)
		h = hi ^ lo ^ x.seed
	}
	return uint32(h ^ h>>32)
}
