//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package filelock

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
)

const errIsDir = syscall.EISDIR

func acquire(ctx context.Context, path string, waiting func()) (*Lock, error) {
	for {
		f, err := openToLock(path)
		if err != nil {
			return nil, err
		}
		err = flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
		if err == syscall.EBADF {
			// Where the system emulates flock with fcntl, as over NFS, an exclusive
			// lock needs a file that is open for writing.
			f.Close()
			if f, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
				return nil, err
			}
			err = flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			if waiting != nil {
				waiting()
				waiting = nil
			}
			err = wait(ctx, f, func(f *os.File) error { return flock(f, syscall.LOCK_EX) })
			if err != nil {
				return nil, lockError(path, err)
			}
		} else if unsupported(err) {
			f.Close()
			return &Lock{}, nil
		} else if err != nil {
			f.Close()
			return nil, lockError(path, err)
		}
		// The previous holder may have replaced the file.
		current, err := isCurrent(f, path)
		if current {
			return &Lock{f: f, release: (*os.File).Close}, nil
		}
		f.Close()
		if err != nil {
			return nil, err
		}
	}
}

// openToLock opens a file for reading, if it could be opened for writing. Whoever waits
// for a lock must not be taken for a writer of the file (see [HasWriter]).
func openToLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	f.Close() // nothing was written
	return os.Open(path)
}

// isCurrent reports whether path still names the open file.
func isCurrent(f *os.File, path string) (bool, error) {
	locked, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	return os.SameFile(locked, named), nil
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if err != syscall.EINTR {
			return err
		}
	}
}

func unsupported(err error) bool {
	return errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EOPNOTSUPP) ||
		errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOLCK)
}

func lockError(path string, err error) error {
	if _, ok := err.(syscall.Errno); ok {
		return &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	return err
}
