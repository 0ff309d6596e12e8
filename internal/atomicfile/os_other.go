//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package atomicfile

import (
	"errors"
	"os"
)

// descriptor: there are no paths for open files here.
func descriptor(string) (fd int, ok bool) { return 0, false }

// duplicate knows standard output only, and lends it.
func duplicate(fd int, _ string) (f *os.File, shared bool, err error) {
	if fd != 1 {
		return nil, false, errors.ErrUnsupported
	}
	return os.Stdout, true, nil
}

func syncUnsupported(error) bool { return false }

// syncDir: a folder cannot be synced here; renaming is journaled by NTFS.
func syncDir(string) error { return nil }
