package covmap

import "runtime"

// inOrder calls make for the numbers from 0 to n-1 on all CPUs, and use with the
// results in order. make appends to memory that is used again after use. Not more
// results than a few per CPU exist at once.
func inOrder(n int, make_ func(i int, dst []byte) []byte, use func(text []byte) error) error {
	type result struct {
		text []byte
		done chan struct{}
	}
	var ahead []*result
	var spare [][]byte
	workers := runtime.GOMAXPROCS(0)
	next := 0
	for {
		for ; next < n && len(ahead) < 2*workers; next++ {
			r := &result{done: make(chan struct{})}
			if k := len(spare); k > 0 {
				r.text, spare = spare[k-1], spare[:k-1]
			}
			ahead = append(ahead, r)
			i := next
			go func() {
				r.text = make_(i, r.text)
				close(r.done)
			}()
		}
		if len(ahead) == 0 {
			return nil
		}
		r := ahead[0]
		ahead = append(ahead[:0], ahead[1:]...)
		<-r.done
		if err := use(r.text); err != nil {
			for _, r := range ahead {
				<-r.done
			}
			return err
		}
		spare = append(spare, r.text[:0])
	}
}
