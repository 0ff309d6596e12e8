package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// A flakyStore fails at random, and cuts what it returns.
type flakyStore struct {
	*Folder
	reads, open, most atomic.Int64
	fails             func() error // of a read; may be nil
	cuts              bool         // the first read of each part fails, and the second ends early

	mu    sync.Mutex
	times map[string]int // that parts were read
}

// cut returns the bytes to return of a part, and an error in place of them.
func (s *flakyStore) cut(key string, offset, length int64) (int64, error) {
	if !s.cuts {
		return length, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.times == nil {
		s.times = make(map[string]int)
	}
	part := fmt.Sprint(key, offset/partSize)
	s.times[part]++
	switch s.times[part] {
	case 1:
		return 0, &Error{Op: "read", Err: errors.New("slow down")}
	case 2:
		return rand.Int64N(max(length, 1)), nil
	}
	return length, nil
}

// hidden keeps the Fetcher from taking the folder's files themselves.
type hidden struct{ Store }

func (s *flakyStore) Open(ctx context.Context, o Object, offset, length int64) (io.ReadCloser, error) {
	s.reads.Add(1)
	if s.fails != nil {
		if err := s.fails(); err != nil {
			return nil, err
		}
	}
	length, err := s.cut(o.Key, offset, length)
	if err != nil {
		return nil, err
	}
	r, err := s.Folder.Open(ctx, o, offset, length)
	if err != nil {
		return nil, err
	}
	s.most.Store(max(s.most.Load(), s.open.Add(1)))
	return struct {
		io.Reader
		io.Closer
	}{r, closer(func() error { s.open.Add(-1); return r.Close() })}, nil
}

type closer func() error

func (c closer) Close() error { return c() }

func testFetcher(t *testing.T) *Fetcher {
	f := NewFetcher(t.Context(), t.TempDir())
	f.wait = func(context.Context, time.Duration) error { return nil }
	t.Cleanup(func() {
		f.Close()
		if left, err := os.ReadDir(f.Folder); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	return f
}

func contents(t *testing.T, s Store, sizes ...int) (objects []Object, all [][]byte) {
	t.Helper()
	rng := rand.NewChaCha8([32]byte{1})
	for i, size := range sizes {
		data := make([]byte, size)
		rng.Read(data)
		key := "o" + string(rune('a'+i))
		oracle.NoError(t, s.Put(t.Context(), key, bytes.NewReader(data)))
		o := oracle.Must(s.Stat(t.Context(), key))(t)
		objects, all = append(objects, o), append(all, data)
	}
	return objects, all
}

// TestFetch copies objects whose reads fail and end early, in order and at random.
func TestFetch(t *testing.T) {
	s := &flakyStore{Folder: NewFolder(t.TempDir()), cuts: true}
	objects, all := contents(t, s, 0, 1, 100, 70_000, partSize-1, partSize, partSize+1, 3*partSize+5, 9)
	f := testFetcher(t)
	var fetches []func() (string, func(), error)
	for _, o := range objects {
		fetches = append(fetches, f.Add(hidden{s}, o))
	}
	check := func(i int) {
		path, release, err := fetches[i]()
		if err != nil {
			t.Error(err)
			return
		}
		defer release()
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, all[i]) {
			t.Errorf("object %d: %d bytes, want %d; %v", i, len(got), len(all[i]), err)
		}
	}
	for i := range fetches {
		check(i)
	}
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for range 12 {
				check(rand.IntN(len(fetches)))
			}
		})
	}
	group.Wait()
	if n := s.most.Load(); n > maxReads {
		t.Errorf("%d reads in flight", n)
	}
}

// TestFetchFails: an error that stays is returned, and the next attempt may succeed.
func TestFetchFails(t *testing.T) {
	var reason atomic.Pointer[error]
	s := &flakyStore{Folder: NewFolder(t.TempDir()), fails: func() error {
		if e := reason.Load(); e != nil {
			return &Error{Op: "read", URL: "x", Err: *e}
		}
		return nil
	}}
	objects, all := contents(t, s, 5)
	f := testFetcher(t)
	fetch := f.Add(hidden{s}, objects[0])
	for want, tries := range map[error]int64{errors.New("no answer"): attempts, fs.ErrPermission: 1, ErrChanged: 1} {
		reason.Store(&want)
		s.reads.Store(0)
		if _, _, err := fetch(); !errors.Is(err, want) || s.reads.Load() != tries {
			t.Errorf("%v after %d reads; want %v after %d", err, s.reads.Load(), want, tries)
		}
	}
	reason.Store(nil)
	path, release, err := fetch()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, all[0]) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestFetchAhead: objects are copied ahead, but not all of them.
func TestFetchAhead(t *testing.T) {
	s := &flakyStore{Folder: NewFolder(t.TempDir())}
	objects, _ := contents(t, s, 10, 10, 10, 10)
	objects[2].Size = maxAhead // so it claims; it is not read to its end
	f := testFetcher(t)
	var fetches []func() (string, func(), error)
	for _, o := range objects {
		fetches = append(fetches, f.Add(hidden{s}, o))
	}
	_, release, err := fetches[0]()
	if err != nil {
		t.Fatal(err)
	}
	release()
	f.mu.Lock()
	next, begun := f.next, f.copies[1].done != nil
	f.mu.Unlock()
	if next != 2 || !begun {
		t.Errorf("%d objects begun, want 2", next)
	}
}

// TestFetchCanceled: readers do not wait for a store that does not answer.
func TestFetchCanceled(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	s := &flakyStore{Folder: NewFolder(t.TempDir()), fails: func() error {
		<-ctx.Done()
		return ctx.Err()
	}}
	objects, _ := contents(t, s, 5, 5)
	f := NewFetcher(ctx, dir)
	fetch := f.Add(hidden{s}, objects[0])
	f.Add(hidden{s}, objects[1])
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, _, err := fetch(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	f.Close()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestFind: what a location stands for.
func TestFind(t *testing.T) {
	folder := NewFolder(t.TempDir())
	for _, key := range []string{"a/1.profraw", "a/2.profraw", "a/b/3.profraw", "a/b", "ab", "c"} {
		if key != "a/b" {
			oracle.NoError(t, folder.Put(t.Context(), key, strings.NewReader(key)))
		}
	}
	access := NewAccess(t.Context(), Drivers{"test": func(context.Context, *url.URL) (Store, error) { return hidden{folder}, nil }})
	defer access.Close()
	for location, want := range map[string]string{
		"test://b/a":         "1.profraw 2.profraw b/3.profraw",
		"test://b/a/":        "1.profraw 2.profraw b/3.profraw",
		"test://b/ab":        "ab",
		"test://b/a/?.prof*": "1.profraw 2.profraw",
		"test://b":           "a/1.profraw a/2.profraw a/b/3.profraw ab c",
		"test://b/none":      "",
		"test://b/n*":        "",
	} {
		found, err := access.Find(strings.ReplaceAll(location, "?", "%3F"))
		var got []string
		for _, f := range found {
			got = append(got, f.Path)
		}
		if strings.Join(got, " ") != want || (err != nil) != (want == "") || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v", location, got, err)
		}
	}
}

// TestFetchMany: copies that are kept take no open files.
func TestFetchMany(t *testing.T) {
	s := &flakyStore{Folder: NewFolder(t.TempDir())}
	objects, all := contents(t, s, 7)
	f := testFetcher(t)
	f.Keep = true
	var fetches []func() (string, func(), error)
	for range 3000 {
		fetches = append(fetches, f.Add(hidden{s}, objects[0]))
	}
	for _, fetch := range fetches {
		path, release, err := fetch()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, all[0]) {
			t.Fatalf("%q, %v", got, err)
		}
		release()
	}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil && len(open) > 500 {
		t.Errorf("%d open files", len(open))
	}
}
