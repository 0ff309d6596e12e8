package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
)

// An Access opens stores, each once, for one run of a program. The zero value has no
// drivers. It may be used by several goroutines.
type Access struct {
	ctx     context.Context
	drivers Drivers
	fetcher *Fetcher // shared, since it has the limits

	mu   sync.Mutex
	open map[string]Store // by location without its key
}

// NewAccess returns an access that ends with ctx. Copies of objects are in the system's folder for temporary files.
func NewAccess(ctx context.Context, drivers Drivers) *Access {
	return &Access{ctx: ctx, drivers: drivers, fetcher: NewFetcher(ctx, os.TempDir()), open: make(map[string]Store)}
}

// Close ends all reads and removes the copies.
func (a *Access) Close() {
	a.fetcher.Close()
	for _, s := range a.open {
		s.Close() // everything was written
	}
}

// Open is [Drivers.Open] but opens each store once. The caller must not close the store.
func (a *Access) Open(location string) (s Store, key string, err error) {
	u, err := url.Parse(location)
	if err != nil || !IsURL(location) || u.Scheme == "file" {
		return a.drivers.Open(a.ctx, location)
	}
	key = strings.TrimPrefix(u.Path, "/")
	u.Path, u.RawPath = "", ""
	id := u.String()
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.open[id]; s != nil {
		return s, key, nil
	}
	s, key, err = a.drivers.Open(a.ctx, location)
	if err == nil {
		a.open[id] = s
	}
	return s, key, err
}

// A Found is an object at a location.
type Found struct {
	Store  Store
	Object Object
	Path   string // below the location
}

// Find returns the objects at a location in the bytewise order of their keys: one object, all
// objects below a prefix, or all objects that match a pattern of [path.Match].
func (a *Access) Find(location string) (found []Found, err error) {
	s, key, err := a.Open(location)
	if err != nil {
		return nil, err
	}
	absent := error(fs.ErrNotExist)
	if key != "" && !strings.HasSuffix(key, "/") {
		var o Object
		if o, absent = s.Stat(a.ctx, key); absent == nil {
			return []Found{{s, o, path.Base(key)}}, nil
		}
		if !isFatal(absent) {
			return nil, absent
		}
		// The answer to List says more about what is wrong.
	}
	prefix := key
	if key != "" {
		prefix = Join(key, "")
	}
	list := func(prefix string, matches func(key string) bool) error {
		for o, err := range s.List(a.ctx, prefix) {
			if err != nil {
				return err
			}
			if !strings.HasSuffix(o.Key, "/") && matches(o.Key) { // some tools mark folders so
				found = append(found, Found{s, o, o.Key[strings.LastIndexByte(prefix, '/')+1:]})
			}
		}
		return nil
	}
	if err := list(prefix, func(string) bool { return true }); err != nil || len(found) > 0 {
		return found, err
	}
	if at := strings.IndexAny(key, `*?[`); at >= 0 {
		err := list(key[:at], func(k string) bool { ok, _ := path.Match(key, k); return ok })
		if err != nil || len(found) > 0 {
			return found, err
		}
	}
	if !errors.Is(absent, fs.ErrNotExist) {
		return nil, absent
	}
	return nil, &Error{Op: "list", URL: s.URL(key), Err: fs.ErrNotExist, Advice: "there is no such object, and none below it"}
}

// Fetch returns a function that copies an object to a file, see [Fetcher.Add].
func (a *Access) Fetch(f Found) (fetch func() (path string, release func(), err error)) {
	return a.fetcher.Add(f.Store, f.Object)
}

// An Output is an object that is being written. It becomes visible as a whole when Commit succeeds.
type Output struct {
	bufio.Writer // of the copy
	copy         *atomicfile.Scratch
	access       *Access
	store        Store
	key          string
}

// Create begins to write the object at a URL.
func (a *Access) Create(location string) (*Output, error) {
	s, key, err := a.Open(location)
	if err == nil && (key == "" || strings.HasSuffix(key, "/")) {
		err = &Error{Op: "write", URL: s.URL(key), Err: errors.New("no object is named")}
	}
	if err != nil {
		return nil, err
	}
	file, err := atomicfile.CreateScratch(a.fetcher.Folder)
	if err != nil {
		return nil, err
	}
	return &Output{*bufio.NewWriterSize(file, copyBuffer), file, a, s, key}, nil
}

// URL returns the URL of the object, without credentials.
func (o *Output) URL() string { return o.store.URL(o.key) }

// Commit writes the object, and removes the copy.
func (o *Output) Commit() error {
	defer o.Discard()
	if err := o.Flush(); err != nil {
		return err
	}
	return PutFile(o.access.ctx, o.store, o.key, o.copy.Name())
}

// Discard removes the copy. It does nothing after Commit.
func (o *Output) Discard() {
	if o.copy != nil {
		o.copy.Remove() // else the next process does
		o.copy = nil
	}
}

// PutFile writes the contents of a file to an object, with retries.
func PutFile(ctx context.Context, s Store, key, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return retry(ctx, sleep, func() error {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		return s.Put(ctx, key, file)
	})
}

// ReadAll returns the contents of an object, of at most limit bytes.
func ReadAll(ctx context.Context, s Store, key string, limit int64) (data []byte, err error) {
	err = retry(ctx, sleep, func() error {
		r, err := s.Open(ctx, Object{Key: key}, 0, -1)
		if err != nil {
			return err
		}
		defer r.Close()
		data, err = io.ReadAll(io.LimitReader(r, limit+1))
		if int64(len(data)) > limit {
			err = &Error{Op: "read", URL: s.URL(key), Err: fmt.Errorf("it has more than %d bytes", limit), Fatal: true}
		}
		return err
	})
	return data, err
}

// Create creates an object, with retries.
func Create(ctx context.Context, s Store, key string, data []byte) error {
	return retry(ctx, sleep, func() error { return s.Create(ctx, key, data) })
}

// Put writes an object, with retries.
func Put(ctx context.Context, s Store, key string, data []byte) error {
	return retry(ctx, sleep, func() error { return s.Put(ctx, key, bytes.NewReader(data)) })
}
