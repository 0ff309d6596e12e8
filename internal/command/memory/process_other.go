//go:build !unix && !windows

package memory

// process returns the limit on the memory of the process in bytes.
func process() int64 { return none }
