package llvmorder

import "math/bits"

// smallSort is the greatest length of a range that is sorted by insertion, which keeps the order of equal elements.
const smallSort = 16

// Sort sorts s as std::sort of libstdc++ does, which LLVM is built with. It is an introsort, so the order of equal
// elements depends only on the comparisons. less must be a strict weak ordering.
func Sort[E any](s []E, less func(a, b E) bool) {
	if len(s) == 0 {
		return
	}
	t := sorter[E]{less}
	t.partition(s, 2*(bits.Len(uint(len(s)))-1))
	t.insertion(s[:min(len(s), smallSort)])
	for i := smallSort; i < len(s); i++ {
		t.insert(s, i)
	}
}

// A sorter has the functions of libstdc++'s bits/stl_algo.h and bits/stl_heap.h.
type sorter[E any] struct{ less func(a, b E) bool }

// partition (__introsort_loop) sorts s except inside ranges of at most smallSort elements. At depth 0 it sorts by heap.
func (t sorter[E]) partition(s []E, depth int) {
	for ; len(s) > smallSort; depth-- {
		if depth == 0 {
			t.heap(s)
			return
		}
		t.medianToFirst(s, 1, len(s)/2, len(s)-1)
		cut := t.split(s)
		t.partition(s[cut:], depth-1)
		s = s[:cut]
	}
}

// medianToFirst (__move_median_to_first) swaps the median of three elements with the first of s.
func (t sorter[E]) medianToFirst(s []E, a, b, c int) {
	median := c
	switch ab, bc, ac := t.less(s[a], s[b]), t.less(s[b], s[c]), t.less(s[a], s[c]); {
	case ab && bc, !ab && !ac && !bc:
		median = b
	case ab && !ac, !ab && ac:
		median = a
	}
	s[0], s[median] = s[median], s[0]
}

// split (__unguarded_partition) moves the elements less than the first element to the front, and
// returns the index of the first other element.
func (t sorter[E]) split(s []E) int {
	pivot := s[0]
	for i, j := 1, len(s); ; i++ {
		for t.less(s[i], pivot) {
			i++
		}
		for j--; t.less(pivot, s[j]); j-- {
		}
		if i >= j {
			return i
		}
		s[i], s[j] = s[j], s[i]
	}
}

// insertion (__insertion_sort) sorts s and keeps the order of equal elements.
func (t sorter[E]) insertion(s []E) {
	for i := 1; i < len(s); i++ {
		if v := s[i]; t.less(v, s[0]) {
			copy(s[1:], s[:i])
			s[0] = v
		} else {
			t.insert(s, i)
		}
	}
}

// insert (__unguarded_linear_insert) moves element i down into the sorted elements before it.
// The first element must not be greater.
func (t sorter[E]) insert(s []E, i int) {
	v := s[i]
	for ; t.less(v, s[i-1]); i-- {
		s[i] = s[i-1]
	}
	s[i] = v
}

// heap (__partial_sort of all elements) sorts s.
func (t sorter[E]) heap(s []E) {
	for parent := (len(s) - 2) / 2; parent >= 0; parent-- {
		t.sift(s, parent, s[parent])
	}
	for last := len(s) - 1; last > 0; last-- {
		v := s[last]
		s[last] = s[0]
		t.sift(s[:last], 0, v)
	}
}

// sift (__adjust_heap) moves the hole of a heap down to a leaf, filling it with the greater child
// each time, and then moves v up from there.
func (t sorter[E]) sift(s []E, hole int, v E) {
	top, child := hole, hole
	for child < (len(s)-1)/2 {
		child = 2 * (child + 1)
		if t.less(s[child], s[child-1]) {
			child--
		}
		s[hole], hole = s[child], child
	}
	if len(s)%2 == 0 && child == (len(s)-2)/2 {
		child = 2*child + 1
		s[hole], hole = s[child], child
	}
	for hole > top {
		parent := (hole - 1) / 2
		if !t.less(s[parent], v) {
			break
		}
		s[hole], hole = s[parent], parent
	}
	s[hole] = v
}
