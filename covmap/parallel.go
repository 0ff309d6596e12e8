package covmap

import "runtime"

// inOrder calls produce for the numbers from 0 to n-1 on all CPUs, and use with the
// results in order. produce appends to memory that is used again after use. Not more
// results than a few per CPU exist at once.
func inOrder[T any](n int, produce func(i int, dst []T) []T, use func(results []T) error) error {
	type result struct {
		list []T
		done chan struct{}
	}
	var ahead []*result
	var spare [][]T
	workers := runtime.GOMAXPROCS(0)
	next := 0
	for {
		for ; next < n && len(ahead) < 2*workers; next++ {
			r := &result{done: make(chan struct{})}
			if k := len(spare); k > 0 {
				r.list, spare = spare[k-1], spare[:k-1]
			}
			ahead = append(ahead, r)
			i := next
			go func() {
				r.list = produce(i, r.list)
				close(r.done)
			}()
		}
		if len(ahead) == 0 {
			return nil
		}
		r := ahead[0]
		ahead = append(ahead[:0], ahead[1:]...)
		<-r.done
		if err := use(r.list); err != nil {
			for _, r := range ahead {
				<-r.done
			}
			return err
		}
		spare = append(spare, r.list[:0])
	}
}
