//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/gofrs/flock"
)

// descriptor returns the descriptor of this process that name, taken literally, stands for.
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

// isMissing reports whether there is no file of a name. It does not open the file, because
// thousands of files may have no checksum.
func isMissing(name string) bool { return syscall.Access(name, 0) == syscall.ENOENT }

// duplicate duplicates a descriptor, so that closing the output does not close standard output under the rest of the program.
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

// Sync waits until a file and its name are on disk, on file systems that support fsync.
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
	if errors.Is(err, fs.ErrPermission) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !syncUnsupported(err) {
		return err
	}
	return nil
}

// lockTemp locks a temporary file until the result is unlocked, whatever happens to f. ok is false if another
// process has locked or removed the file. On a file system without locks the result is nil and true.
func lockTemp(f *os.File) (lock *flock.Flock, ok bool, err error) {
	lock = flock.New(f.Name(), flock.SetFlag(os.O_RDONLY|syscall.O_NOFOLLOW))
	switch locked, err := lock.TryLock(); {
	case errors.Is(err, fs.ErrNotExist), err == nil && !locked:
		return nil, false, nil
	case err != nil:
		return nil, true, nil
	}
	if same, err := hasName(f, f.Name()); err != nil || !same {
		lock.Unlock()
		return nil, false, err
	}
	return lock, true, nil
}

// hasName reports whether a file is the file of that name.
func hasName(f interface{ Stat() (fs.FileInfo, error) }, name string) (bool, error) {
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
	// Over NFS, an exclusive lock needs a file that is open for writing. O_NONBLOCK: the name may belong to a FIFO by now.
	lock := flock.New(name, flock.SetFlag(os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK))
	if locked, err := lock.TryLock(); err != nil || !locked {
		return
	}
	defer lock.Unlock()
	// Its process may have committed the file, and another file may have the name.
	if same, err := hasName(lock, name); same && err == nil {
		os.RemoveAll(name + folderSuffix)
		os.Remove(name)
	}
}
