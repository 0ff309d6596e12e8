package filelock

import (
	"context"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

const errIsDir = syscall.EISDIR

// lockSuffix is appended to the name of a file for the name of its lock file.
const lockSuffix = ".lock"

func acquire(ctx context.Context, path string, waiting func()) (*Lock, error) {
	f, err := os.OpenFile(path+lockSuffix, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	err = lockFile(f, windows.LOCKFILE_FAIL_IMMEDIATELY)
	if err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING {
		if waiting != nil {
			waiting()
		}
		if err := wait(ctx, f, func(f *os.File) error { return lockFile(f, 0) }); err != nil {
			return nil, lockError(path, err)
		}
	} else if err != nil {
		f.Close()
		return nil, lockError(path, err)
	}
	return &Lock{f: f, release: release}, nil
}

func lockFile(f *os.File, flags uint32) error {
	const allBytes = ^uint32(0)
	return windows.LockFileEx(windows.Handle(f.Fd()), flags|windows.LOCKFILE_EXCLUSIVE_LOCK, 0,
		allBytes, allBytes, new(windows.Overlapped))
}

// release also removes the lock file. The system refuses that while another
// process has it open to wait for the lock.
func release(f *os.File) error {
	err := f.Close()
	os.Remove(f.Name())
	return err
}

func lockError(path string, err error) error {
	if _, ok := err.(syscall.Errno); ok {
		return &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	return err
}
