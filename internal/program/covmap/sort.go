package covmap

// A runSorter sorts lists that consist of ascending runs, such as the regions of several functions,
// in memory that it reuses.
type runSorter[T any] struct {
	ends  []int // of the runs
	spare []T
}

// sort sorts a list in place and keeps the order of equal elements. If join is not nil, sort joins
// equal elements into the first of them and drops the others.
func (s *runSorter[T]) sort(list []T, compare func(a, b *T) int, join func(to, other *T)) []T {
	s.ends = s.ends[:0]
	n := 0 // elements of the runs
	for i := range list {
		if n > 0 {
			c := compare(&list[n-1], &list[i])
			if c == 0 && join != nil {
				join(&list[n-1], &list[i])
				continue
			}
			if c > 0 {
				s.ends = append(s.ends, n)
			}
		}
		if n < i {
			list[n] = list[i]
		}
		n++
	}
	s.ends = append(s.ends, n)
	from, to := list[:n], s.spare
	for len(s.ends) > 1 {
		to = to[:0]
		kept, start := s.ends[:0], 0
		for i := 0; i < len(s.ends); i += 2 {
			middle, end := s.ends[i], s.ends[min(i+1, len(s.ends)-1)]
			to = merge(to, from[start:middle], from[middle:end], compare, join)
			kept, start = append(kept, len(to)), end
		}
		s.ends = kept
		from, to = to, from
	}
	if n := len(from); n > 0 && &from[0] != &list[0] {
		copy(list, from)
		s.spare = from
	} else {
		s.spare = to
	}
	return list[:len(from)]
}

func merge[T any](dst, left, right []T, compare func(a, b *T) int, join func(to, other *T)) []T {
	for len(left) > 0 && len(right) > 0 {
		c := compare(&left[0], &right[0])
		if c > 0 {
			dst, right = append(dst, right[0]), right[1:]
			continue
		}
		dst, left = append(dst, left[0]), left[1:]
		if c == 0 && join != nil {
			join(&dst[len(dst)-1], &right[0])
			right = right[1:]
		}
	}
	return append(append(dst, left...), right...)
}
