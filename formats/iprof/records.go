package iprof

import "iter"

// A branch is one record of [Conditionals]: an outcome of a conditional. Cases of a
// switch with a common target have one record with the target and the count of all, and
// one with unknownBCI and count 0 for each case beyond the first, all with one index.
type branch struct {
	Target int32
	Index  int32 // position of the outcome in the compiler; not unique
	Count  int64
}

// branchesIn iterates over records of [Conditionals].
func branchesIn(records []int64) iter.Seq[branch] {
	return func(yield func(branch) bool) {
		for ; len(records) >= 3; records = records[3:] {
			if !yield(branch{int32(records[0]), int32(records[1]), records[2]}) {
				return
			}
		}
	}
}

// A typeCount is one record of the kinds that have types.
type typeCount struct {
	Type  TypeID
	Count int64
}

// typeCountsIn iterates over records of pairs of type and count.
func typeCountsIn(records []int64) iter.Seq[typeCount] {
	return func(yield func(typeCount) bool) {
		for ; len(records) >= 2; records = records[2:] {
			if !yield(typeCount{TypeID(records[0]), records[1]}) {
				return
			}
		}
	}
}
