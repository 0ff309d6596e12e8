//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package inputs

import (
	"errors"
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

func (f *file) ReadAt(p []byte, off int64) (int, error) { return f.f.ReadAt(p, off) }

func (f *file) close() { f.f.Close() }

func allocate(size int) []byte { return make([]byte, 0, size) }
func free([]byte)              {}
