package instrument_test

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// Compilers take nearly all the time of these tests, so what they make is made once: a memo keeps
// assembly, programs and what programs print for all tests that ask.
type memo[V any] struct {
	mu    sync.Mutex
	cells map[string]*cell[V]
}

type cell[V any] struct {
	mu    sync.Mutex
	made  bool
	value V
}

// get returns the value of a key. A make that ends its test leaves nothing
// behind: the next to ask tries again and fails by itself.
func (m *memo[V]) get(key string, make func() V) V {
	m.mu.Lock()
	if m.cells == nil {
		m.cells = map[string]*cell[V]{}
	}
	c := m.cells[key]
	if c == nil {
		c = new(cell[V])
		m.cells[key] = c
	}
	m.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.made {
		c.value = make()
		c.made = true
	}
	return c.value
}

var (
	assemblies memo[[]byte]
	programs   memo[*built]
	runtimes   memo[string]
	triples    memo[string]
	runs       memo[*ran]
)

// kept is the folder of what memos keep.
var kept string

func TestMain(m *testing.M) {
	var err error
	if kept, err = os.MkdirTemp("", "profuse-instrument-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(kept)
	os.Exit(code)
}

// keptDir makes a folder that stays until all tests have ended.
func keptDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(kept, "")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
