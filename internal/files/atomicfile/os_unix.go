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

// isMissing reports that there is no file of a name, without the cost of opening it:
// most files have no checksum, and they may be thousands.
func isMissing(name string) bool { return syscall.Access(name, 0) == syscall.ENOENT }

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

// lockTemp locks a temporary file for as long as the result is open, whatever happens
// to f. ok is false if another process has locked or removed it. Without locks on this
// file system the result is nil and true.
func lockTemp(f *os.File) (lock *os.File, ok bool, err error) {
	switch err := flock(f); {
	case err == syscall.EWOULDBLOCK:
		return nil, false, nil
	case err != nil:
		return nil, true, nil
	}
	// The lock belongs to the open file, which the duplicate shares.
	lock, _, err = duplicate(int(f.Fd()), f.Name())
	if err != nil {
		return nil, false, err
	}
	same, err := isAt(lock, f.Name())
	if err != nil || !same {
		lock.Close()
		return nil, false, err
	}
	return lock, true, nil
}

// flock locks a file unless it is locked.
func flock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != syscall.EINTR {
			return err
		}
	}
}

// isAt reports whether name is the name of an open file.
func isAt(f *os.File, name string) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(info, named), err
}

// removeIfAbandoned removes a temporary file that no process has locked.
func removeIfAbandoned(name string) {
	// Over NFS, an exclusive lock needs a file that is open for writing. O_NONBLOCK:
	// somebody may have put a FIFO in its place.
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if flock(f) != nil {
		return
	}
	// Its process may have committed it meanwhile, and another have taken the name.
	if same, err := isAt(f, name); same && err == nil {
		os.RemoveAll(name + folderSuffix)
		os.Remove(name)
	}
}
