package covmap

import (
	"runtime"
	"sync"
)

// spares are values that workers use one after the other. Unlike a sync.Pool, which the runtime keeps for two
// cycles of the collector, they go with what they are part of: many short-lived pools, each with the memory of its
// workers, would let the heap grow without limit.
type spares[T any] struct {
	mu   sync.Mutex
	free []*T
}

// get returns a spare value, or nil.
func (s *spares[T]) get() *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.free)
	if n == 0 {
		return nil
	}
	v := s.free[n-1]
	s.free = s.free[:n-1]
	return v
}

func (s *spares[T]) put(v *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, v)
}

// maxAhead is the largest number of elements that a producer of [inOrder] holds.
const maxAhead = 1 << 20

// A producer makes a part of the results of [inOrder].
type producer[T any] struct {
	parts chan []T
	used  chan struct{}
	done  chan struct{}
	list  []T
}

// pass returns list unless it is long. A long list is used, after all earlier results, and returned empty.
func (p *producer[T]) pass(list []T) []T {
	if len(list) < maxAhead {
		return list
	}
	p.parts <- list
	<-p.used
	return list[:0]
}

// inOrder calls produce for the numbers from 0 to n-1 on all CPUs, and use with the results in order.
// produce appends to memory that is reused after use; it should pass a long result on in parts. At
// most a few results per CPU exist at once.
func inOrder[T any](n int, produce func(i int, p *producer[T], dst []T) []T, use func(results []T) error) error {
	var ahead []*producer[T]
	var spare [][]T
	workers := runtime.GOMAXPROCS(0)
	var err error
	next := 0
	for {
		for ; err == nil && next < n && len(ahead) < 2*workers; next++ {
			p := &producer[T]{parts: make(chan []T), used: make(chan struct{}), done: make(chan struct{})}
			if k := len(spare); k > 0 {
				p.list, spare = spare[k-1], spare[:k-1]
			}
			ahead = append(ahead, p)
			i := next
			go func() {
				p.list = produce(i, p, p.list)
				close(p.done)
			}()
		}
		if len(ahead) == 0 {
			return err
		}
		p := ahead[0]
		ahead = append(ahead[:0], ahead[1:]...)
		for waiting := true; waiting; {
			select {
			case part := <-p.parts:
				if err == nil {
					err = use(part)
				}
				p.used <- struct{}{}
			case <-p.done:
				waiting = false
			}
		}
		if err == nil {
			err = use(p.list)
		}
		spare = append(spare, p.list[:0])
	}
}
