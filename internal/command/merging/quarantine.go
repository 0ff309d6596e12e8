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

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/merge"
)

// A quarantine is a folder that keeps the profiles left out of a merge. Each keeps its path below the folder, and a
// file beside it states the reason. A profile in a regular file is linked; any other, such as a member of an
// archive, is copied.
type quarantine struct {
	move   bool                        // move files instead of linking them once the result is written
	reason func(*merge.Account) []byte // returns the content of the file beside a profile

	dir string

	mu    sync.Mutex
	moves []string // files that finish moves
	err   error    // the first error
}

// reasonSuffix ends the name of the file that states the reason.
const reasonSuffix = ".reason.json"

// openQuarantine makes the folder unless it exists.
func openQuarantine(dir string) (*quarantine, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	return &quarantine{dir: dir}, nil
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

// pathOf returns the path in the folder for a file.
func (q *quarantine) pathOf(name string) string {
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

// add keeps the profile if it was left out. finish returns its first error.
func (q *quarantine) add(a *merge.Account) {
	if a.Err == nil {
		return
	}
	err := q.keepProfile(a)
	if err == nil && q.reason != nil {
		err = atomicfile.WriteFile(q.pathOf(a.File)+reasonSuffix, bytes.NewReader(q.reason(a)))
	}
	q.keepError(err)
}

func (q *quarantine) keepError(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil && q.err == nil {
		q.err = fmt.Errorf("quarantine: %w", err)
	}
}

func (q *quarantine) keepProfile(a *merge.Account) error {
	to := q.pathOf(a.File)
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
	case q.move:
		q.mu.Lock()
		defer q.mu.Unlock()
		q.moves = append(q.moves, a.File)
		return nil
	}
	return linkFile(a.File, to)
}

// finish moves the files that add left for it if the result was written, and links them otherwise, so that the next
// run still finds them. It returns the first error of the quarantine.
func (q *quarantine) finish(written bool) error {
	for _, name := range q.moves {
		// Link and remove: renaming onto a link to the same file, left by an
		// earlier run, does nothing, and renaming across file systems fails.
		err := linkFile(name, q.pathOf(name))
		if err == nil && written {
			err = os.Remove(name)
		}
		q.keepError(err)
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
