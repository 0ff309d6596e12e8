//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package inputs

import (
	"io"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/profuse-pgo/profuse/internal/files/filelock"
)

const canMap = true

// A file is an open file without what [os.File] adds for polling and cleaning
// up: with thousands of small profiles that costs as much as reading them.
type file struct {
	name    string
	fd      int
	regular bool
	version // when it was opened
}

// openFile opens a file and gets its kind and version, in two system calls.
func openFile(name string) (*file, error) {
	fd, err := retry(func() (int, error) { return syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f := &file{name: name, fd: fd}
	kind, v, err := f.stat()
	f.version = v
	switch {
	case err != nil:
	case kind == unix.S_IFDIR:
		err = &fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
	}
	if err != nil {
		f.close()
		return nil, err
	}
	f.regular = kind == unix.S_IFREG
	return f, nil
}

// stat returns the file's kind (S_IFMT) and current version. It is safe for concurrent
// use.
func (f *file) stat() (kind uint32, v version, err error) {
	var st unix.Stat_t
	if _, err := retry(func() (int, error) { return 0, unix.Fstat(f.fd, &st) }); err != nil {
		return 0, version{}, &fs.PathError{Op: "stat", Path: f.name, Err: err}
	}
	return uint32(st.Mode) & unix.S_IFMT, version{st.Size, st.Mtim.Nano(), st.Ctim.Nano()}, nil
}

// versionNow returns the version that the file has at this moment.
func (f *file) versionNow() (version, error) {
	_, v, err := f.stat()
	return v, err
}

// See package filelock.
func (f *file) share() (busy bool) { return filelock.Share(f.fd) }
func (f *file) unshare()           { filelock.Unshare(f.fd) }
func (f *file) hasWriter() bool    { yes, _ := filelock.HasWriter(f.fd); return yes }

// maxRead is the most bytes to read in one call; Darwin fails from 2 GiB on.
const maxRead = 1 << 30

// Read reads like [io.Reader].
func (f *file) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	p = p[:min(len(p), maxRead)]
	n, err := retry(func() (int, error) { return syscall.Read(f.fd, p) })
	if err != nil {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: err}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// head reads the first bytes and leaves the file at its start.
func (f *file) head(p []byte) (int, error) {
	n, err := retry(func() (int, error) { return syscall.Pread(f.fd, p, 0) })
	if err != nil {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: err}
	}
	return n, nil
}

func (f *file) close() error {
	// Not tried again after EINTR: the descriptor is gone then.
	if err := syscall.Close(f.fd); err != nil && err != syscall.EINTR {
		return &fs.PathError{Op: "close", Path: f.name, Err: err}
	}
	return nil
}

// retry repeats a call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR {
			return n, err
		}
	}
}

// A mapping is a file mapped into memory. The file stays open so that its version
// can be checked.
type mapping struct {
	f     *file
	bytes []byte
}

// mapFile maps a regular file that is not empty. The mapping owns f.
func mapFile(f *file) (*mapping, error) {
	b, err := syscall.Mmap(f.fd, 0, int(f.size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, &fs.PathError{Op: "map", Path: f.name, Err: err}
	}
	return &mapping{f: f, bytes: b}, nil
}

func (m *mapping) close() error {
	err := syscall.Munmap(m.bytes)
	if err != nil {
		err = &fs.PathError{Op: "unmap", Path: m.f.name, Err: err}
	}
	if closeErr := m.f.close(); err == nil {
		err = closeErr
	}
	return err
}
