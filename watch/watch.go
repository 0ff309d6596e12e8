package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/profuse-pgo/profuse/internal/atomicfile"
	"github.com/profuse-pgo/profuse/internal/filelock"
)

// A watcher is one run. All of it belongs to the goroutine of Run.
type watcher struct {
	Options
	root   string // Dir, absolute and without symbolic links
	ignore map[string]bool

	out     outputState // what is in the output
	outID   fileID      // that it had when it was last written or read
	merged  map[string]*entry
	renamed map[uint64]*entry // of merged, by inode
	files   map[string]*file  // the others

	numbered map[string]int // the last number given to a name, in Archive or Quarantine

	notifier *notifier
	poll     time.Duration // 0 with a notifier
	why      string        // there is none
	scans    int
	scanned  time.Time // when the last scan began

	limit   int // on batches; small while the one is sought that breaks them
	next    time.Time
	backoff time.Duration
	status  Status
	told    map[string]bool // trouble that goes on
}

// Run watches until ctx is done, then merges what is complete and returns nil.
// With Options.Once it returns when it is through.
//
// A failure to write or delete is told and tried again; it is returned if it
// lasts until the end. Other errors are about the options, about an output
// that cannot be written or added to at the start, and [ErrForeign].
func Run(ctx context.Context, opt Options) error {
	if err := opt.check(); err != nil {
		return err
	}
	w := &watcher{
		Options: opt, limit: opt.Batch, files: make(map[string]*file),
		numbered: make(map[string]int), told: make(map[string]bool),
	}
	if err := w.resolve(); err != nil {
		return err
	}
	if err := checkWritable(w.Output); err != nil {
		return err
	}
	lock, err := w.lock(ctx)
	if err != nil {
		return err
	}
	defer func() {
		os.Remove(w.Output + lockSuffix)
		lock.Release()
	}()
	w.removeLeftovers()
	defer w.stopNotifier()
	if err := w.start(ctx); err != nil {
		return err
	}
	return w.loop(ctx)
}

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
	ignored := append([]string{w.Output, JournalOf(w.Output), w.Output + lockSuffix}, w.Ignore...)
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

// canonical returns the absolute path without symbolic links, as far as it
// exists.
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

// checkWritable fails now if a file could not be replaced later.
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

// lock makes this process the only one that watches for the output.
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
			continue // the one before removed it at its end
		}
		return lock, err
	}
}

// leftoverAge is how long a temporary file must have been closed. Those in use
// are renamed at once.
const leftoverAge = time.Minute

// removeLeftovers removes the temporary files of killed processes beside the
// output, which are as large as it is, where the system tells that nobody
// writes to them.
func (w *watcher) removeLeftovers() {
	dir := filepath.Dir(w.Output)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !atomicfile.IsTemp(e.Name()) {
			continue
		}
		name := filepath.Join(dir, e.Name())
		if info, err := e.Info(); err != nil || time.Since(info.ModTime()) < leftoverAge {
			continue
		}
		if yes, known := hasWriter(name); known && !yes {
			os.Remove(name)
		}
	}
}

// start finds out what the output contains and what is in the folder.
func (w *watcher) start(ctx context.Context) error {
	var started Started
	if err := w.load(&started); err != nil {
		return err
	}
	base := ""
	if w.out.exists() {
		base = w.Output
	}
	sum, err := w.Merge(context.WithoutCancel(ctx), base, nil)
	if err != nil {
		return err
	}
	if base != "" {
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

// load reads the journal and decides by the output what has been merged.
func (w *watcher) load(s *Started) error {
	path := JournalOf(w.Output)
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
		if state, has, known = j.settle(hash); known {
			s.Interrupted = !j.ended
			s.Rolled = len(j.has) + len(j.adds) - len(has)
			break
		}
		// Harmless if nothing is left that might be in it or not.
		for _, e := range append(slices.Clone(j.has), j.adds...) {
			if id, err := lookAt(e.path); err == nil && id.size == e.id.size && id.mtime == e.id.mtime {
				return fmt.Errorf("%s: %w: whether it contains %s and others cannot be told; remove %s to count all files in %s once more on top of it",
					w.Output, ErrForeign, e.path, path, w.Dir)
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
		// The process that wrote it may not have come as far as to sync it.
		return syncPath(w.Output)
	}
	return nil
}

// hashOutput returns zero values if there is no output.
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

// remember takes a file for merged.
func (w *watcher) remember(e *entry) {
	w.merged[e.path] = e
	if e.id.inode != 0 {
		w.renamed[e.id.inode] = e
	}
	delete(w.files, e.path)
}

func (w *watcher) forget(e *entry) {
	delete(w.merged, e.path)
	if w.renamed[e.id.inode] == e {
		delete(w.renamed, e.id.inode)
	}
}

func (w *watcher) forgetPath(path string) {
	if e := w.merged[path]; e != nil {
		w.forget(e)
	}
}

func (w *watcher) startNotifier() {
	w.poll = w.Poll
	if w.poll > 0 || w.Once {
		return
	}
	if w.notifier, w.why = newNotifier(w.root); w.notifier == nil {
		w.poll = DefaultPoll
	}
}

func (w *watcher) stopNotifier() {
	if w.notifier != nil {
		w.notifier.close()
		w.notifier = nil
	}
}

// loop runs until there is no more to do.
func (w *watcher) loop(ctx context.Context) error {
	// Events come in swarms; looking at the files for each would take a time
	// that grows with the square of their number.
	pause := min(max(w.Settle/4, 2*time.Millisecond), 250*time.Millisecond)
	var wake <-chan struct{}
	for ctx.Err() == nil {
		if err := w.look(); err != nil {
			w.trouble(err)
		}
		w.promote(time.Now())
		if w.due(time.Now()) {
			err := w.batch(ctx)
			if err == nil {
				continue
			}
			if w.Once || errors.Is(err, ErrForeign) {
				return err
			}
			w.failed(err)
		}
		if w.Once && w.status.Settling+w.status.Waiting == 0 {
			return w.finish(ctx)
		}
		if w.notifier != nil {
			wake = w.notifier.wake
		}
		timer := time.NewTimer(time.Until(w.nextDeadline(time.Now())))
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-wake:
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
		timer.Stop()
	}
	return w.finish(ctx)
}

// look takes note of what changed in the folder.
func (w *watcher) look() error {
	interval := w.poll
	if w.notifier != nil {
		interval = rescan
		paths, lost := w.notifier.take()
		for path := range paths {
			if lost {
				break
			}
			if err := w.lookAgain(path); err != nil {
				return err
			}
		}
		if lost {
			interval = 0
		}
	}
	if w.Once || time.Since(w.scanned) < interval {
		return nil
	}
	if err := w.scan(); err != nil {
		return err
	}
	w.removeMerged()
	return nil
}

// nextDeadline is when there is something to do if nothing happens.
func (w *watcher) nextDeadline(now time.Time) time.Time {
	interval := w.poll
	if w.notifier != nil {
		interval = rescan
	}
	at := w.scanned.Add(interval)
	if w.Once {
		at = now.Add(rescan)
	}
	earlier := func(t time.Time) {
		if t.Before(at) {
			at = t
		}
	}
	for _, f := range w.files {
		if f.state == settling {
			earlier(f.since.Add(w.Settle))
		}
	}
	if w.status.Waiting > 0 {
		earlier(w.next)
	}
	if soon := now.Add(time.Millisecond); at.Before(soon) {
		at = soon
	}
	return at
}

// due reports whether it is time to write.
func (w *watcher) due(now time.Time) bool {
	return w.status.Waiting > 0 &&
		(!now.Before(w.next) || w.backoff == 0 && (w.status.Waiting >= w.limit || w.Once))
}

// failed plans the next attempt to write.
func (w *watcher) failed(err error) {
	w.trouble(err)
	w.backoff = min(max(2*w.backoff, w.Every, time.Second), maxBackoff)
	w.next = time.Now().Add(w.backoff)
}

// finish merges what is complete and leaves everything in order.
func (w *watcher) finish(ctx context.Context) error {
	if err := w.look(); err != nil {
		w.trouble(err)
	}
	w.promote(time.Now())
	for w.status.Waiting > 0 {
		if err := w.batch(ctx); err != nil {
			return err
		}
	}
	w.removeMerged()
	if w.Done != Keep {
		for _, e := range w.merged {
			if _, err := os.Lstat(e.path); errors.Is(err, fs.ErrNotExist) {
				w.forget(e)
			}
		}
	}
	if err := w.writeJournal(nil, w.out, true); err != nil {
		return err
	}
	w.tellStatus()
	w.Report(Stopped{w.status})
	if w.Once && w.status.Refused > 0 {
		return fmt.Errorf("%d of the files in %s %w", w.status.Refused, w.Dir, ErrRefused)
	}
	return nil
}

// trouble tells an error once until [watcher.solved].
func (w *watcher) trouble(err error) {
	if text := err.Error(); !w.told[text] {
		w.told[text] = true
		w.Report(Trouble{err})
	}
}

func (w *watcher) solved() { clear(w.told) }

// tellStatus tells how things stand if that changed.
func (w *watcher) tellStatus() {
	s := w.status
	s.Total = w.out.Total
	s.Settling, s.Waiting, s.Busy = 0, 0, 0
	for _, f := range w.files {
		switch f.state {
		case settling:
			s.Settling++
		case waiting:
			s.Waiting++
		case busy:
			s.Busy++
		}
	}
	if s != w.status {
		w.status = s
		w.Report(s)
	}
}

// workers is how many files are hashed at a time.
func workers() int { return runtime.GOMAXPROCS(0) }
