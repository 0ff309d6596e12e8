//go:build !linux && !darwin && !windows

package memlimit

// machine returns the memory of the machine in bytes, which it does not know here.
func machine() int64 { return none }
