// Package addup adds up what lists have several times.
package addup

import "sort"

// fewElements is up to how many elements a list is sorted by insertion, as most are.
const fewElements = 12

// Equal sorts a list, in place, and adds up the elements that compare as equal, in their
// order: add adds one to the first of them.
func Equal[E any](list []E, compare func(a, b *E) int, add func(to, from *E)) []E {
	n := 1
	for n < len(list) && compare(&list[n-1], &list[n]) < 0 {
		n++
	}
	if n >= len(list) { // as most lists are
		return list
	}
	sortStable(list, n, compare)
	n = 1
	for i := 1; i < len(list); i++ {
		if compare(&list[n-1], &list[i]) == 0 {
			add(&list[n-1], &list[i])
			continue
		}
		list[n] = list[i]
		n++
	}
	clear(list[n:])
	return list[:n]
}

// sortStable sorts a list whose first n elements are sorted. It compares elements where they are:
// copies to compare would be allocated, for compare is not known.
func sortStable[E any](list []E, n int, compare func(a, b *E) int) {
	if len(list) > fewElements {
		sort.Stable(sorter[E]{list, compare})
		return
	}
	for ; n < len(list); n++ {
		for i := n; i > 0 && compare(&list[i-1], &list[i]) > 0; i-- {
			list[i-1], list[i] = list[i], list[i-1]
		}
	}
}

// A sorter is the list for package sort.
type sorter[E any] struct {
	list    []E
	compare func(a, b *E) int
}

func (s sorter[E]) Len() int           { return len(s.list) }
func (s sorter[E]) Less(i, j int) bool { return s.compare(&s.list[i], &s.list[j]) < 0 }
func (s sorter[E]) Swap(i, j int)      { s.list[i], s.list[j] = s.list[j], s.list[i] }
