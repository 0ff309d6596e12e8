// Package filelock keeps two processes from updating a file at the same time. Each process reads
// the file, changes the contents and replaces the file (see package atomicfile); without a lock,
// the process that finishes last undoes the work of the other.
//
//	lock, err := filelock.Acquire(ctx, path, nil)
//	if err != nil {
//		return err
//	}
//	defer lock.Release()
//	… read path, replace it …
//
// Locks are advisory: they bind only processes that use them. The system releases a lock when its process ends,
// however it ends. Readers need no lock, because a replaced file is whole at any time.
//
// On unix, Acquire locks the file itself (flock) and leaves nothing behind. On Windows, where an
// open file cannot be replaced, it locks a file beside it with ".lock" appended; the last holder
// removes that file. On systems without locks, Acquire only checks that the file can be written.
package filelock

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"github.com/gofrs/flock"
)

// beside says that the lock is on a file beside the file, whose name ends with lockSuffix.
const (
	beside     = runtime.GOOS == "windows"
	lockSuffix = ".lock"
)

// A Lock is held on a file until it is released.
type Lock struct {
	held *flock.Flock // nil if there was nothing to lock
}

// Acquire locks an existing file, through symbolic links, so that only this process changes it. While another
// process, or another Lock of this process, holds the lock, Acquire waits; it first calls waiting unless that is
// nil. The lock is on the file that path names when Acquire returns, even if others replaced the file meanwhile.
//
// A file that is not regular cannot be replaced and gets a Lock without effect, and so does a file
// on a file system without locks.
//
// The error is the system's if the file does not exist or cannot be opened for writing, or the
// cause of the context's end.
func Acquire(ctx context.Context, path string, waiting func()) (*Lock, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &fs.PathError{Op: "lock", Path: path, Err: syscall.EISDIR}
	case !info.Mode().IsRegular():
		return &Lock{}, nil
	case beside:
		l := flock.New(path+lockSuffix, flock.SetFlag(os.O_RDWR|os.O_CREATE), flock.SetPermissions(0o666))
		return acquire(ctx, path, l, waiting)
	}
	told := false
	tell := func() {
		if !told && waiting != nil {
			waiting()
		}
		told = true
	}
	for {
		if err := checkWritable(path); err != nil {
			return nil, err
		}
		// Read only: a process that waits must not be taken for a writer of the file (see
		// [HasWriter]).
		lock, err := acquire(ctx, path, flock.New(path, flock.SetFlag(os.O_RDONLY)), tell)
		if err != nil || lock.held == nil {
			return lock, err
		}
		// The previous holder may have replaced the file.
		current, err := isCurrent(lock.held)
		if current {
			return lock, nil
		}
		lock.Release()
		if err != nil {
			return nil, err
		}
	}
}

// acquire takes l for the file at path. The result holds nothing if the file system has no locks.
func acquire(ctx context.Context, path string, l *flock.Flock, waiting func()) (*Lock, error) {
	ok, err := l.TryLock()
	if err == nil && !ok {
		if waiting != nil {
			waiting()
		}
		err = wait(ctx, l)
	}
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOLCK) {
		return &Lock{}, nil
	}
	if no, ok := err.(syscall.Errno); ok {
		err = &fs.PathError{Op: "lock", Path: path, Err: no}
	}
	if err != nil {
		return nil, err
	}
	return &Lock{l}, nil
}

// wait blocks until it has taken l or ctx ends. In the second case it releases l as soon as it has taken it after all.
func wait(ctx context.Context, l *flock.Flock) error {
	done := make(chan error, 1)
	go func() {
		err := l.Lock()
		for err == syscall.EINTR {
			err = l.Lock()
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		go func() {
			<-done
			l.Unlock()
		}()
		return context.Cause(ctx)
	}
}

func checkWritable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// isCurrent reports whether the path of l still names the locked file.
func isCurrent(l *flock.Flock) (bool, error) {
	locked, err := l.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Stat(l.Path())
	return err == nil && os.SameFile(locked, named), err
}

// Release unlocks the file. It may be called more than once, and on nil.
func (l *Lock) Release() error {
	if l == nil || l.held == nil {
		return nil
	}
	held := l.held
	l.held = nil
	err := held.Unlock()
	if beside {
		os.Remove(held.Path()) // Windows refuses while another process waits for the lock
	}
	return err
}
