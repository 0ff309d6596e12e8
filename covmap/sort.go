package covmap

// A runSorter sorts lists that consist of ascending runs, as those of functions are, one
// after the other. It holds memory for the next list.
type runSorter[T any] struct {
	ends  []int // of the runs
	spare []T
	moved T
}

// sort sorts a list and keeps the order of equal elements.
func (s *runSorter[T]) sort(list []T, compare func(a, b *T) int) {
	const least = 16 // length of a run; shorter ones are extended by insertion
	s.ends = s.ends[:0]
	for start := 0; start < len(list); {
		end := start + 1
		for end < len(list) && compare(&list[end-1], &list[end]) <= 0 {
			end++
		}
		for ; end < min(start+least, len(list)); end++ {
			i := end
			s.moved = list[end]
			for ; i > start && compare(&s.moved, &list[i-1]) < 0; i-- {
				list[i] = list[i-1]
			}
			list[i] = s.moved
		}
		s.ends = append(s.ends, end)
		start = end
	}
	for len(s.ends) > 1 {
		kept, start := s.ends[:0], 0
		for i := 0; i < len(s.ends); i += 2 {
			end := s.ends[min(i+1, len(s.ends)-1)]
			if middle := s.ends[i]; middle < end {
				s.merge(list[start:end], middle-start, compare)
			}
			kept, start = append(kept, end), end
		}
		s.ends = kept
	}
}

// merge merges the sorted halves of a list.
func (s *runSorter[T]) merge(list []T, middle int, compare func(a, b *T) int) {
	if compare(&list[middle-1], &list[middle]) <= 0 {
		return
	}
	s.spare = append(s.spare[:0], list[:middle]...)
	left, right := s.spare, list[middle:]
	for len(left) > 0 && len(right) > 0 {
		if compare(&left[0], &right[0]) <= 0 {
			list[0], left = left[0], left[1:]
		} else {
			list[0], right = right[0], right[1:]
		}
		list = list[1:]
	}
	copy(list, left)
}
