// Package addup adds up what lists have several times.
package addup

import "slices"

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
	slices.SortStableFunc(list, func(a, b E) int { return compare(&a, &b) })
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
