// Package store reads and writes objects: the files of a folder, or the objects of a bucket.
//
// This package implements folders. Drivers for buckets need large libraries; the module fleet has
// them and passes them as [Drivers].
package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A Store holds objects, each under a key: a path with slashes, which is data and need
// not be a valid path of this system. Its methods may be called concurrently.
//
// Errors are *[Error]. They wrap [fs.ErrNotExist], [fs.ErrExist], [fs.ErrPermission] or
// [ErrChanged] if that is the reason.
type Store interface {
	// List yields the objects whose keys begin with prefix, in the bytewise order of the keys. It ends after an error.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Stat returns the object of a key as List yields it.
	Stat(ctx context.Context, key string) (Object, error)
	// Open returns length bytes of an object, from offset; up to its end if length is -1.
	// It fails with ErrChanged if the object no longer has the tag of o, unless that is "".
	Open(ctx context.Context, o Object, offset, length int64) (io.ReadCloser, error)
	// Put writes all of body to an object and replaces an existing object. Readers see the old object or the new one.
	Put(ctx context.Context, key string, body io.ReadSeeker) error
	// Create writes an object that must not exist: if several processes create it, one
	// succeeds, and the others fail with fs.ErrExist.
	Create(ctx context.Context, key string, data []byte) error
	// Delete deletes an object. It does not fail if there is none.
	Delete(ctx context.Context, key string) error
	// URL returns the URL of a key for messages. It has no credentials.
	URL(key string) string
	Close() error
}

// An Object describes an object without its contents.
type Object struct {
	Key      string
	Size     int64
	Tag      string // changes when the contents change: an ETag, a generation
	Modified time.Time
}

// ErrChanged is the error of an object that was replaced after it was listed.
var ErrChanged = errors.New("the object changed after it was listed")

// An Error is a failed operation on an object.
type Error struct {
	Op     string // "list", "read", "write", "create", "delete"
	URL    string
	Err    error
	Advice string // what to do about it; may be empty
	// Fatal says that trying again cannot help.
	Fatal bool
}

func (e *Error) Error() string { return fmt.Sprintf("%s %s: %s", e.Op, e.URL, e.Reason()) }

// Reason returns the error without the operation and the object, and the advice.
func (e *Error) Reason() string {
	if e.Advice == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + ": " + e.Advice
}

func (e *Error) Unwrap() error { return e.Err }

// A Driver opens the store of a URL: the bucket that the URL names, with the options in its query.
// The driver ignores the path, which is a key in the store.
type Driver func(ctx context.Context, u *url.URL) (Store, error)

// Drivers are drivers by the scheme of URLs, such as "s3". Folders need none.
type Drivers map[string]Driver

// IsURL reports whether a location has a scheme, such as "s3://bucket/prefix".
func IsURL(location string) bool {
	scheme, _, ok := strings.Cut(location, "://")
	return ok && len(scheme) > 1 && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+-.") == ""
}

// Open opens the store of a location, and returns the key that the location names in the store. A
// location is a URL or the path of a folder.
func (d Drivers) Open(ctx context.Context, location string) (s Store, key string, err error) {
	if !IsURL(location) {
		return NewFolder(location), "", nil
	}
	u, err := url.Parse(location)
	if err != nil {
		return nil, "", errors.Unwrap(err) // the error has the URL, which may have credentials
	}
	if u.User != nil {
		return nil, "", fmt.Errorf("%s: a URL must not contain credentials; they come from the environment of the process", u.Redacted())
	}
	if u.Scheme == "file" {
		if u.Host != "" && u.Host != "localhost" {
			return nil, "", fmt.Errorf("%s: a file URL begins with file:///", location)
		}
		name := filepath.FromSlash(u.Path)
		if runtime.GOOS == "windows" {
			name = strings.TrimPrefix(name, `\`)
		}
		root := filepath.VolumeName(name) + string(filepath.Separator)
		return NewFolder(root), filepath.ToSlash(strings.TrimPrefix(name, root)), nil
	}
	driver := d[u.Scheme]
	if driver == nil {
		if len(d) > 0 {
			schemes := strings.Join(slices.Sorted(maps.Keys(d)), "://, ")
			return nil, "", fmt.Errorf("%s: no driver for %s://; there are file://, %s://", location, u.Scheme, schemes)
		}
		return nil, "", fmt.Errorf("%s: profuse reads folders only; profuse-fleet, the same program with drivers for buckets, reads this", location)
	}
	if u.Host == "" {
		return nil, "", fmt.Errorf("%s: no bucket is named: want %s://BUCKET/PREFIX", location, u.Scheme)
	}
	s, err = driver(ctx, u)
	return s, strings.TrimPrefix(u.Path, "/"), err
}

// Join joins a prefix and a name to a key. The prefix may be empty, or end with a slash.
func Join(prefix, name string) string {
	if prefix == "" || strings.HasSuffix(prefix, "/") {
		return prefix + name
	}
	return prefix + "/" + name
}

// Below returns the location of a name in a folder or below a URL, whose query stays.
func Below(location, name string) string {
	if !IsURL(location) {
		return filepath.Join(location, filepath.FromSlash(name))
	}
	path, query, ok := strings.Cut(location, "?")
	if ok {
		query = "?" + query
	}
	return Join(path, name) + query
}

// Shown returns a location as messages name it: a URL without its query.
func Shown(location string) string {
	if IsURL(location) {
		location, _, _ = strings.Cut(location, "?")
	}
	return location
}

// Absolute returns a location that does not depend on the current folder.
func Absolute(location string) (string, error) {
	if IsURL(location) {
		return location, nil
	}
	path, err := filepath.Abs(location)
	if err == nil && IsPrefix(location) && !IsPrefix(path) {
		path += "/"
	}
	return path, err
}

// IsPrefix reports whether a location ends with a slash, as locations of folders do.
func IsPrefix(location string) bool {
	return strings.HasSuffix(Shown(location), "/")
}

// isFatal reports whether trying again cannot help.
func isFatal(err error) bool {
	reasons := []error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, ErrChanged, context.Canceled}
	e := (*Error)(nil)
	return slices.ContainsFunc(reasons, func(r error) bool { return errors.Is(err, r) }) || errors.As(err, &e) && e.Fatal
}
