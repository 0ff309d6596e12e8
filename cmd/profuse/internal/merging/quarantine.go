package merging

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
)

// A quarantine is a folder for what a merge left out. Files keep their paths
// below it, and beside each lies a file that says why it is there. Files are
// linked; what is no file of its own, the member of an archive for one, is
// copied.
type quarantine struct {
	dir  string
	move bool

	mu    sync.Mutex
	moves []string // files that go there, in the end
	err   error    // the first
}

// ReasonSuffix is what the file that says why has behind the name of the other.
const ReasonSuffix = ".reason.json"

func openQuarantine(dir string, move bool) (*quarantine, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	return &quarantine{dir: dir, move: move}, nil
}

// holds reports whether a path is in the folder.
func (q *quarantine) holds(path string) bool {
	dir, err := filepath.Abs(q.dir)
	if err != nil {
		return false
	}
	if path, err = filepath.Abs(path); err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// place is where a file comes to lie.
func (q *quarantine) place(name string) string {
	name = filepath.Clean(strings.TrimPrefix(name, filepath.VolumeName(name)))
	var parts []string
	for part := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		switch part {
		case "":
		case "..":
			parts = append(parts, "_up")
		default:
			parts = append(parts, part)
		}
	}
	return filepath.Join(q.dir, filepath.Join(parts...))
}

// add puts a profile that is left out there.
func (q *quarantine) add(a *Account) {
	if q == nil {
		return
	}
	err := q.put(a)
	if err == nil {
		err = a.explain(q.place(a.File))
	}
	if err != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.err == nil {
			q.err = fmt.Errorf("quarantine: %w", err)
		}
	}
}

func (q *quarantine) put(a *Account) error {
	to := q.place(a.File)
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	info, err := os.Stat(a.File)
	switch {
	case err != nil || !info.Mode().IsRegular(): // a member of an archive, standard input, a pipe
		if a.data == nil {
			return nil
		}
		return console.WriteWhole(to, bytes.NewReader(a.data))
	case q.move:
		q.mu.Lock()
		defer q.mu.Unlock()
		q.moves = append(q.moves, a.File)
		return nil
	}
	return linkFile(a.File, to)
}

// linkFile makes to a hard link of a file, or a copy where there are none.
func linkFile(from, to string) error {
	if a, err := os.Stat(from); err == nil {
		if b, err := os.Stat(to); err == nil && os.SameFile(a, b) {
			return nil // of an earlier run
		}
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if os.Link(from, to) == nil {
		return nil
	}
	return copyFile(from, to)
}

func copyFile(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return console.WriteWhole(to, f)
}

// explain writes the account of a profile beside a file.
func (a *Account) explain(file string) error {
	var b bytes.Buffer
	console.WriteJSON(&b, a, "")
	return console.WriteWhole(file+ReasonSuffix, &b)
}

// finish moves what is to be moved if the result was written, and links it
// otherwise: what was lost must not be forgotten before the next run.
func (q *quarantine) finish(written bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, name := range q.moves {
		// Renaming to a link of the same file, of an earlier run, would do
		// nothing, and to another file system it is not possible.
		err := linkFile(name, q.place(name))
		if err == nil && written {
			err = os.Remove(name)
		}
		if err != nil && q.err == nil {
			q.err = fmt.Errorf("quarantine: %w", err)
		}
	}
	return q.err
}
