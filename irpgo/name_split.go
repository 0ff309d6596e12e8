package irpgo

import (
	"cmp"
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
	if n > 0 {
		depth := inCommon(keys, name, 0)
		for i := range keys {
			keys[i].bytes = bytesAt(name(i), depth)
		}
	}
	return keys
}

// fewNames are sorted by comparing whole names.
const fewNames = 24

// splitNames arranges keys so that, for each n in at, the n names that come
// first in bytewise order come first, in any order. That takes a fraction of
// the time of sorting them. at is ascending and within the number of keys. The
// names must differ from each other, and not before depth.
func splitNames(keys []nameKey, at []int, name func(i int) string, depth int) {
	for len(at) > 0 && at[0] == 0 {
		at = at[1:]
	}
	for len(at) > 0 && at[len(at)-1] == len(keys) {
		at = at[:len(at)-1]
	}
	if len(at) == 0 {
		return
	}
	if len(keys) <= fewNames {
		slices.SortFunc(keys, func(a, b nameKey) int { return strings.Compare(name(int(a.index)), name(int(b.index))) })
		return
	}
	depth += inCommon(keys, name, depth)
	longer := false // a name goes beyond the next eight bytes
	for i := range keys {
		s := name(int(keys[i].index))
		keys[i].bytes = bytesAt(s, depth)
		longer = longer || len(s) > depth+8
	}
	if !longer { // names that have these bytes in common differ in zeros at the end
		slices.SortFunc(keys, func(a, b nameKey) int {
			return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(len(name(int(a.index))), len(name(int(b.index)))))
		})
		return
	}
	for len(at) > 0 {
		// From the last one down, for what comes after it matters no more.
		n := at[len(at)-1]
		from, to := splitBytes(keys, n)
		same := len(at) // the first of at that lies where n does
		for same > 0 && at[same-1] > from {
			same--
		}
		inside := make([]int, 0, len(at)-same)
		for _, n := range at[same:] {
			inside = append(inside, n-from)
		}
		splitNames(keys[from:to], inside, name, depth+8)
		keys, at = keys[:from], at[:same]
		for len(at) > 0 && at[len(at)-1] == from {
			at = at[:len(at)-1]
		}
	}
}

// splitBytes arranges keys so that the bytes of the first n are not above those
// of the others. It returns where those lie that equal the n-th, counted from
// 0; if those before n all are less, not all of them may lie there.
func splitBytes(keys []nameKey, n int) (from, to int) {
	from, to = 0, len(keys)
	for shift := 56; shift >= 0 && from < n; shift -= 8 {
		part := keys[from:to]
		var number [256]int
		for i := range part {
			number[part[i].bytes>>shift&0xff]++
		}
		if number[part[0].bytes>>shift&0xff] == len(part) {
			continue
		}
		pivot, below := 0, 0
		for below+number[pivot] <= n-from {
			below += number[pivot]
			pivot++
		}
		less, equal, greater := 0, 0, len(part)
		for equal < greater {
			switch b := int(part[equal].bytes >> shift & 0xff); {
			case b < pivot:
				part[less], part[equal] = part[equal], part[less]
				less++
				equal++
			case b == pivot:
				equal++
			default:
				greater--
				part[equal], part[greater] = part[greater], part[equal]
			}
		}
		from, to = from+less, from+greater
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
