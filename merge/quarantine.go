package merge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/internal/atomicfile"
)

// A Quarantine is a folder for what a merge left out. Files keep their paths
// below it, and beside each lies a file that says why it is there. Files are
// linked; what is no file of its own, the member of an archive for one, is
// copied.
type Quarantine struct {
	// Move moves files instead of linking them, if the result is written.
	Move bool
	// Reason returns what the file beside a file says.
	Reason func(*Account) []byte

	dir string

	mu    sync.Mutex
	moves []string // files to move in the end
	err   error    // the first
}

// ReasonSuffix is what the name of the file that says why ends in.
const ReasonSuffix = ".reason.json"

// OpenQuarantine makes the folder if there is none.
func OpenQuarantine(dir string) (*Quarantine, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	return &Quarantine{dir: dir}, nil
}

// Holds reports whether a path is in the folder.
func (q *Quarantine) Holds(path string) bool {
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
func (q *Quarantine) place(name string) string {
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

// Add sets a profile aside that is left out; it does nothing with others. It is
// made for Options.Ended. [Quarantine.Finish] returns what fails.
func (q *Quarantine) Add(a *Account) {
	if a.Err == nil {
		return
	}
	err := q.put(a)
	if err == nil && q.Reason != nil {
		err = writeFile(q.place(a.File)+ReasonSuffix, bytes.NewReader(q.Reason(a)))
	}
	q.failed(err)
}

func (q *Quarantine) failed(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil && q.err == nil {
		q.err = fmt.Errorf("quarantine: %w", err)
	}
}

func (q *Quarantine) put(a *Account) error {
	to := q.place(a.File)
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	info, err := os.Stat(a.File)
	switch {
	case err != nil || !info.Mode().IsRegular(): // a member of an archive, standard input, a pipe
		if a.Data == nil {
			return nil
		}
		return writeFile(to, bytes.NewReader(a.Data))
	case q.Move:
		q.mu.Lock()
		defer q.mu.Unlock()
		q.moves = append(q.moves, a.File)
		return nil
	}
	return linkFile(a.File, to)
}

// Finish moves what is to be moved if the result was written, and links it
// otherwise: what was lost must not be forgotten before the next run. It returns
// the first error of the quarantine.
func (q *Quarantine) Finish(written bool) error {
	for _, name := range q.moves {
		// Renaming to a link of the same file, of an earlier run, would do
		// nothing, and to another file system it is not possible.
		err := linkFile(name, q.place(name))
		if err == nil && written {
			err = os.Remove(name)
		}
		q.failed(err)
	}
	return q.err
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
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return writeFile(to, f)
}

// writeFile writes a file, or nothing of it.
func writeFile(to string, r io.Reader) error {
	f, err := atomicfile.Create(to, atomicfile.Options{})
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(f, r); err != nil {
		return err
	}
	return f.Commit()
}
