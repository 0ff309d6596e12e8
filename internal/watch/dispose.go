package watch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/profile"
)

// mayGrow reports whether an error may disappear when the file is complete.
func mayGrow(err error) bool {
	return !errors.Is(err, profile.ErrMismatch) && !errors.Is(err, profile.ErrUnsupported)
}

// removeMerged disposes of merged files that still exist because a previous run was killed or failed to do so.
func (w *watcher) removeMerged() {
	for _, e := range w.merged {
		if e.seen != w.scans {
			continue
		}
		if err := w.dispose(e); err != nil {
			w.reportTrouble(err)
		}
	}
}

// keeps reports whether merged files stay in place.
func (w *watcher) keeps() bool { return !w.Delete && w.Archive == "" }

// dispose deletes, moves or keeps a merged file. It does not touch a file that has changed since it was merged.
func (w *watcher) dispose(e *entry) error {
	if e.part && w.Quarantine == "" || !e.part && w.keeps() {
		return nil
	}
	id, err := lookAt(e.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it may have been renamed, then scan finds it again
	} else if err != nil {
		return err
	}
	if id != e.id {
		w.recordFile(e.path, id)
		return nil
	}
	if !e.ours {
		// The identity is from the journal of another run: compare the contents.
		content, err := contentOf(e.path, id)
		if err != nil {
			return err
		}
		if content != e.content {
			w.forget(e)
			w.recordFile(e.path, id)
			return nil
		}
		e.ours = true
	}
	switch {
	case e.part:
		_, err = w.moveTo(w.Quarantine, e)
	case w.Delete:
		err = os.Remove(e.path)
	default:
		_, err = w.moveTo(w.Archive, e)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		w.forget(e)
		return nil
	}
	return fmt.Errorf("merged, but still there: %w", err)
}

// moveTo moves a file of the watched folder to the same relative path in another folder
// and returns its new path. If another file has that path, moveTo adds a number to the
// name. If the same file has it, a previous run was killed while it moved the file.
func (w *watcher) moveTo(folder string, e *entry) (to string, err error) {
	rel, err := filepath.Rel(w.root, e.path)
	if err != nil {
		return "", err
	}
	first := filepath.Join(folder, rel)
	if err := os.MkdirAll(filepath.Dir(first), 0o777); err != nil {
		return "", err
	}
	// Programs may write the same name again and again: start at the last number given to the name.
	for n := w.numbered[first]; ; n++ {
		if to = first; n > 0 {
			w.numbered[first] = n
			to = fmt.Sprintf("%s.%d", first, n)
		}
		err := linkOrCopy(e.path, to)
		if err == nil || errors.Is(err, fs.ErrExist) && sameFile(to, e.id, e.content) {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	w.step("moved")
	if err := os.Remove(e.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return to, nil
}

// linkOrCopy links, moves or copies a file to another path, which must not exist.
func linkOrCopy(path, to string) error {
	err := os.Link(path, to)
	if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// A file system without links, or a file of another user.
	if _, err := os.Lstat(to); err == nil {
		return &fs.PathError{Op: "create", Path: to, Err: fs.ErrExist}
	}
	if os.Rename(path, to) == nil {
		return nil
	}
	return copyFile(path, to) // another disk
}

// sameFile reports whether the file at to has the given size, modification time and contents.
func sameFile(to string, id fileID, content contentID) bool {
	other, err := lookAt(to)
	return err == nil && (&entry{id: id, content: content}).isAt(to, other)
}

// copyFile copies a file with its time and permissions, durably.
func copyFile(path, to string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	temp, err := atomicfile.Create(to, atomicfile.Options{Like: info})
	if err != nil {
		return err
	}
	defer temp.Close()
	if _, err := io.Copy(temp, from); err != nil {
		return err
	}
	return temp.Commit()
}
