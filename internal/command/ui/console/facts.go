package console

import (
	"slices"
)

// Cutoff is an entry of a summary.
type Cutoff struct {
	Cutoff uint64 `json:"cutoff"` // share of the total count, in millionths
	// MinCount is the least count among the Counters greatest ones, which add up to the
	// cutoff.
	MinCount uint64 `json:"min_count"`
	Counters uint64 `json:"counters"`
}

// Symbol names a function or another symbol in three ways.
type Symbol struct {
	Name      string `json:"name"`      // as in the profile; "" if unknown
	Demangled string `json:"demangled"` // without the file
	File      string `json:"file"`      // of a function of local linkage, else ""
}

// InsertBounded inserts into a sorted list that holds no more than limit. The list is sorted
// by order; of equal elements the new one comes first. An element that would be behind the
// limit is dropped.
func InsertBounded[E any](list []E, e E, limit int, order func(a, b E) int) []E {
	i, _ := slices.BinarySearchFunc(list, e, order)
	if i == limit {
		return list
	}
	list = slices.Insert(list, i, e)
	return list[:min(len(list), limit)]
}
