// Package filelock keeps two processes from updating one file at once, where
// each reads the file, changes what it read and replaces the file (see package
// atomicfile): without a lock, the process that finishes last undoes the work of
// the other.
//
//	lock, err := filelock.Acquire(ctx, path, nil)
//	if err != nil {
//		return err
//	}
//	defer lock.Release()
//	… read path, replace it …
//
// Locks are advisory: they bind those who ask for them. The system releases
// them when a process ends, however it ends. Readers need none, since a file
// that is replaced is whole at any time.
//
// On unix, Acquire locks the file itself (flock) and leaves nothing behind. On
// Windows, where an open file cannot be replaced, it locks a file beside it with
// ".lock" appended, which the last holder removes. Elsewhere there are no locks,
// and Acquire only checks that the file exists.
package filelock

import (
	"context"
	"io/fs"
	"os"
)

// A Lock is held on a file until it is released.
type Lock struct {
	f       *os.File // nil if there was nothing to lock
	release func(*os.File) error
}

// Acquire locks an existing file, through symbolic links, for the only process
// to change it. While another process, or another Lock of this one, holds the
// lock, Acquire waits; it calls waiting first unless that is nil. The lock is on
// the file that path names when Acquire returns, even if others replaced the file
// meanwhile.
//
// A file that is not regular cannot be replaced, and gets a Lock without effect;
// so does a file on a file system without locks.
//
// The error is the system's if the file does not exist or cannot be opened for
// writing, or the cause of the context's end.
func Acquire(ctx context.Context, path string, waiting func()) (*Lock, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		if info.IsDir() {
			return nil, &fs.PathError{Op: "lock", Path: path, Err: errIsDir}
		}
		return &Lock{}, nil
	}
	return acquire(ctx, path, waiting)
}

// Release unlocks the file. It may be called more than once, and on nil.
func (l *Lock) Release() error {
	if l == nil || l.f == nil {
		return nil
	}
	f := l.f
	l.f = nil
	return l.release(f)
}

// wait runs lock, which blocks, until it returns or the context ends. In the
// second case it closes f as soon as lock returns, which releases a lock that
// came too late.
func wait(ctx context.Context, f *os.File, lock func(*os.File) error) error {
	done := make(chan error, 1)
	go func() { done <- lock(f) }()
	select {
	case err := <-done:
		if err != nil {
			f.Close()
		}
		return err
	case <-ctx.Done():
		go func() {
			<-done
			f.Close()
		}()
		return context.Cause(ctx)
	}
}
