//go:build unix

package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/files/store"
)

// TestFleetDieAnywhere ends a plan, each task and the reduce before and after each operation on the bucket. What is
// started again goes on, and the result has the bytes of one merge, with each profile counted once.
func TestFleetDieAnywhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := copiesOfRuns(t, filepath.Join(dir, "raw"), 7)
	flat := filepath.Join(dir, "flat.profdata")
	profuse(t, append([]string{"merge", "-q", "-o", flat}, files...)...)
	deaths := 0
	// dies runs a command that dies at a moment, and reports whether it came to that.
	dies := func(bucket string, at int, args ...string) bool {
		m := &mortal{Store: store.NewFolder(filepath.Join(dir, bucket)), left: at}
		err := m.run(t, args...)
		if m.left >= 0 && err != "" {
			t.Fatalf("%q: %s", args, err)
		}
		if m.left < 0 {
			deaths++
		}
		return m.left < 0
	}
	for at := 0; ; at++ {
		bucket := fmt.Sprint("bucket", at)
		for _, f := range files {
			copyTo(t, filepath.Join(dir, bucket, "raw", filepath.Base(f)), f)
		}
		died := false
		for _, args := range [][]string{
			{"fleet", "plan", "die://b/job", "die://b/raw", "--shard-objects", "3"},
			{"fleet", "task", "die://b/job", "--index", "0"},
			{"fleet", "task", "die://b/job", "--index", "1", "--of", "2"},
			{"fleet", "task", "die://b/job", "--index", "2"},
			{"fleet", "reduce", "-q", "die://b/job", "-o", "die://b/out.profdata"},
		} {
			if dies(bucket, at, args...) {
				died = true
				again := &mortal{Store: store.NewFolder(filepath.Join(dir, bucket)), left: 1 << 30}
				// A plan may be there although its process died before it heard of it.
				if err := again.run(t, args...); err != "" && !(args[1] == "plan" && strings.Contains(err, "a job has one plan")) {
					t.Fatalf("moment %d, %q again: %s", at, args, err)
				}
			}
		}
		wantSame(t, filepath.Join(dir, bucket, "out.profdata"), flat)
		if !died {
			break
		}
	}
	if deaths < 50 {
		t.Errorf("only %d processes died", deaths)
	}
	t.Logf("%d processes died", deaths)
}

// mortal is a store whose process dies at some moment, after which all operations fail.
type mortal struct {
	store.Store
	mu   sync.Mutex
	left int // moments before and after operations, until it dies
}

// run runs a command of profuse, and returns what it says if it fails.
func (m *mortal) run(t *testing.T, args ...string) string {
	t.Helper()
	stores := store.NewAccess(t.Context(), store.Drivers{"die": func(context.Context, *url.URL) (store.Store, error) { return m, nil }})
	defer stores.Close()
	var stderr bytes.Buffer
	env := &cli.Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &stderr, Getenv: func(string) string { return "" }, Stores: stores}
	if run(t.Context(), env, append([]string{"profuse"}, args...)) != 0 {
		return stderr.String()
	}
	return ""
}

var errDied = &store.Error{Op: "do", URL: "die://b", Err: errors.New("the process has died"), Fatal: true}

// live runs an operation unless the process has died, which it does before or after one.
func (m *mortal) live(do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left--; m.left < 0 {
		return errDied
	}
	err := do()
	if m.left--; m.left < 0 {
		return errDied
	}
	return err
}

func (m *mortal) List(ctx context.Context, prefix string) iter.Seq2[store.Object, error] {
	var list iter.Seq2[store.Object, error]
	if err := m.live(func() error { list = m.Store.List(ctx, prefix); return nil }); err != nil {
		return func(yield func(store.Object, error) bool) { yield(store.Object{}, err) }
	}
	return list
}

func (m *mortal) Stat(ctx context.Context, key string) (o store.Object, err error) {
	err = m.live(func() error { o, err = m.Store.Stat(ctx, key); return err })
	return o, err
}

func (m *mortal) Open(ctx context.Context, o store.Object, offset, length int64) (r io.ReadCloser, err error) {
	err = m.live(func() error { r, err = m.Store.Open(ctx, o, offset, length); return err })
	return r, err
}

func (m *mortal) Put(ctx context.Context, key string, body io.ReadSeeker) error {
	return m.live(func() error { return m.Store.Put(ctx, key, body) })
}

func (m *mortal) Create(ctx context.Context, key string, data []byte) error {
	return m.live(func() error { return m.Store.Create(ctx, key, data) })
}
