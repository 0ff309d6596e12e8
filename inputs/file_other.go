//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package inputs

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// A file is an open file with its version and kind at the time it was opened.
type file struct {
	name    string
	f       *os.File
	regular bool
	version
}

func openFile(name string) (*file, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "read", Path: name, Err: errors.New("is a directory")}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &file{name: name, f: f, regular: info.Mode().IsRegular(), version: versionOf(info)}, nil
}

func versionOf(info fs.FileInfo) version {
	return version{size: info.Size(), modified: info.ModTime().UnixNano()}
}

// versionNow returns the version that the file has at this moment.
func (f *file) versionNow() (version, error) {
	info, err := f.f.Stat()
	if err != nil {
		return version{}, err
	}
	return versionOf(info), nil
}

// There are no locks. On Windows, LLVM's runtime opens a file for itself alone while it writes it.
func (f *file) share() (busy bool) { return false }
func (f *file) unshare()           {}
func (f *file) hasWriter() bool    { return false }

func (f *file) Read(p []byte) (int, error) { return f.f.Read(p) }

// head reads the first bytes and leaves the file at its start.
func (f *file) head(p []byte) (int, error) {
	n, err := f.f.ReadAt(p, 0)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

func (f *file) close() { f.f.Close() }

// allocate returns an empty buffer, in Go's heap.
func allocate(size int) []byte { return make([]byte, 0, size) }
func free([]byte)              {}
