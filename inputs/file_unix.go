//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package inputs

import (
	"io"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/profuse-pgo/profuse/internal/files/filelock"
)

// A file is an open file without what [os.File] adds for polling and cleaning up: with
// thousands of small profiles that costs a third of the time to read them.
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
	if err == nil && kind == unix.S_IFDIR {
		err = &fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
	}
	if err != nil {
		f.close()
		return nil, err
	}
	f.regular, f.version = kind == unix.S_IFREG, v
	return f, nil
}

// stat returns the file's kind (S_IFMT) and current version.
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
	n, err := retry(func() (int, error) { return syscall.Read(f.fd, p[:min(len(p), maxRead)]) })
	if err != nil {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: err}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// ReadAt reads like [io.ReaderAt].
func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		rest := p[n:min(len(p), n+maxRead)]
		more, err := retry(func() (int, error) { return syscall.Pread(f.fd, rest, off+int64(n)) })
		if err != nil {
			return n, &fs.PathError{Op: "read", Path: f.name, Err: err}
		}
		if more == 0 {
			return n, io.EOF
		}
		n += more
	}
	return n, nil
}

// close closes a file, once. Its errors say nothing: nothing was written that could be lost.
func (f *file) close() {
	if f.fd >= 0 {
		_ = syscall.Close(f.fd)
		f.fd = -1
	}
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

// largeBuffer is the size in bytes from which a buffer lies outside of Go's heap. There it does not let the garbage
// collector wait for as much garbage again, and the system has the memory back as soon as the buffer is freed.
const largeBuffer = 1 << 20

// allocate returns an empty buffer.
func allocate(size int) []byte {
	if size >= largeBuffer {
		if b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE); err == nil {
			useLargePages(b)
			return b[:0]
		}
	}
	return make([]byte, 0, size)
}

// free gives back the memory of a buffer from allocate.
func free(b []byte) {
	if cap(b) >= largeBuffer {
		_ = syscall.Munmap(b[:cap(b)]) // fails for a buffer in the heap
	}
}
