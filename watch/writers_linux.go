package watch

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// hasWriter reports whether a process has the file open for writing or mapped writable.
// Linux grants a read lease, which hasWriter returns at once, only if there is none.
// known is false if the file belongs to another user or the file system has no leases.
func hasWriter(path string) (yes, known bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return false, false
	}
	defer f.Close()
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	switch {
	case errors.Is(err, unix.EAGAIN):
		return true, true
	case err != nil:
		return false, false
	}
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	return false, err == nil
}
