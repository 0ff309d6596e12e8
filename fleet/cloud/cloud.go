// Package cloud has the drivers for buckets of Amazon S3 and compatible servers, Google Cloud Storage and Azure Blob
// Storage.
//
// Go CDK reads the URLs of buckets of Amazon and Azure and finds credentials. Everything else goes through the libraries of
// the providers: keys stay as they are, reads are conditional, and errors keep the message of the provider.
package cloud

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/profuse-pgo/profuse/internal/files/store"
)

const (
	// retries is the number of attempts at list, stat and delete, which package store does not repeat.
	retries = 6
	// fewRetries is the number of attempts at requests of operations that package store repeats.
	fewRetries = 3
	// conflicts is the number of attempts at creating an object while another process creates it.
	conflicts = 6
	// pageSize is the largest number of objects in a page of a list that all providers allow.
	pageSize = 1000
	// partSize is the size in bytes of the parts of an upload, partsAtOnce how many are uploaded at the same time.
	partSize    = 8 << 20
	partsAtOnce = 4
	// readsAtOnce is the number of idle connections kept for reads.
	readsAtOnce = 64
	// tokenName is the name in the metadata of an object for the token of its creator. Azure requires an identifier
	// of C#, and no provider keeps the case.
	tokenName = "profusecreated"
)

// stalled is the time without a byte after which a read fails.
var stalled = time.Minute

// Drivers returns the drivers for URLs that begin with s3://, gs:// and azblob://.
func Drivers() store.Drivers {
	return store.Drivers{"s3": driver(openS3), "gs": driver(openGCS), "azblob": driver(openAzure)}
}

// driver returns the driver of a provider whose buckets open opens. open gets a URL without a key, and its errors are fatal.
func driver(open func(context.Context, *url.URL) (provider, error)) store.Driver {
	return func(ctx context.Context, u *url.URL) (store.Store, error) {
		b := &bucket{location: u.Scheme + "://" + u.Host, unsure: make(map[string]string)}
		values, err := url.ParseQuery(u.RawQuery)
		if err != nil {
			err = errors.New("the query of the URL cannot be read")
		}
		for name, v := range values {
			if len(v) > 1 {
				err = fmt.Errorf("the query of the URL has %s twice", name)
			}
		}
		if err == nil {
			b.provider, err = open(ctx, &url.URL{Scheme: u.Scheme, Host: u.Host, RawQuery: u.RawQuery})
		}
		if err != nil {
			e := b.describe("open", "", err)
			e.Fatal = true
			if strings.Contains(e.Err.Error(), "query") {
				e.Advice = "docs/fleet.md lists what a query may have"
			}
			return nil, e
		}
		return b, nil
	}
}

// A provider has the operations of a bucket. It returns the errors of its library.
type provider interface {
	// list returns a page of the objects whose keys begin with a prefix, and the name of the next page; "" after the last page.
	list(ctx context.Context, prefix, page string) (objects []store.Object, next string, err error)
	// ordered reports whether lists are in the bytewise order of keys.
	ordered() bool
	// stat also returns the metadata tokenName.
	stat(ctx context.Context, key string) (o store.Object, token string, err error)
	// open returns length bytes from offset, or all if length is -1. It fails with store.ErrChanged if the object has
	// another tag; "" allows any tag.
	open(ctx context.Context, key, tag string, offset, length int64) (io.ReadCloser, error)
	put(ctx context.Context, key string, body io.Reader, size int64) error
	// create fails with fs.ErrExist if the object exists, and with errConflict if another process creates it at this moment.
	create(ctx context.Context, key string, body *bytes.Reader, token string) error
	delete(ctx context.Context, key string) error
	// answer returns the answer of the server in an error.
	answer(err error) answer
	// permission names the permission that operation op needs.
	permission(op string) string
	close() error
}

// errConflict is the error of create while another process creates the object.
var errConflict = errors.New("another process writes the object at the same time")

// A bucket is a store of a provider.
type bucket struct {
	provider
	location string // URL without a key

	mu     sync.Mutex
	unsure map[string]string // tokens of objects that may have been created, by key and contents
}

// URL returns the URL of a key, without the query.
func (b *bucket) URL(key string) string { return b.location + "/" + key }

func (b *bucket) Close() error { return b.close() }

// List yields the objects in the bytewise order of their keys. It sorts them in memory if the provider has another order.
// A page that repeats and keys out of order are errors.
func (b *bucket) List(ctx context.Context, prefix string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		var all []store.Object // if the provider has another order
		last, page := "", ""
		for first := true; first || page != ""; first = false {
			objects, next, err := b.list(ctx, prefix, page)
			if err == nil && next == page && next != "" {
				err = errors.New("the server lists the same page again and again")
			}
			if err != nil {
				yield(store.Object{}, b.describe("list", prefix, err))
				return
			}
			page = next
			if !b.ordered() {
				all = append(all, objects...)
				continue
			}
			for _, o := range objects {
				if o.Key <= last && last != "" {
					e := b.describe("list", prefix, fmt.Errorf("the server lists %q after %q", o.Key, last))
					e.Fatal, e.Advice = true, "lists must be in the bytewise order of keys"
					yield(store.Object{}, e)
					return
				}
				last = o.Key
				if !yield(o, nil) {
					return
				}
			}
		}
		slices.SortFunc(all, func(a, b store.Object) int { return strings.Compare(a.Key, b.Key) })
		for _, o := range all {
			if !yield(o, nil) {
				return
			}
		}
	}
}

func (b *bucket) Stat(ctx context.Context, key string) (store.Object, error) {
	o, _, err := b.stat(ctx, key)
	if err != nil {
		return store.Object{}, b.describe("read", key, err)
	}
	return o, nil
}

// Open returns length bytes of an object from offset, or all if length is -1. It fails with store.ErrChanged if the object
// is not the listed one. Providers refuse empty ranges, so for an empty part it only compares the tags. A read fails if no
// byte comes for the time in stalled.
func (b *bucket) Open(ctx context.Context, o store.Object, offset, length int64) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var r io.ReadCloser = io.NopCloser(strings.NewReader(""))
	err := store.ErrChanged
	if length != 0 && (o.Size > offset || o.Size == 0) {
		watch := time.AfterFunc(stalled, func() { cancel(errStalled) })
		r, err = b.open(ctx, o.Key, o.Tag, offset, length)
		if err == nil {
			return &body{r, b, o.Key, ctx, cancel, watch}, nil
		}
		watch.Stop()
	}
	if errors.Is(err, store.ErrChanged) { // or the part is empty, or there is no object
		now, statErr := b.Stat(ctx, o.Key)
		switch {
		case statErr != nil:
			err = statErr
		case r != nil && (now.Tag == o.Tag || o.Tag == ""):
			err = nil
		}
	}
	if err != nil {
		err = b.describe("read", o.Key, stallOr(ctx, err))
		r = nil
	}
	cancel(nil)
	return r, err
}

// errStalled ends a read whose connection is silent.
var errStalled = errors.New("no bytes came for a minute")

// stallOr returns errStalled if it ended the context, and otherwise err.
func stallOr(ctx context.Context, err error) error {
	if context.Cause(ctx) == errStalled {
		return errStalled
	}
	return err
}

// body is the part of an object that is being read.
type body struct {
	io.ReadCloser
	bucket *bucket
	key    string
	ctx    context.Context // of the read; cancelled by the watch with errStalled, and by Close
	cancel context.CancelCauseFunc
	watch  *time.Timer
}

// Read restarts the watch with each byte that comes.
func (r *body) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if n > 0 {
		r.watch.Reset(stalled)
	}
	if err != nil {
		r.watch.Stop()
		if err != io.EOF {
			err = r.bucket.describe("read", r.key, stallOr(r.ctx, err))
		}
	}
	return n, err
}

func (r *body) Close() error {
	r.watch.Stop()
	err := r.ReadCloser.Close()
	r.cancel(nil)
	return err
}

// Put writes an object, or replaces it. The body is read once, in order.
func (b *bucket) Put(ctx context.Context, key string, body io.ReadSeeker) error {
	size, err := body.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = body.Seek(0, io.SeekStart)
	}
	if err != nil {
		return b.describe("write", key, err)
	}
	// An error of the body cancels the upload: libraries may take it for the end of the object.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	in := &sizedBody{body: body, left: size, failed: cancel}
	if err := b.put(ctx, key, in, size); err != nil {
		if in.err != nil {
			err = in.err
		}
		return b.describe("write", key, err)
	}
	return nil
}

// sizedBody reads a body of a known size.
type sizedBody struct {
	body   io.Reader
	left   int64 // bytes still to come
	err    error
	failed func(error) // cancels the upload
}

// Read fails, and cancels the upload, if the body has more or fewer bytes than its size, such as a file that grows.
func (w *sizedBody) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	w.left -= int64(n)
	if err == io.EOF && w.left != 0 || err == nil && w.left < 0 {
		err = errors.New("the contents changed while they were written")
	}
	if err != nil && err != io.EOF {
		w.err = err
		w.failed(err)
	}
	return n, err
}

// Create writes an object that must not exist. If no answer comes, the library tries again, and may then find its own
// object. Therefore the object keeps a token of the call; a call that repeats a failed call has the same token.
func (b *bucket) Create(ctx context.Context, key string, data []byte) error {
	call := key + "\x00" + string(data)
	b.mu.Lock()
	token := b.unsure[call]
	delete(b.unsure, call)
	b.mu.Unlock()
	if token == "" {
		token = rand.Text()
	}
	err := b.createOnce(ctx, key, data, token)
	if err == nil {
		return nil
	}
	e := b.describe("create", key, err)
	if !e.Fatal && !errors.Is(e, fs.ErrExist) {
		b.mu.Lock()
		b.unsure[call] = token
		b.mu.Unlock()
	}
	return e
}

// createOnce creates the object. If the object exists with another token, or without a known one, the error is fs.ErrExist.
// It makes at most conflicts attempts and waits twice as long after each conflict.
func (b *bucket) createOnce(ctx context.Context, key string, data []byte, token string) error {
	for attempt := 1; ; attempt++ {
		err := b.create(ctx, key, bytes.NewReader(data), token)
		switch {
		case errors.Is(err, errConflict) && attempt < conflicts:
			select {
			case <-time.After(50 * time.Millisecond << attempt):
			case <-ctx.Done():
				return ctx.Err()
			}
		case errors.Is(err, fs.ErrExist):
			_, owner, statErr := b.stat(ctx, key)
			if statErr == nil && owner == token {
				return nil
			}
			if e := b.describe("create", key, statErr); statErr != nil && !e.Fatal && !errors.Is(e, fs.ErrNotExist) {
				return statErr // the creator is unknown
			}
			return fs.ErrExist
		default:
			return err
		}
	}
}

// Delete deletes an object if it exists.
func (b *bucket) Delete(ctx context.Context, key string) error {
	if err := b.delete(ctx, key); err != nil {
		if e := b.describe("delete", key, err); !errors.Is(e, fs.ErrNotExist) {
			return e
		}
	}
	return nil
}
