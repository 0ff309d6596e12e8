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

// Sync makes sure that a file is on the disk. Its name is as durable as the
// system makes it.
func Sync(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// syncPath: a folder cannot be synced here; renaming is journaled by NTFS.
func syncPath(string) error { return nil }
