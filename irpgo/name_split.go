package irpgo

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// nameKey stands for a name: its eight bytes at the depth that is being looked
// at, the first one highest, zeros after its end.
type nameKey struct {
	bytes uint64
	index int32
}

// newNameKeys returns the keys of n names for the first bytes in which they
// differ.
func newNameKeys(n int, name func(i int) string) []nameKey {
	keys := make([]nameKey, n)
	for i := range keys {
		keys[i].index = int32(i)
	}
	setBytes(keys, 0, name)
	return keys
}

// setBytes sets the keys to the first bytes from depth on in which their names
// differ, and returns the depth of the bytes after these.
func setBytes(keys []nameKey, depth int, name func(i int) string) int {
	if len(keys) > 0 {
		depth += inCommon(keys, name, depth)
	}
	for i := range keys {
		keys[i].bytes = bytesAt(name(int(keys[i].index)), depth)
	}
	return depth + 8
}

// selectNames arranges keys made by newNameKeys so that the n names that come
// first in bytewise order come first, in any order. That takes a fraction of the
// time of sorting them.
func selectNames(keys []nameKey, n int, name func(i int) string) { selectAt(keys, n, name, 0) }

// selectAt is selectNames for names that do not differ before a depth.
func selectAt(keys []nameKey, n int, name func(i int) string, depth int) {
	const few = 24
	from, to := selectBytes(keys, n)
	same := keys[from:to]
	switch {
	case n == from || n == to:
	case len(same) <= few, depth > 1<<10: // names of hostile files may end in any number of zeros
		slices.SortFunc(same, func(a, b nameKey) int { return strings.Compare(name(int(a.index)), name(int(b.index))) })
	default: // the keys keep these bytes
		deeper := slices.Clone(same)
		depth = setBytes(deeper, depth, name)
		selectAt(deeper, n-from, name, depth)
		for i := range same {
			same[i].index = deeper[i].index
		}
	}
}

// selectBytes arranges keys so that the bytes of the first n are not above those
// of the others. It returns the range of those that equal the n-th, counted from
// 0.
func selectBytes(keys []nameKey, n int) (from, to int) {
	from, to = 0, len(keys)
	for from < to {
		pivot := keys[from+rand.IntN(to-from)].bytes
		less, equal, greater := from, from, to
		for equal < greater {
			switch b := keys[equal].bytes; {
			case b < pivot:
				keys[less], keys[equal] = keys[equal], keys[less]
				less++
				equal++
			case b == pivot:
				equal++
			default:
				greater--
				keys[equal], keys[greater] = keys[greater], keys[equal]
			}
		}
		switch {
		case n < less:
			to = less
		case n >= greater:
			from = greater
		default:
			return less, greater
		}
	}
	return from, to
}

// inCommon returns how many bytes all names have in common from depth on.
func inCommon(keys []nameKey, name func(i int) string, depth int) int {
	rest := func(k nameKey) string {
		s := name(int(k.index))
		return s[min(depth, len(s)):]
	}
	common := rest(keys[0])
	for _, k := range keys[1:] {
		s := rest(k)
		n := min(len(s), len(common))
		i := 0
		for i+8 <= n && s[i:i+8] == common[i:i+8] {
			i += 8
		}
		for i < n && s[i] == common[i] {
			i++
		}
		if common = common[:i]; i == 0 {
			break
		}
	}
	return len(common)
}

func bytesAt(s string, depth int) (key uint64) {
	if depth+8 <= len(s) {
		s = s[depth : depth+8]
		return uint64(s[0])<<56 | uint64(s[1])<<48 | uint64(s[2])<<40 | uint64(s[3])<<32 |
			uint64(s[4])<<24 | uint64(s[5])<<16 | uint64(s[6])<<8 | uint64(s[7])
	}
	for i := range 8 {
		key <<= 8
		if depth+i < len(s) {
			key |= uint64(s[depth+i])
		}
	}
	return key
}
