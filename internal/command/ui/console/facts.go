package console

import (
	"slices"

	"github.com/profuse-pgo/profuse/profile"
)

// Cutoff is an entry of a summary.
type Cutoff struct {
	Cutoff uint64 `json:"cutoff"` // share of the total count, in millionths
	// Counters is how many of the greatest counters make up the cutoff, MinCount the least of them.
	MinCount uint64 `json:"min_count"`
	Counters uint64 `json:"counters"`
}

// NewCutoffs converts the cutoffs of a distribution, without null in JSON.
func NewCutoffs(from profile.Cutoffs) []Cutoff {
	out := make([]Cutoff, len(from))
	for i, c := range from {
		out[i] = Cutoff{Cutoff: c.Share, MinCount: c.Min, Counters: c.Values}
	}
	return out
}

// Symbol names a function or another symbol in three ways.
type Symbol struct {
	Name      string `json:"name"`      // as in the profile; "" if unknown
	Demangled string `json:"demangled"` // without the file
	File      string `json:"file"`      // of a function of local linkage, else ""
}

// InsertBounded inserts e into a list that is sorted by order, before equal elements, and returns the
// first limit elements of the list.
func InsertBounded[E any](list []E, e E, limit int, order func(a, b E) int) []E {
	i, _ := slices.BinarySearchFunc(list, e, order)
	if i == limit {
		return list
	}
	list = slices.Insert(list, i, e)
	return list[:min(len(list), limit)]
}
