// Package densemap knows in what order LLVM's DenseMap and SmallDenseMap, with
// 64-bit integers for keys, have their entries: files that were written by
// walking over one have that order, too. It matters to no reader, only to who
// compares bytes.
package densemap

// A Hash is how a release of LLVM hashes integers
// (DenseMapInfo<uint64_t>::getHashValue).
type Hash func(key uint64) uint32

// Times37 is the hash before LLVM 19.
func Times37(key uint64) uint32 { return uint32(key * 37) }

// Mixed is the hash since LLVM 19.
func Mixed(key uint64) uint32 {
	key *= 0xbf58476d1ce4e5b9
	return uint32(key ^ key>>31)
}

// least is how many buckets there are once they do not fit the map itself.
const least = 64

// Order returns the indexes of the keys, which are distinct, in the order of a
// map into which they were inserted one by one. inline is the number of buckets
// in a SmallDenseMap itself, a power of two; 0 stands for a DenseMap.
func Order(keys []uint64, inline int, hash Hash) []int32 {
	if inline == 0 {
		inline = least
	}
	table := make([]int32, inline) // index plus 1; 0 if empty
	insert := func(i int32) {
		slot := hash(keys[i]) & uint32(len(table)-1)
		for step := uint32(1); table[slot] != 0; step++ {
			slot = (slot + step) & uint32(len(table)-1)
		}
		table[slot] = i + 1
	}
	for i := range keys {
		if 4*(i+1) >= 3*len(table) {
			old := table
			table = make([]int32, max(least, 2*len(table)))
			for _, o := range old {
				if o != 0 {
					insert(o - 1)
				}
			}
		}
		insert(int32(i))
	}
	order := make([]int32, 0, len(keys))
	for _, i := range table {
		if i != 0 {
			order = append(order, i-1)
		}
	}
	return order
}
