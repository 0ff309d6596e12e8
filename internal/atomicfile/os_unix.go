//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// descriptor reports whether name, taken literally, stands for an open file of
// this process, and which.
func descriptor(name string) (fd int, ok bool) {
	switch name = filepath.Clean(name); name {
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	switch dir, base := filepath.Split(name); dir {
	case "/dev/fd/", "/proc/self/fd/", "/proc/" + strconv.Itoa(os.Getpid()) + "/fd/":
		n, err := strconv.ParseUint(base, 10, 31)
		return int(n), err == nil
	}
	return 0, false
}

// duplicate duplicates a descriptor, so that closing the output does not close
// standard output under the rest of the program.
func duplicate(fd int, name string) (f *os.File, shared bool, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	n, err := syscall.Dup(fd)
	if err != nil {
		return nil, false, err
	}
	syscall.CloseOnExec(n)
	return os.NewFile(uintptr(n), name), false, nil
}

// syncUnsupported reports whether a file system has no fsync to offer, which
// some network and user-space ones say in these words.
func syncUnsupported(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS)
}

// Sync makes sure that a file and its name are on the disk, where that can be
// asked for.
func Sync(path string) error {
	if err := syncPath(path); err != nil {
		return err
	}
	return syncPath(dir(path))
}

// syncPath syncs a file, or what was renamed in a folder. One that may be
// written but not read cannot be opened for that, and is left as it is.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil
		}
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !syncUnsupported(err) {
		return err
	}
	return nil
}
