// Package filelock keeps two processes from changing one file at once where
// each reads it, changes what it read, and puts a new file in its place (see
// package atomicfile): without a lock the one that is done last undoes what
// the other did.
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
// On unix it is the file itself that is locked (flock), and nothing is left
// behind. On Windows, where an open file cannot be replaced, it is a file
// beside it with ".lock" appended, removed when nobody needs it any more.
// Elsewhere there are no locks, and Acquire only looks whether there is a file.
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

// Acquire locks an existing file, through symbolic links, so as to be the only one to
// change it. It waits while another process, or another Lock of this one,
// holds it, having called waiting first unless that is nil. The file that the
// path names when Acquire returns is the one that is locked, also if others
// have replaced it meanwhile.
//
// What is not a regular file cannot be replaced, and gets a Lock without
// effect; so does a file on a file system that knows no locks.
//
// The error is the system's if the file does not exist or cannot be opened for
// writing, or the context's.
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

// Release lets the next one have the file. It may be called more than once,
// and on nil.
func (l *Lock) Release() error {
	if l == nil || l.f == nil {
		return nil
	}
	f := l.f
	l.f = nil
	return l.release(f)
}

// wait runs lock, which blocks, until it is done or the context is. A lock
// that comes too late is given up by closing the file.
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
