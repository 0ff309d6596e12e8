//go:build unix

package memlimit

import (
	"math"

	"golang.org/x/sys/unix"
)

// reserved is the approximate address space, in bytes, of Go's runtime and the program without the heap.
const reserved = 256 << 20

// process returns the limit on the memory of the process in bytes.
func process() int64 {
	var as unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &as) != nil || uint64(as.Cur) > math.MaxInt64/2 {
		return none
	}
	return max(int64(as.Cur)-reserved, int64(as.Cur)/2)
}
