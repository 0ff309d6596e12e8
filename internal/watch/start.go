package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/files/filelock"
)

// resolve makes the paths absolute.
func (w *watcher) resolve() error {
	info, err := os.Stat(w.Dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "watch", Path: w.Dir, Err: errors.New("is not a folder")}
	}
	if w.root, err = canonical(w.Dir); err != nil {
		return err
	}
	if w.Output, err = canonical(w.Output); err != nil {
		return err
	}
	w.ignore = make(map[string]bool)
	ignored := append([]string{w.Output, journalOf(w.Output), w.Output + lockSuffix}, w.Ignore...)
	for _, folder := range []*string{&w.Archive, &w.Quarantine} {
		if *folder == "" {
			continue
		}
		if *folder, err = canonical(*folder); err != nil {
			return err
		}
		if *folder == w.root {
			return fmt.Errorf("%s is the folder that is watched, and merged files cannot be moved there", w.Dir)
		}
		ignored = append(ignored, *folder)
	}
	for _, name := range ignored {
		if name, err = canonical(name); err != nil {
			return err
		}
		w.ignore[name] = true
	}
	return nil
}

// canonical returns the absolute path without symbolic links, as far as it exists.
func canonical(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path, nil
	}
	if dir, err = canonical(dir); err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

func checkWritable(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "write", Path: path, Err: errNotRegular}
	}
	f, err := atomicfile.Create(path, atomicfile.Options{})
	if err != nil {
		return err
	}
	return f.Close()
}

// lock acquires the lock of the output, so that one process watches for it.
func (w *watcher) lock(ctx context.Context) (*filelock.Lock, error) {
	name := w.Output + lockSuffix
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		f.Close()
		lock, err := filelock.Acquire(ctx, name, func() { w.Report(Locked{}) })
		if errors.Is(err, fs.ErrNotExist) {
			continue // the previous holder removed the lock file
		}
		return lock, err
	}
}

// start loads the state of the output and scans the folder.
func (w *watcher) start(ctx context.Context) error {
	var started Started
	if err := w.load(&started); err != nil {
		return err
	}
	w.dropStates()
	sum, err := w.Merge(context.WithoutCancel(ctx), w.base(), nil)
	if err != nil {
		return err
	}
	if w.out.exists() {
		started.Contents = sum.Contents
	}
	w.startNotifier()
	if err := w.scan(); err != nil {
		return err
	}
	started.Total = w.out.Total
	started.Polling, started.Why = w.poll, w.why
	for _, e := range w.merged {
		if e.seen == w.scans {
			started.Files++
			started.Known++
			started.Bytes += e.id.size
		}
	}
	for _, f := range w.files {
		started.Files++
		started.Bytes += f.id.size
	}
	w.Report(started)
	w.removeMerged()
	return nil
}

// load reads the journal and determines from the hash of the output which files have been merged.
func (w *watcher) load(s *Started) error {
	path := journalOf(w.Output)
	j, err := readJournal(path)
	if err != nil {
		return err
	}
	hash, id, err := w.hashOutput()
	if err != nil {
		return err
	}
	var has []*entry
	state, known := outputState{hash: hash}, true
	switch {
	case j == nil:
		s.Adopted = state.exists()
	case hash == contentID{} && j.before.exists():
		s.Restarted = true
	default:
		if state, has, known = j.stateOf(hash); known {
			s.Interrupted = !j.ended
			s.Rolled = len(j.has) + len(j.adds) - len(has)
			break
		}
		// Another program wrote the output. That matters only if files of the journal exist.
		for _, e := range append(slices.Clone(j.has), j.adds...) {
			if id, err := lookAt(e.path); err == nil && id.size == e.id.size && id.mtime == e.id.mtime {
				return fmt.Errorf("%s: %w: whether it contains %s and others cannot be told; remove %s to count all files in %s once more on top of it",
					w.Output, errForeign, e.path, path, w.Dir)
			}
		}
		s.Adopted = true
		state = outputState{hash: hash, Total: j.after.Total}
	}
	w.out, w.outID = state, id
	w.merged, w.renamed = make(map[string]*entry), make(map[uint64]*entry)
	for _, e := range has {
		w.remember(e)
	}
	if len(has) > 0 {
		// The process that wrote it may have been killed before it synced it.
		return atomicfile.Sync(w.Output)
	}
	return nil
}

// hashOutput returns the hash and the identity of the output, zero values if there is none.
func (w *watcher) hashOutput() (hash contentID, id fileID, err error) {
	for range 10 {
		if id, err = lookAt(w.Output); errors.Is(err, fs.ErrNotExist) {
			return hash, id, nil
		} else if err != nil {
			return hash, id, err
		}
		hash, err = contentOf(w.Output, id)
		if !errors.Is(err, errChanged) && !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return hash, id, err
}
