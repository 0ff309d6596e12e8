package dwarf

// SortByAddress sorts a list by the addresses of its elements, and keeps the order of elements with one address.
// It is a radix sort over the bytes in which the addresses differ: two or three within a unit, three or four in a
// program. A comparing sort makes a lookup of many addresses an eighth slower.
func SortByAddress[T any](list []T, addr func(*T) uint64) {
	and, or := ^uint64(0), uint64(0)
	for i := range list {
		and &= addr(&list[i])
		or |= addr(&list[i])
	}
	from, to := list, make([]T, len(list))
	for shift := 0; shift < 64; shift += 8 {
		if (and^or)>>shift&0xff == 0 {
			continue
		}
		var next [256]int
		for i := range from {
			next[addr(&from[i])>>shift&0xff]++
		}
		sum := 0
		for i, n := range next {
			next[i] = sum
			sum += n
		}
		for i := range from {
			digit := addr(&from[i]) >> shift & 0xff
			to[next[digit]] = from[i]
			next[digit]++
		}
		from, to = to, from
	}
	copy(list, from)
}
