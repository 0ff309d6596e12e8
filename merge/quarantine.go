package merge

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
)

// A Quarantine is a folder that keeps the profiles left out of a merge. Each keeps its path below the folder, and a
// file beside it states the reason. A profile in a regular file is linked; any other, such as a member of an
// archive, is copied.
type Quarantine struct {
	// Move moves files instead of linking them once the result is written.
	Move bool
	// Reason returns the content of the file beside a profile.
	Reason func(*Account) []byte

	dir string

	mu    sync.Mutex
	moves []string // files that Finish moves
	err   error    // the first error of Add or Finish
}

// ReasonSuffix ends the name of the file that states the reason.
const ReasonSuffix = ".reason.json"

// OpenQuarantine makes the folder unless it exists.
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

// place returns the path in the folder for a file.
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

// Add keeps the profile if it was left out. Pass Add as [Options].Ended.
// [Quarantine.Finish] returns its first error.
func (q *Quarantine) Add(a *Account) {
	if a.Err == nil {
		return
	}
	err := q.put(a)
	if err == nil && q.Reason != nil {
		err = atomicfile.WriteFile(q.place(a.File)+ReasonSuffix, bytes.NewReader(q.Reason(a)))
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
		return atomicfile.WriteFile(to, bytes.NewReader(a.Data))
	case q.Move:
		q.mu.Lock()
		defer q.mu.Unlock()
		q.moves = append(q.moves, a.File)
		return nil
	}
	return linkFile(a.File, to)
}

// Finish handles the files that Add has left for Move: it moves them if the result
// was written and links them otherwise, so that the next run still finds them in
// their old places. It returns the first error of the quarantine.
func (q *Quarantine) Finish(written bool) error {
	for _, name := range q.moves {
		// Link and remove: renaming onto a link to the same file, left by an
		// earlier run, does nothing, and renaming across file systems fails.
		err := linkFile(name, q.place(name))
		if err == nil && written {
			err = os.Remove(name)
		}
		q.failed(err)
	}
	return q.err
}

// linkFile makes to a hard link to from, or a copy where the file system has no hard links.
func linkFile(from, to string) error {
	if a, err := os.Stat(from); err == nil {
		if b, err := os.Stat(to); err == nil && os.SameFile(a, b) {
			return nil // an earlier run linked it
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
	return atomicfile.WriteFile(to, f)
}
