//go:build !unix && !windows

package memlimit

// process returns the limit on the memory of the process in bytes.
func process() int64 { return none }
