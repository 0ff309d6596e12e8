package irpgo

import (
	"cmp"
	"slices"
	"strings"
)

// nameOrder returns the indices of names in bytewise order of the names, those
// of equal names ascending. Mangled names have long beginnings in common, which
// sorting by comparison looks at again and again; this sorts eight bytes at a
// time.
func nameOrder(n int, name func(i int) string) []int32 {
	if n == 0 {
		return nil
	}
	keys := make([]nameKey, n)
	for i := range keys {
		keys[i].index = int32(i)
	}
	sortNames(keys, name, 0)
	order := make([]int32, n)
	for i, k := range keys {
		order[i] = k.index
	}
	return order
}

// nameKey stands for a name: its eight bytes at the depth that is being
// sorted by, the first one highest, zeros after its end.
type nameKey struct {
	bytes uint64
	index int32
}

// fewNames are sorted by comparing whole names.
const fewNames = 12

// sortNames sorts names that do not differ before depth. It calls itself only
// for a part of them, so that long names do not make the calls deep.
func sortNames(keys []nameKey, name func(i int) string, depth int) {
	for ; ; depth += 8 {
		longer := false // a name goes beyond these eight bytes
		for i := range keys {
			s := name(int(keys[i].index))
			keys[i].bytes = bytesAt(s, depth)
			longer = longer || len(s) > depth+8
		}
		slices.SortFunc(keys, func(a, b nameKey) int { return cmp.Compare(a.bytes, b.bytes) })
		if keys[0].bytes != keys[len(keys)-1].bytes || !longer {
			break
		}
	}
	for len(keys) > 0 {
		n := 1
		for n < len(keys) && keys[n].bytes == keys[0].bytes {
			n++
		}
		run := keys[:n]
		keys = keys[n:]
		switch {
		case n == 1:
		case n <= fewNames || !slices.ContainsFunc(run, func(k nameKey) bool { return len(name(int(k.index))) > depth+8 }):
			// Names that ended differ in zeros at the end, if at all.
			slices.SortFunc(run, func(a, b nameKey) int {
				return cmp.Or(strings.Compare(name(int(a.index)), name(int(b.index))), cmp.Compare(a.index, b.index))
			})
		default:
			sortNames(run, name, depth+8)
		}
	}
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
