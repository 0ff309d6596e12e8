//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestFailingCommit: whatever fails between the last byte and the new name, the error has the output's name, the
// temporary file is gone, and what had the name before is still there.
func TestFailingCommit(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, f *File)
		op     string
		err    error
		left   string // what out is in the end
	}{
		{
			"a folder took the name", func(t *testing.T, f *File) {
				oracle.NoError(t, os.Remove(f.target.path), os.MkdirAll(filepath.Join(f.target.path, "sub"), 0o777))
			}, "replace", nil, "",
		},
		{
			"the temporary file was removed", func(t *testing.T, f *File) {
				oracle.NoError(t, os.Remove(f.f.Name()))
			}, "replace", fs.ErrNotExist, "old",
		},
		{
			"the disk lost the file before it was written", func(t *testing.T, f *File) {
				oracle.NoError(t, f.f.Close())
			}, "write", os.ErrClosed, "old",
		},
		{
			"... and before it was synced", func(t *testing.T, f *File) {
				oracle.NoError(t, f.w.Flush(), f.f.Close())
			}, "sync", os.ErrClosed, "old",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			out := filepath.Join(dir, "out")
			write(t, out, "old")
			f := create(t, out, Options{})
			if _, err := f.Write([]byte("new")); err != nil {
				t.Fatal(err)
			}
			c.damage(t, f)
			err := f.Commit()
			pe, ok := err.(*fs.PathError)
			if !ok || pe.Op != c.op || pe.Path != out || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("%v, want %s %s: %v", err, c.op, out, c.err)
			}
			wantFiles(t, dir, "out")
			if c.left != "" {
				wantContents(t, out, c.left)
			}
			if err := f.Commit(); !errors.Is(err, os.ErrClosed) {
				t.Errorf("committed once more: %v", err)
			}
			if err := f.Close(); err != nil {
				t.Errorf("closed after Commit: %v", err)
			}
		})
	}
}

// TestOpenDescriptors: names of what the process has open, and of what it has not.
func TestOpenDescriptors(t *testing.T) {
	_, err := Create("/dev/fd/987654", Options{})
	if pe := (*fs.PathError)(nil); !errors.As(err, &pe) || pe.Path != "/dev/fd/987654" || !errors.Is(err, syscall.EBADF) {
		t.Errorf("no such descriptor: %v", err)
	}
	if fd, ok := descriptor("/dev/stderr"); fd != 2 || !ok {
		t.Errorf("/dev/stderr is %d, %t", fd, ok)
	}
	// What is given up takes the duplicate with it, not the descriptor.
	name := filepath.Join(t.TempDir(), "log")
	log := oracle.Must(os.Create(name))(t)
	defer log.Close()
	f := create(t, "/dev/fd/"+strconv.Itoa(int(log.Fd())), Options{})
	if _, err := f.Write([]byte("lost")); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := log.WriteString("kept"); err != nil {
		t.Error(err)
	}
	wantContents(t, name, "kept")
}
