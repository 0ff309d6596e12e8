//go:build unix

package memlimit

import (
	"math"

	"golang.org/x/sys/unix"
)

// reserved is about how much address space, in bytes, Go's runtime and the program take
// beside the heap.
const reserved = 256 << 20

// process returns the limit on the memory of the process in bytes.
func process() int64 {
	var as unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &as) != nil || uint64(as.Cur) > math.MaxInt64/2 {
		return none
	}
	return max(int64(as.Cur)-reserved, int64(as.Cur)/2)
}
