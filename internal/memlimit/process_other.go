//go:build !unix && !windows

package memlimit

func process() int64 { return none }
