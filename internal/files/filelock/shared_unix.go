//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package filelock

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Share reports whether another process holds an exclusive fcntl lock (F_SETLK) on an open file, as
// LLVM's profile runtime does while it adds to a file ("%m"). It takes no lock, because closing any
// descriptor of the file would end the lock.
func Share(fd int) (busy bool) {
	lock := unix.Flock_t{Type: unix.F_RDLCK}
	for {
		err := unix.FcntlFlock(uintptr(fd), unix.F_GETLK, &lock)
		if err != unix.EINTR {
			return err == nil && lock.Type != unix.F_UNLCK
		}
	}
}

// Unshare does nothing.
func Unshare(int) {}

// Exclude fails: no lock of this system belongs to a descriptor.
func Exclude(int) error { return errors.ErrUnsupported }

// HasWriter reports that it does not know.
func HasWriter(int) (yes, known bool) { return false, false }
