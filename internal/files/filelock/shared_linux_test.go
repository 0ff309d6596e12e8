package filelock

import (
	"context"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestShare: a shared lock waits for the kind of lock that LLVM's runtime holds, and keeps others from it.
func TestShare(t *testing.T) {
	path := counter(t)
	writer := oracle.Must(os.OpenFile(path, os.O_RDWR, 0))(t)
	defer writer.Close()
	lock := func(kind int16) error {
		return unix.FcntlFlock(writer.Fd(), unix.F_SETLK, &unix.Flock_t{Type: kind})
	}
	f := oracle.Must(os.Open(path))(t)
	defer f.Close()
	fd := int(f.Fd())
	if err := lock(unix.F_WRLCK); err != nil {
		t.Skip("this file system has no locks: ", err)
	}
	if !Share(fd) {
		t.Error("locked for writing, and shared")
	}
	oracle.NoError(t, lock(unix.F_UNLCK))
	for range 2 {
		if Share(fd) {
			t.Error("not locked, and busy")
		}
	}
	if other, err := os.Open(path); err == nil {
		other.Close() // ends locks that belong to the process
	}
	if err := lock(unix.F_WRLCK); err != unix.EAGAIN && err != unix.EACCES {
		t.Errorf("shared, and locked for writing: %v", err)
	}
	Unshare(fd)
	if err := lock(unix.F_WRLCK); err != nil {
		t.Errorf("no longer shared: %v", err)
	}
}

// TestHasWriter: who holds or awaits the lock of Acquire is no writer.
func TestHasWriter(t *testing.T) {
	path := counter(t)
	f := oracle.Must(os.Open(path))(t)
	defer f.Close()
	if yes, known := HasWriter(int(f.Fd())); !known {
		t.Skip("this file system has no leases")
	} else if yes {
		t.Error("nobody has it open for writing")
	}
	lock := oracle.Must(Acquire(context.Background(), path, nil))(t)
	if yes, _ := HasWriter(int(f.Fd())); yes {
		t.Error("the holder of the lock is taken for a writer")
	}
	oracle.NoError(t, lock.Release())
	w := oracle.Must(os.OpenFile(path, os.O_WRONLY, 0))(t)
	defer w.Close()
	if yes, _ := HasWriter(int(f.Fd())); !yes {
		t.Error("a writer is not seen")
	}
}
