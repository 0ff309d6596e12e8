// Package parallel does the same with many things on all CPUs.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do with the numbers from 0 to n-1, as many at a time as there are CPUs, and returns after the last call.
func Each(n int, do func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	workers.Wait()
}
