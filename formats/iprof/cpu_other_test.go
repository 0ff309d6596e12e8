//go:build !unix

package iprof

import "time"

// cpuTime returns the CPU time of the process so far, 0 where it is unknown.
func cpuTime() time.Duration { return 0 }
