package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
)

// A Folder is the store of the files in a folder and below it. Many processes on many machines may
// use it if its file system has hard links or creates files exclusively.
type Folder struct{ path string }

// NewFolder returns the store of a folder, which need not exist.
func NewFolder(path string) *Folder { return &Folder{path} }

// Path returns the path of a key.
func (f *Folder) Path(key string) string { return filepath.Join(f.path, filepath.FromSlash(key)) }

// URL returns the path of a key.
func (f *Folder) URL(key string) string { return f.Path(key) }

// Close does nothing.
func (f *Folder) Close() error { return nil }

// failed returns an error about a key. It is fatal: retries do not help with local files.
func (f *Folder) failed(op, key string, err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	}
	return &Error{Op: op, URL: f.URL(key), Err: err, Fatal: true}
}

// check refuses keys that lead out of the folder.
func (f *Folder) check(op, key string) error {
	if !fs.ValidPath(key) || key == "." || !filepath.IsLocal(filepath.FromSlash(key)) {
		return &Error{Op: op, URL: f.path, Err: fmt.Errorf("key %q is no path in a folder", key), Fatal: true}
	}
	return nil
}

// List lists regular files and links to regular files, without temporary files of writers.
func (f *Folder) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		at := max(strings.LastIndexByte(prefix, '/'), 0)
		if dir := prefix[:at]; dir == "" || f.check("list", dir) == nil { // no file has another key
			f.list(ctx, prefix, dir, yield)
		}
	}
}

// list yields the files in a folder and below it; more is false when the caller stops.
func (f *Folder) list(ctx context.Context, prefix, dir string, yield func(Object, error) bool) (more bool) {
	entries, err := os.ReadDir(f.Path(dir))
	if len(dir) <= len(prefix) && errors.Is(err, fs.ErrNotExist) {
		return true // as in a bucket, where there are no folders
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		yield(Object{}, f.failed("list", dir, err))
		return false
	}
	// Sort a folder as its files sort: "a-b", "a/b", "a0".
	sortKey := func(e fs.DirEntry) string {
		if e.IsDir() {
			return e.Name() + "/"
		}
		return e.Name()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(sortKey(a), sortKey(b)) })
	for _, e := range entries {
		key := Join(dir, e.Name())
		if e.IsDir() {
			if strings.HasPrefix(key+"/", prefix) && !f.list(ctx, prefix, key, yield) {
				return false
			}
			continue
		}
		if !strings.HasPrefix(key, prefix) || atomicfile.IsTemp(e.Name()) {
			continue
		}
		// Stat follows links.
		o, err := f.Stat(ctx, key)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone meanwhile
		}
		if !yield(o, err) || err != nil {
			return false
		}
	}
	return true
}

// Stat returns the size and time of a file. Its tag consists of them.
func (f *Folder) Stat(_ context.Context, key string) (Object, error) {
	if err := f.check("read", key); err != nil {
		return Object{}, err
	}
	info, err := os.Stat(f.Path(key))
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return Object{}, f.failed("read", key, err)
	}
	return object(key, info), nil
}

// object returns the object of a file. Its tag is the size and the time in nanoseconds, so a file
// system with coarse times may miss a change that keeps the size.
func object(key string, info fs.FileInfo) Object {
	return Object{
		Key: key, Size: info.Size(), Modified: info.ModTime(),
		Tag: fmt.Sprintf("%x-%x", info.Size(), info.ModTime().UnixNano()),
	}
}

// Open opens a file.
func (f *Folder) Open(ctx context.Context, o Object, offset, length int64) (io.ReadCloser, error) {
	if _, err := f.Stat(ctx, o.Key); err != nil { // opening a pipe would wait
		return nil, err
	}
	file, err := os.Open(f.Path(o.Key))
	if err != nil {
		return nil, f.failed("read", o.Key, err)
	}
	info, err := file.Stat()
	if err == nil && o.Tag != "" && object(o.Key, info).Tag != o.Tag {
		err = ErrChanged
	}
	if err == nil && offset > 0 {
		_, err = file.Seek(offset, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return nil, f.failed("read", o.Key, err)
	}
	if length < 0 {
		return file, nil
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(file, length), file}, nil
}

// Put writes a file.
func (f *Folder) Put(_ context.Context, key string, body io.ReadSeeker) error {
	name, err := f.makeFolder("write", key)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteFile(name, body); err != nil {
		return f.failed("write", key, err)
	}
	return nil
}

func (f *Folder) makeFolder(op, key string) (name string, err error) {
	if err := f.check(op, key); err != nil {
		return "", err
	}
	name = f.Path(key)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return "", f.failed(op, key, err)
	}
	return name, nil
}

// Create writes a file that must not exist.
func (f *Folder) Create(_ context.Context, key string, data []byte) error {
	name, err := f.makeFolder("create", key)
	if err != nil {
		return err
	}
	if err := create(name, data); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = fs.ErrExist
		}
		return f.failed("create", key, err)
	}
	return nil
}

// create writes a file. It fails if the file exists or another process creates it meanwhile.
func create(name string, data []byte) error {
	if _, err := os.Lstat(name); err == nil {
		return fs.ErrExist
	}
	file, err := atomicfile.Create(name, atomicfile.Options{New: true})
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(data); err != nil {
		return err
	}
	return file.Commit()
}

// Delete removes a file, and the folders that become empty.
func (f *Folder) Delete(_ context.Context, key string) error {
	if err := f.check("delete", key); err != nil {
		return err
	}
	if err := os.Remove(f.Path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f.failed("delete", key, err)
	}
	for dir := filepath.Dir(filepath.FromSlash(key)); dir != "."; dir = filepath.Dir(dir) {
		if os.Remove(filepath.Join(f.path, dir)) != nil {
			break // not empty
		}
	}
	return nil
}
