package irpgo

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/densemap"
)

// The order of records in an indexed file is the iteration order of LLVM's
// hash maps; this file reproduces it. It matters to no reader, only to who
// compares bytes.

// release says how the LLVM releases that write a version order things.
type release struct {
	sortedKeys bool // names sorted bytewise; before LLVM 17 in StringMap order
	hash       densemap.Hash
}

// releaseOf maps an LLVM major release to its ordering. Verified against 14,
// 16, 19 and 22; 17 and 18 follow from their sources.
func releaseOf(llvm int) release {
	r := release{sortedKeys: llvm >= 17, hash: densemap.Times37}
	if llvm >= 19 {
		r.hash = densemap.Mixed
	}
	return r
}

// recordOrder returns the order in which LLVM emits the records of one name:
// that of a SmallDenseMap<uint64_t, …, 4> into which the hashes were inserted
// in the given order.
func recordOrder(records []*Record, rel release) []*Record {
	if len(records) < 2 {
		return records
	}
	hashes := make([]uint64, len(records))
	for i, r := range records {
		hashes[i] = r.Hash
	}
	ordered := make([]*Record, len(records))
	for i, at := range densemap.Order(hashes, 4, rel.hash) {
		ordered[i] = records[at]
	}
	return ordered
}

// keyOrder returns the functions in the order in which LLVM inserts their
// names into the on-disk table. functions must be sorted by name.
func keyOrder(functions []*Function, rel release) []*Function {
	if rel.sortedKeys {
		return functions
	}
	bySeq := slices.Clone(functions)
	slices.SortStableFunc(bySeq, func(a, b *Function) int { return cmp.Compare(a.seq, b.seq) })
	return stringMapOrder(bySeq)
}

// stringMapOrder is the iteration order of LLVM's StringMap up to release 16
// after inserting the names in the given order.
func stringMapOrder(functions []*Function) []*Function {
	type slot struct {
		f    *Function
		hash uint32
	}
	table := make([]slot, 16)
	place := func(s slot) {
		i := s.hash & uint32(len(table)-1)
		for step := uint32(1); table[i].f != nil; step++ {
			i = (i + step) & uint32(len(table)-1)
		}
		table[i] = s
	}
	rehash := func(size int) {
		old := table
		table = make([]slot, size)
		for _, s := range old {
			if s.f != nil {
				place(s)
			}
		}
	}
	for i, f := range functions {
		place(slot{f, djbHash(f.Name)})
		n := i + 1
		switch {
		case 4*n > 3*len(table):
			rehash(2 * len(table))
		case len(table)-n <= len(table)/8:
			rehash(len(table))
		}
	}
	out := functions[:0:0]
	for _, s := range table {
		if s.f != nil {
			out = append(out, s.f)
		}
	}
	return out
}

func djbHash(s string) uint32 {
	h := uint32(0)
	for i := range len(s) {
		h = h*33 + uint32(s[i])
	}
	return h
}
