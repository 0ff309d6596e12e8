package watch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// A fileID identifies a version of a file without reading the file. Two versions of one file have different identities.
type fileID struct {
	size  int64
	mtime int64  // nanoseconds since 1970
	inode uint64 // 0 where there are none
}

func idOf(info fs.FileInfo) fileID {
	return fileID{info.Size(), info.ModTime().UnixNano(), inodeOf(info)}
}

// lookAt returns the identity of a regular file.
func lookAt(path string) (fileID, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return fileID{}, err
	}
	if !info.Mode().IsRegular() {
		return fileID{}, &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	return idOf(info), nil
}

var errNotRegular = errors.New("is not a regular file")

// A contentID is the SHA-256 of the bytes of a file.
type contentID [sha256.Size]byte

func (c contentID) String() string { return hex.EncodeToString(c[:]) }

func parseContentID(s string) (c contentID, err error) {
	b, err := hex.DecodeString(s)
	if err == nil && len(b) != len(c) {
		err = fmt.Errorf("%d bytes, want %d", len(b), len(c))
	}
	copy(c[:], b)
	return c, err
}

// errChanged says that a file changed while it was read.
var errChanged = errors.New("the file changed while it was read")

// contentOf returns the hash of a file, and errChanged if its identity is not id.
func contentOf(path string, id fileID) (c contentID, err error) {
	f, err := os.Open(path)
	if err != nil {
		return c, err
	}
	defer f.Close()
	same := func() error {
		info, err := f.Stat()
		if err == nil && idOf(info) != id {
			err = &fs.PathError{Op: "read", Path: path, Err: errChanged}
		}
		return err
	}
	if err := same(); err != nil {
		return c, err
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return c, err
	}
	h.Sum(c[:0])
	return c, same()
}
