package irpgo

import (
	"cmp"
	"slices"

	"github.com/profuse-pgo/profuse/internal/llvmorder"
)

// The order of names and records in an indexed file is that of LLVM's hash
// maps. It matters to no reader, only to whoever compares bytes.

// release says how the LLVM releases that write a version order things.
type release struct {
	sortedKeys bool // names sorted bytewise; before LLVM 17 in StringMap order
	hash       llvmorder.Hash
}

// releaseOf maps an LLVM major release to its ordering. Verified against 14,
// 16, 19 and 22; 17 and 18 follow from their sources.
func releaseOf(llvm int) release {
	r := release{sortedKeys: llvm >= 17, hash: llvmorder.Times37}
	if llvm >= 19 {
		r.hash = llvmorder.Mixed
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
	for i, at := range llvmorder.DenseMap(hashes, 4, rel.hash) {
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
	ordered := make([]*Function, len(bySeq))
	for i, at := range llvmorder.StringMap(len(bySeq), func(i int) string { return bySeq[i].Name }) {
		ordered[i] = bySeq[at]
	}
	return ordered
}
