// Package storetest tests that a driver implements store.Store.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/internal/files/store"
)

// Run tests an empty store. open opens it again, as another process would.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	// Each part uses keys below a name of its own, so that one store is enough.
	s := open(t)
	t.Run("objects", func(t *testing.T) { testObjects(t, s) })
	t.Run("list", func(t *testing.T) { testList(t, s) })
	t.Run("changed", func(t *testing.T) { testChanged(t, s) })
	t.Run("create", func(t *testing.T) { testCreate(t, open) })
	t.Run("names", func(t *testing.T) { testNames(t, s) })
}

// put, stat and read end the test at an error.
func put(t *testing.T, s store.Store, key string, data []byte) {
	t.Helper()
	if err := s.Put(t.Context(), key, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
}

func stat(t *testing.T, s store.Store, key string) store.Object {
	t.Helper()
	o, err := s.Stat(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func read(t *testing.T, s store.Store, o store.Object, offset, length int64) []byte {
	t.Helper()
	r, err := s.Open(t.Context(), o, offset, length)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// testObjects: an object has the bytes that were written, in whole and in part, until it is replaced or deleted.
func testObjects(t *testing.T, s store.Store) {
	// Random bytes, since a server may store equal blocks once.
	rng := rand.New(rand.NewPCG(1, 2))
	// Drivers upload from some size on in several parts (multipart uploads of S3, blocks of Azure), which must end up in order.
	large := make([]byte, 11<<20) // several parts
	for i := range large {
		large[i] = byte(rng.Uint32())
	}
	for name, data := range map[string][]byte{"a": []byte("one"), "deep/er/b": large, "empty": {}} {
		key := "objects/" + name
		put(t, s, key, data)
		o := stat(t, s, key)
		// The clock of a server may be another one than ours, by less than a day.
		if o.Key != key || o.Size != int64(len(data)) || o.Tag == "" || time.Since(o.Modified).Abs() > 24*time.Hour {
			t.Errorf("%+v of %d bytes", o, len(data))
		}
		if got := read(t, s, o, 0, -1); !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes read, %d written", key, len(got), len(data))
		}
		// An empty tag asks for the object as it is now.
		if got := read(t, s, store.Object{Key: key, Size: o.Size}, 0, -1); !bytes.Equal(got, data) {
			t.Errorf("%s without a tag: %d bytes read, %d written", key, len(got), len(data))
		}
		// A read of a part begins and ends within the object.
		if len(data) > 2 {
			from, n := len(data)/3, len(data)/2
			if got := read(t, s, o, int64(from), int64(n)); !bytes.Equal(got, data[from:from+n]) {
				t.Errorf("%s: %d other bytes from %d", key, n, from)
			}
		}
	}

	put(t, s, "objects/a", []byte("other"))
	if got := read(t, s, stat(t, s, "objects/a"), 0, -1); string(got) != "other" {
		t.Errorf("replaced by %q", got)
	}
	if err := s.Delete(t.Context(), "objects/a"); err != nil {
		t.Error(err)
	}
	// Two tasks may clean up the same object.
	if err := s.Delete(t.Context(), "objects/a"); err != nil {
		t.Errorf("a second deletion: %v", err)
	}
	// A deleted object, one that never was, and what would be a folder are all missing. Readers tell a
	// missing object from a failure by fs.ErrNotExist.
	for _, key := range []string{"objects/a", "objects/none", "objects/deep"} {
		_, err := s.Stat(t.Context(), key)
		wantError(t, err, fs.ErrNotExist, s.URL(key))
		_, err = s.Open(t.Context(), store.Object{Key: key, Size: 1, Tag: "x"}, 0, -1)
		wantError(t, err, fs.ErrNotExist, s.URL(key))
	}
}

func wantError(t *testing.T, err, want error, url string) {
	t.Helper()
	if e := (*store.Error)(nil); !errors.Is(err, want) || !errors.As(err, &e) || e.URL != url {
		t.Errorf("%v, want %v of %s", err, want, url)
	}
}

// testList: a list has every object whose key begins with the prefix, in the bytewise order of
// keys, also if the server divides the list into pages.
func testList(t *testing.T, s store.Store) {
	var want []string
	// The bytes '-' and '.' come before '/', '0' after it: sorted by folders the order would be another.
	for _, name := range []string{"a-b", "a.c", "a/b", "a/b/c", "a/é", "a0", "b", "prefix-1", "prefix-2/x", "prefix"} {
		key := "list/" + name
		if name != "a/b" { // a file and a folder at once
			put(t, s, key, []byte(name))
			want = append(want, key)
		}
	}
	for i := range 1200 { // more than a page of most stores
		key := fmt.Sprintf("list/many/%d", i)
		put(t, s, key, nil)
		want = append(want, key)
	}
	slices.Sort(want)
	// A prefix need not end at a slash, and may be a whole key.
	for _, prefix := range []string{"list/", "list/a", "list/a/", "list/prefix", "list/prefix-2/x", "list/none", "list/many/11"} {
		var got, expected []string
		for o, err := range s.List(t.Context(), prefix) {
			if err != nil {
				t.Fatal(err)
			}
			// The tag of the list is the one that Open compares.
			if again := stat(t, s, o.Key); again.Tag != o.Tag || again.Size != o.Size {
				t.Errorf("listed %+v, then %+v", o, again)
			}
			got = append(got, o.Key)
		}
		for _, key := range want {
			if strings.HasPrefix(key, prefix) {
				expected = append(expected, key)
			}
		}
		if !slices.Equal(got, expected) {
			t.Errorf("%s: listed %d keys, want %d\n%.300q\n%.300q", prefix, len(got), len(expected), got, expected)
		}
	}
	// The loop body must not be called again after a break.
	for range s.List(t.Context(), "list/") {
		break // must not go on, nor panic
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range s.List(ctx, "list/") {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
	}
}

// testChanged: an object that was replaced after it was listed is an error, not other bytes. Both
// contents have the same length, so that the size alone does not tell.
func testChanged(t *testing.T, s store.Store) {
	const key = "changed/x"
	put(t, s, key, []byte("first contents"))
	o := stat(t, s, key)
	time.Sleep(20 * time.Millisecond) // a tick of the clock of a file system
	put(t, s, key, []byte("other contents"))
	_, err := s.Open(t.Context(), o, 0, -1)
	wantError(t, err, store.ErrChanged, s.URL(key))
	_, err = s.Open(t.Context(), o, 3, 4)
	wantError(t, err, store.ErrChanged, s.URL(key))
}

// testCreate has many writers create the same objects.
func testCreate(t *testing.T, open func(t *testing.T) store.Store) {
	// Three connections stand for several processes: a lock inside one connection would hide a race of the server.
	stores := []store.Store{open(t), open(t), open(t)}
	// Twelve writers use three connections, forty times, because their order is random.
	for i := range 40 {
		key := fmt.Sprintf("create/%d", i)
		var wins atomic.Int32
		var winner atomic.Pointer[string]
		var group sync.WaitGroup
		for w := range 12 {
			group.Go(func() {
				data := fmt.Sprintf("written by %d", w)
				switch err := stores[w%len(stores)].Create(t.Context(), key, []byte(data)); {
				case err == nil:
					wins.Add(1)
					winner.Store(&data)
				case !errors.Is(err, fs.ErrExist):
					t.Error(err)
				}
			})
		}
		group.Wait()
		if wins.Load() != 1 {
			t.Fatalf("%s: %d writers created it", key, wins.Load())
		}
		if got := read(t, stores[0], stat(t, stores[0], key), 0, -1); string(got) != *winner.Load() {
			t.Errorf("%s: %q, want %q", key, got, *winner.Load())
		}
	}
	// Create never replaces an existing object, also long after the race.
	wantError(t, stores[0].Create(t.Context(), "create/0", nil), fs.ErrExist, stores[0].URL("create/0"))
}

// testNames: names are data.
func testNames(t *testing.T, s store.Store) {
	// Characters with a meaning in URLs, shells and patterns, and letters that UTF-8 has in two bytes.
	for _, name := range []string{"a b", "$(touch x)", "a'b\"c", "100%25", "a+b", "a?b#c", "ünïcode", "a;b&c=d", "~", "a\\b"} {
		key := "names/" + name
		err := s.Put(t.Context(), key, strings.NewReader(name))
		if err != nil && strings.Contains(err.Error(), "no path") {
			continue // no name of a file here
		}
		if err != nil {
			t.Errorf("%q: %v", key, err)
			continue
		}
		if got := read(t, s, stat(t, s, key), 0, -1); string(got) != name {
			t.Errorf("%q has %q", key, got)
		}
		// The name must come back from a list as it was written, not as a URL has it.
		found := false
		for o, err := range s.List(t.Context(), "names/") {
			found = found || err == nil && o.Key == key
		}
		if !found {
			t.Errorf("%q is not listed", key)
		}
	}
}
