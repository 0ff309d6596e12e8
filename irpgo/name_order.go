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
	keys := make([]nameKey, n)
	for i := range keys {
		keys[i].index = int32(i)
	}
	sortNames(keys, make([]nameKey, n), name, 0)
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
const fewNames = 24

// sortNames sorts names that do not differ before depth, with memory for as
// many. It calls itself only for a part of them, so that long names do not make
// the calls deep.
func sortNames(keys, memory []nameKey, name func(i int) string, depth int) {
	byName := func(a, b nameKey) int {
		return cmp.Or(strings.Compare(name(int(a.index)), name(int(b.index))), cmp.Compare(a.index, b.index))
	}
	if len(keys) <= fewNames {
		slices.SortFunc(keys, byName)
		return
	}
	for depth += inCommon(keys, name, depth); ; depth += 8 {
		longer := false // a name goes beyond these eight bytes
		differ := uint64(0)
		for i := range keys {
			s := name(int(keys[i].index))
			keys[i].bytes = bytesAt(s, depth)
			differ |= keys[i].bytes ^ keys[0].bytes
			longer = longer || len(s) > depth+8
		}
		if differ != 0 {
			sortBytes(keys, memory, differ)
			break
		}
		if !longer {
			slices.SortFunc(keys, byName) // they differ in zeros at the end, if at all
			return
		}
	}
	for len(keys) > 0 {
		n := 1
		for n < len(keys) && keys[n].bytes == keys[0].bytes {
			n++
		}
		if n > 1 {
			sortNames(keys[:n], memory[:n], name, depth+8)
		}
		keys, memory = keys[n:], memory[n:]
	}
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

// sortBytes sorts by bytes, of which only those set in differ are not the same
// for all, one after the other from the lowest up. It is stable.
func sortBytes(keys, memory []nameKey, differ uint64) {
	from, to := keys, memory
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xff == 0 {
			continue
		}
		var starts [257]int
		for i := range from {
			starts[from[i].bytes>>shift&0xff+1]++
		}
		for i := range 256 {
			starts[i+1] += starts[i]
		}
		for i := range from {
			b := from[i].bytes >> shift & 0xff
			to[starts[b]] = from[i]
			starts[b]++
		}
		from, to = to, from
	}
	if &from[0] != &keys[0] {
		copy(keys, from)
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
