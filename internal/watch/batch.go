package watch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/files/filelock"
	"github.com/profuse-pgo/profuse/internal/parallel"
)

// A candidate is a file of a batch.
type candidate struct {
	path    string
	file    *file
	content contentID
	err     error // while it was read
}

// batch merges waiting files, as many as the limit allows, and writes the output if it changed. An error concerns the output.
func (w *watcher) batch(ctx context.Context) error {
	w.status.Merging = true
	w.Report(w.status)
	defer func() {
		w.status.Merging = false
		w.reportStatus()
	}()
	began := time.Now()
	lock, err := w.lockOutput(ctx)
	if err != nil {
		return err
	}
	defer lock.Release()
	if err := w.reload(); err != nil {
		return err
	}
	batch := w.choose()
	if len(batch) == 0 {
		return nil
	}
	paths := make([]string, len(batch))
	for i, c := range batch {
		paths[i] = c.path
	}
	// A signal does not stop this merge: the run ends once the complete files have been merged.
	sum, err := w.Merge(context.WithoutCancel(ctx), w.base(), paths)
	w.step("merged")
	if w.changed(batch) {
		return nil // the sum may contain half-written versions of the changed files
	}
	switch {
	case err == nil:
	case errors.Is(err, ErrOutput):
		return err
	case len(batch) > 1:
		w.limit = max(1, len(batch)/2)
		return nil
	default:
		sum = &Sum{Files: []Outcome{{Err: err}}}
	}
	if err := w.write(batch, sum, began); err != nil {
		return err
	}
	w.limit = w.Batch
	if err != nil {
		w.limit = 1 // there may be others around it
	}
	for i, c := range batch {
		if o := sum.Files[i]; o.Err != nil {
			w.failedOne(c, o)
		}
	}
	return nil
}

// lockOutput keeps other commands from replacing the output. A missing output needs no lock.
func (w *watcher) lockOutput(ctx context.Context) (*filelock.Lock, error) {
	lock, err := filelock.Acquire(ctx, w.Output, nil)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("%s: another process is updating it", w.Output)
	}
	return lock, err
}

// reload reads the state again if the output is not the one that this process wrote or
// read last: another process replaced or removed it, or a write failed halfway.
func (w *watcher) reload() error {
	id, err := lookAt(w.Output)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if id == w.outID {
		return nil
	}
	before := w.out.hash
	if err := w.load(&Started{}); err != nil {
		return err
	}
	if w.out.hash == before {
		return nil
	}
	w.Report(Replaced{Gone: !w.out.exists()})
	return w.scan()
}

// choose reads the files of the next batch. Files that changed must settle again; files that are gone are dropped.
func (w *watcher) choose() []candidate {
	var batch []candidate
	for _, path := range slices.Sorted(maps.Keys(w.files)) {
		if f := w.files[path]; f.state == waiting {
			batch = append(batch, candidate{path: path, file: f})
		}
		if len(batch) == w.limit {
			break
		}
	}
	parallel.Each(len(batch), func(i int) {
		c := &batch[i]
		c.content, c.err = contentOf(c.path, c.file.id)
	})
	return slices.DeleteFunc(batch, func(c candidate) bool {
		switch {
		case c.err == nil:
			return false
		case errors.Is(c.err, fs.ErrNotExist):
			delete(w.files, c.path)
		case errors.Is(c.err, errChanged):
			w.changedOne(c)
		default:
			w.failedOne(c, Outcome{Err: c.err})
		}
		return true
	})
}

// changed reports whether a file of the batch has changed since it was chosen.
func (w *watcher) changed(batch []candidate) bool {
	any := false
	for _, c := range batch {
		if id, err := lookAt(c.path); err != nil || id != c.file.id {
			w.changedOne(c)
			any = true
		}
	}
	return any
}

func (w *watcher) changedOne(c candidate) {
	id, err := lookAt(c.path)
	if err != nil {
		delete(w.files, c.path)
		return
	}
	w.unsettle(c.file, id)
}

// write replaces the journal and then the output, and then disposes of the merged files.
func (w *watcher) write(batch []candidate, sum *Sum, began time.Time) error {
	var adds []*entry
	written := Written{Contents: sum.Contents, Total: w.out.Total}
	for i, c := range batch {
		o := sum.Files[i]
		if o.Profiles == 0 && o.Err != nil {
			continue
		}
		adds = append(adds, &entry{
			path: c.path, id: c.file.id, content: c.content, part: o.Err != nil, ours: true, seen: w.scans,
		})
		written.Files++
		written.Bytes += c.file.id.size
		written.Profiles += o.Profiles
	}
	if len(adds) == 0 {
		return nil
	}
	written.Total.Files += int64(written.Files)
	written.Total.Profiles += int64(written.Profiles)
	f, err := atomicfile.Create(w.Output, atomicfile.Options{Checksum: w.Checksum})
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if err := sum.Write(io.MultiWriter(f, h)); err != nil {
		return err
	}
	after := outputState{Total: written.Total}
	h.Sum(after.hash[:0])
	w.step("written")
	if sum.State != nil {
		if err := writeFile(w.stateOf(after), sum.State); err != nil {
			return err
		}
		w.step("kept")
	}
	if err := w.writeJournal(adds, after, false); err != nil {
		return err
	}
	w.step("announced")
	if err := f.Commit(); err != nil {
		return err
	}
	w.step("committed")
	if w.outID, err = lookAt(w.Output); err != nil {
		return err
	}
	w.out = after
	w.dropStates()
	for _, e := range adds {
		w.remember(e)
	}
	w.status.Merged += written.Files
	w.solved()
	written.Took = time.Since(began)
	w.backoff = 0
	w.next = time.Now().Add(max(w.Every, (workShare-1)*written.Took))
	w.Report(written)
	for _, e := range adds {
		if e.part {
			continue // reported above
		}
		if err := w.dispose(e); err != nil {
			w.reportTrouble(err)
		}
		w.step("disposed")
	}
	return nil
}

// writeJournal writes the journal of the output and of the one that replaces it, which also contains adds.
func (w *watcher) writeJournal(adds []*entry, after outputState, ended bool) error {
	j := &journal{before: w.out, after: after, adds: adds, ended: ended}
	for _, e := range w.merged {
		j.has = append(j.has, e)
	}
	if err := j.write(journalOf(w.Output)); err != nil {
		return fmt.Errorf("the journal cannot be written, and without it nothing is merged: %w", err)
	}
	return nil
}

// failedOne schedules another attempt at a file, or after maxTries refuses it.
func (w *watcher) failedOne(c candidate, o Outcome) {
	f := c.file
	partly := o.Profiles > 0
	if f.tries++; f.tries < maxTries && !partly && mayGrow(o.Err) {
		f.state, f.since = settling, time.Now()
		return
	}
	f.state = refused
	w.status.Refused++
	event := Refused{File: c.path, Partly: partly, Err: o.Err}
	if w.Quarantine != "" {
		var err error
		if event.Moved, err = w.moveTo(w.Quarantine, &entry{path: c.path, id: f.id, content: c.content}); err != nil {
			w.reportTrouble(err)
		} else {
			delete(w.files, c.path)
			w.forgetPath(c.path)
		}
	}
	w.Report(event)
}
