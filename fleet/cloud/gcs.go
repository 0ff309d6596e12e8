package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"cloud.google.com/go/storage"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"

	"github.com/profuse-pgo/profuse/internal/files/store"
)

// gcsBucket is a bucket of Google Cloud Storage.
type gcsBucket struct {
	client *storage.Client
	bucket *storage.BucketHandle
}

// openGCS does not use Go CDK, which prints a warning if there are no credentials.
func openGCS(ctx context.Context, u *url.URL) (provider, error) {
	var options []option.ClientOption
	var user string
	for name, values := range u.Query() {
		switch value := values[0]; name {
		case "anonymous":
			anonymous, err := strconv.ParseBool(value)
			if err != nil {
				return nil, fmt.Errorf("anonymous is %q: want true or false", value)
			}
			if anonymous {
				options = append(options, option.WithoutAuthentication())
			}
		case "universe_domain":
			options = append(options, option.WithUniverseDomain(value))
		case "user_project":
			user = value
		default:
			return nil, fmt.Errorf("unknown query parameter %q: want anonymous, universe_domain or user_project", name)
		}
	}
	client, err := storage.NewClient(context.WithoutCancel(ctx), options...)
	if err != nil {
		return nil, err
	}
	b := &gcsBucket{client, client.Bucket(u.Host)}
	if user != "" {
		b.bucket = b.bucket.UserProject(user)
	}
	return b, nil
}

// retryOptions returns options for a request that is tried several times. Every request of this package may be repeated:
// of several requests that create an object only the first succeeds.
func retryOptions(attempts int) []storage.RetryOption {
	return []storage.RetryOption{storage.WithMaxAttempts(attempts), storage.WithPolicy(storage.RetryAlways)}
}

// object returns the object with a key, with requests that are tried several times.
func (b *gcsBucket) object(key string, attempts int) *storage.ObjectHandle {
	return b.bucket.Object(key).Retryer(retryOptions(attempts)...)
}

func (b *gcsBucket) ordered() bool { return true }

// list asks only for the four fields that it returns.
func (b *gcsBucket) list(ctx context.Context, prefix, page string) (objects []store.Object, next string, err error) {
	query := &storage.Query{Prefix: prefix}
	if err := query.SetAttrSelection([]string{"Name", "Size", "Generation", "Updated"}); err != nil {
		return nil, "", err
	}
	var found []*storage.ObjectAttrs
	next, err = iterator.NewPager(b.bucket.Retryer(retryOptions(retries)...).Objects(ctx, query), pageSize, page).NextPage(&found)
	for _, o := range found {
		objects = append(objects, gcsObject(o))
	}
	return objects, next, err
}

// gcsObject converts an object. The tag is the generation, which every write changes.
func gcsObject(o *storage.ObjectAttrs) store.Object {
	return store.Object{Key: o.Name, Size: o.Size, Tag: strconv.FormatInt(o.Generation, 10), Modified: o.Updated}
}

func (b *gcsBucket) stat(ctx context.Context, key string) (store.Object, string, error) {
	o, err := b.object(key, retries).Attrs(ctx)
	if err != nil {
		return store.Object{}, "", err
	}
	return gcsObject(o), o.Metadata[tokenName], nil
}

// open asks for the generation in tag.
func (b *gcsBucket) open(ctx context.Context, key, tag string, offset, length int64) (io.ReadCloser, error) {
	// Without decompression, because the size of the object counts compressed bytes.
	o := b.object(key, fewRetries).ReadCompressed(true)
	var generation int64
	if tag != "" {
		var err error
		if generation, err = strconv.ParseInt(tag, 10, 64); err != nil || generation <= 0 {
			return nil, store.ErrChanged
		}
		o = o.If(storage.Conditions{GenerationMatch: generation})
	}
	r, err := o.NewRangeReader(ctx, offset, length)
	if b.answer(err).status == http.StatusPreconditionFailed {
		err = store.ErrChanged
	}
	if err != nil {
		return nil, err
	}
	if tag != "" && r.Attrs.Generation != generation { // the server does not know conditions
		r.Close()
		return nil, store.ErrChanged
	}
	return r, nil
}

// uploadObject returns an object to write, with a limit on attempts: without ErrorFunc the library repeats parts of an upload
// for ever.
func (b *gcsBucket) uploadObject(key string) *storage.ObjectHandle {
	failed := 0 // by one goroutine
	return b.object(key, fewRetries).Retryer(storage.WithErrorFunc(func(err error) bool {
		failed++
		return failed < fewRetries && storage.ShouldRetry(err)
	}))
}

// put writes no object if body fails.
func (b *gcsBucket) put(ctx context.Context, key string, body io.Reader, size int64) error {
	return b.write(ctx, b.uploadObject(key).NewWriter(ctx), body, size)
}

// write copies body to w and makes the object visible, unless the context ended.
func (b *gcsBucket) write(ctx context.Context, w *storage.Writer, body io.Reader, size int64) error {
	w.ContentType = "application/octet-stream"
	w.ChunkSize = int(min(size+1, partSize)) // memory of the upload
	if _, err := io.Copy(w, body); err != nil {
		return err // nothing is visible, and the caller ends the context
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return w.Close()
}

func (b *gcsBucket) create(ctx context.Context, key string, body *bytes.Reader, token string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := b.uploadObject(key).If(storage.Conditions{DoesNotExist: true}).NewWriter(ctx)
	w.Metadata = map[string]string{tokenName: token}
	err := b.write(ctx, w, body, body.Size())
	if b.answer(err).status == http.StatusPreconditionFailed {
		return fs.ErrExist
	}
	return err
}

func (b *gcsBucket) delete(ctx context.Context, key string) error {
	return b.object(key, retries).Delete(ctx)
}

// answer returns status, code and message of the error of the API. The library's own errors for a missing object or bucket
// have status 404.
func (b *gcsBucket) answer(err error) (a answer) {
	var api *googleapi.Error
	if errors.As(err, &api) {
		a.status, a.message = api.Code, api.Message
		if len(api.Errors) > 0 {
			a.code = api.Errors[0].Reason
		}
		if a.message == "" {
			a.message = api.Body
		}
		// These codes repeat the status.
		if a.code == "notFound" || a.code == "forbidden" || a.code == "required" {
			a.code = ""
		}
	}
	switch {
	case errors.Is(err, storage.ErrObjectNotExist):
		a.status = http.StatusNotFound
	case errors.Is(err, storage.ErrBucketNotExist):
		a.status, a.message, a.missing = http.StatusNotFound, "the bucket does not exist", true
	}
	a.missing = a.missing || a.status == http.StatusNotFound && strings.Contains(a.message, "bucket does not exist")
	return a
}

func (b *gcsBucket) permission(op string) string {
	switch op {
	case "list":
		return "storage.objects.list for the bucket"
	case "read":
		return "storage.objects.get for the object"
	case "delete":
		return "storage.objects.delete for the object"
	}
	return "storage.objects.create for the object, and storage.objects.delete to replace it"
}

func (b *gcsBucket) close() error { return b.client.Close() }
