//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package inputs

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// canMap is false: files are read. On Windows no other process could replace or
// delete a file while it is mapped.
const canMap = false

// A file is an open file with its size and kind at the time it was opened.
type file struct {
	f       *os.File
	size    int64
	regular bool
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
	return &file{f: f, size: info.Size(), regular: info.Mode().IsRegular()}, nil
}

func (f *file) Read(p []byte) (int, error) { return f.f.Read(p) }

// head reads the first bytes and leaves the file at its start.
func (f *file) head(p []byte) (int, error) {
	n, err := f.f.ReadAt(p, 0)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

func (f *file) close() error { return f.f.Close() }

// A mapping does not exist here.
type mapping struct{ bytes []byte }

func mapFile(*file) (*mapping, error)      { return nil, errors.ErrUnsupported }
func (m *mapping) sizeNow() (int64, error) { return int64(len(m.bytes)), nil }
func (m *mapping) close() error            { return nil }
