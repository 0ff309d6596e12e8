package report

// A numbering numbers keys from 0 in the order of their first appearance. The zero value
// is empty.
type numbering[K comparable] struct {
	keys    []K // by number
	numbers map[K]int32
}

// of returns the number of a key.
func (n *numbering[K]) of(key K) int32 {
	i, ok := n.numbers[key]
	if !ok {
		if n.numbers == nil {
			n.numbers = make(map[K]int32)
		}
		i = int32(len(n.keys))
		n.numbers[key] = i
		n.keys = append(n.keys, key)
	}
	return i
}
