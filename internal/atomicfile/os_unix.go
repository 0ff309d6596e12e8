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

// descriptor returns the descriptor of this process that name, taken literally,
// stands for.
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

// syncUnsupported reports whether err means that the file system does not
// support fsync. Some network and user-space file systems do not.
func syncUnsupported(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS)
}

// Sync waits until a file and its name are on disk, on file systems that support
// fsync.
func Sync(path string) error {
	if err := syncPath(path); err != nil {
		return err
	}
	return syncPath(dir(path))
}

// syncPath syncs a file, or the entries of a folder. It does nothing if the
// permissions do not let it open the path for reading.
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
