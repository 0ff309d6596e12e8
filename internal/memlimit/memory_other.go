//go:build !linux && !darwin && !windows

package memlimit

// machine returns none: the memory of the machine is unknown.
func machine() int64 { return none }
