//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package filelock

import "errors"

// Exclude fails: no lock of this system belongs to a descriptor.
func Exclude(int) error { return errors.ErrUnsupported }

// HasWriter reports that it does not know.
func HasWriter(int) (yes, known bool) { return false, false }
