package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/files/filelock"
)

// A file is a file in the folder that has not been merged.
type file struct {
	id    fileID
	state fileState
	since time.Time // when this version was first seen, or was last being written
	tries int       // attempts to merge this version
	moves int       // changes of since
}

type fileState int

const (
	settling fileState = iota // may still be written
	waiting                   // to be merged
	refused                   // cannot be merged unless it changes
	busy                      // keeps changing, and the run cannot wait for it
)

// maxMoves bounds how often a run that is about to end waits for a file to settle.
const maxMoves = 3

// scan reads the whole folder. Folders below it that cannot be read are reported as trouble.
func (w *watcher) scan() error {
	w.scans++
	w.scanned = time.Now()
	known := maps.Clone(w.files)
	if err := w.scanFolder(w.root, func(path string) { delete(known, path) }); err != nil {
		return err
	}
	for path := range known {
		if _, err := lookAt(path); errors.Is(err, fs.ErrNotExist) {
			delete(w.files, path)
		}
	}
	w.dropVanished()
	return nil
}

// scanFolder records the files in a folder and below it.
func (w *watcher) scanFolder(dir string, found func(path string)) error {
	if w.notifier != nil {
		// Add the folder before reading it, so that no change is missed in between.
		if why := w.notifier.add(dir); why != "" {
			w.stopNotifier()
			w.poll, w.why = DefaultPoll, why
			if w.scans > 1 {
				w.reportTrouble(fmt.Errorf("the folder is looked through every %v from now on: %s", w.poll, why))
			}
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if w.passedOver(path) {
			continue
		}
		switch {
		case e.IsDir():
			err := w.scanFolder(path, found)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				w.reportTrouble(err)
			}
		case e.Type().IsRegular():
			info, err := e.Info()
			if err != nil {
				continue // gone meanwhile
			}
			found(path)
			w.recordFile(path, idOf(info))
		}
	}
	return nil
}

// passedOver reports whether to skip a path: a hidden file or folder (temporary files are hidden), a
// checksum, a state file, or a path of the options.
func (w *watcher) passedOver(path string) bool {
	return w.ignore[path] || strings.HasPrefix(filepath.Base(path), ".") || atomicfile.IsChecksum(path) ||
		filepath.Dir(path) == filepath.Dir(w.Output) && w.isState(filepath.Base(path))
}

// lookAgain records the state of one path that changed.
func (w *watcher) lookAgain(path string) error {
	for p := path; p != w.root; p = filepath.Dir(p) {
		if len(p) <= len(w.root) {
			return nil // the folder itself
		}
		if w.passedOver(p) {
			return nil
		}
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		delete(w.files, path)
	case err != nil:
		return err
	case info.IsDir():
		err := w.scanFolder(path, func(string) {})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	case info.Mode().IsRegular():
		w.recordFile(path, idOf(info))
	}
	return nil
}

// recordFile records the current identity of a file.
func (w *watcher) recordFile(path string, id fileID) {
	if e := w.merged[path]; e != nil && (e.id == id || e.isAt(path, id)) {
		e.id, e.seen = id, w.scans
		delete(w.files, path)
		return
	}
	f := w.files[path]
	if f == nil {
		f = &file{}
		w.files[path] = f
	} else if f.id == id {
		return
	}
	w.unsettle(f, id)
}

// unsettle starts to wait until a file has not changed for Settle.
func (w *watcher) unsettle(f *file, id fileID) {
	moves := f.moves + 1
	*f = file{id: id, since: time.Now(), moves: moves}
	if w.Once && moves > maxMoves {
		f.state = busy
	}
}

// isAt reports whether the file at path, with identity id, is the file of the entry although the inode or the path differs.
func (e *entry) isAt(path string, id fileID) bool {
	if e.id.size != id.size || e.id.mtime != id.mtime {
		return false
	}
	content, err := contentOf(path, id)
	return err == nil && content == e.content
}

// promote makes files that have not changed for Settle wait for a batch.
func (w *watcher) promote(now time.Time) {
	for path, f := range w.files {
		if f.state == settling && now.Sub(f.since) >= w.Settle {
			w.promoteFile(path, f)
		}
	}
	w.reportStatus()
}

func (w *watcher) promoteFile(path string, f *file) {
	id, err := lookAt(path)
	if err != nil {
		delete(w.files, path) // gone, or something else now
		return
	}
	if id != f.id {
		w.unsettle(f, id)
		return
	}
	if yes, _ := hasWriter(path); yes {
		w.unsettle(f, id)
		return
	}
	if e := w.renamed[id.inode]; e != nil && e.path != path && e.isAt(path, id) {
		if _, err := os.Lstat(e.path); errors.Is(err, fs.ErrNotExist) {
			w.forget(e)
			e.path, e.seen = path, w.scans
			w.remember(e)
			if err := w.dispose(e); err != nil {
				w.reportTrouble(err)
			}
			return
		}
	}
	f.state = waiting
}

// hasWriter reports whether a process has the file open for writing; known is false if the system cannot tell.
func hasWriter(path string) (yes, known bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, false
	}
	defer f.Close()
	return filelock.HasWriter(int(f.Fd()))
}

// vanished is the number of missing merged files that are always remembered: they may come back when a disk is mounted again.
const vanished = 10_000

// dropVanished drops missing merged files if there are too many.
func (w *watcher) dropVanished() {
	there := 0
	for _, e := range w.merged {
		if e.seen == w.scans {
			there++
		}
	}
	if len(w.merged)-there <= max(there, vanished) {
		return
	}
	for _, e := range w.merged {
		if e.seen != w.scans {
			w.forget(e)
		}
	}
}
