//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package filelock

// HasWriter reports that it does not know.
func HasWriter(int) (yes, known bool) { return false, false }
