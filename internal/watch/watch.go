package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// A watcher is the state of one run. Only the goroutine of Run uses it.
type watcher struct {
	Options
	root   string // Dir, absolute and without symbolic links
	ignore map[string]bool

	out     outputState // contents of the output
	outID   fileID      // of the output when it was last written or read
	merged  map[string]*entry
	renamed map[uint64]*entry // of merged, by inode
	files   map[string]*file  // the others

	numbered map[string]int // the last number given to a name, in Archive or Quarantine

	notifier *notifier
	poll     time.Duration // 0 with a notifier
	why      string        // reason for polling
	scans    int
	scanned  time.Time // when the last scan began

	limit    int // size of batches; small during the search for a file that fails them
	next     time.Time
	backoff  time.Duration
	status   Status
	reported map[string]bool // unresolved trouble
}

// Run watches until ctx is done, then merges the complete files and returns nil. With
// Options.Once it returns when it has merged the files that are there.
//
// Run reports and retries a failure to write or delete; it returns the failure if it
// lasts until the end. Other errors concern the options, and an output that cannot be
// written or added to at the start, or that another process changed.
func Run(ctx context.Context, opt Options) error {
	if err := opt.check(); err != nil {
		return err
	}
	w := &watcher{
		Options: opt, limit: opt.Batch, files: make(map[string]*file),
		numbered: make(map[string]int), reported: make(map[string]bool),
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
	defer w.stopNotifier()
	if err := w.start(ctx); err != nil {
		return err
	}
	return w.loop(ctx)
}

// remember records a file as merged.
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

// loop runs until the run ends.
func (w *watcher) loop(ctx context.Context) error {
	// Notifications arrive in bursts; checking the files after each would take quadratic time.
	pause := min(max(w.Settle/4, 2*time.Millisecond), 250*time.Millisecond)
	var wake <-chan struct{}
	for ctx.Err() == nil {
		if err := w.look(); err != nil {
			w.reportTrouble(err)
		}
		w.promote(time.Now())
		if w.due(time.Now()) {
			err := w.batch(ctx)
			if err == nil {
				continue
			}
			if w.Once || errors.Is(err, errForeign) {
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

// look records the changes in the folder.
func (w *watcher) look() error {
	interval := w.poll
	if w.notifier != nil {
		interval = rescan
		paths, lost := w.notifier.takePaths()
		if lost {
			interval, paths = 0, nil
		}
		for path := range paths {
			if err := w.lookAgain(path); err != nil {
				return err
			}
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

// nextDeadline returns the time of the next action without further notifications.
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

// failed schedules the next attempt to write.
func (w *watcher) failed(err error) {
	w.reportTrouble(err)
	w.backoff = min(max(2*w.backoff, w.Every, time.Second), maxBackoff)
	w.next = time.Now().Add(w.backoff)
}

// finish merges the complete files, and ends the journal.
func (w *watcher) finish(ctx context.Context) error {
	if !w.Once {
		if err := w.scan(); err != nil {
			w.reportTrouble(err)
		}
	}
	w.promote(time.Now())
	for w.status.Waiting > 0 {
		if err := w.batch(ctx); err != nil {
			return err
		}
	}
	w.removeMerged()
	if !w.keeps() {
		for _, e := range w.merged {
			if _, err := os.Lstat(e.path); errors.Is(err, fs.ErrNotExist) {
				w.forget(e)
			}
		}
	}
	if err := w.writeJournal(nil, w.out, true); err != nil {
		return err
	}
	w.reportStatus()
	w.Report(Stopped{w.status})
	if w.Once && w.status.Refused > 0 {
		return fmt.Errorf("%d of the files in %s %w", w.status.Refused, w.Dir, ErrRefused)
	}
	return nil
}

// reportTrouble reports an error, once until [watcher.solved].
func (w *watcher) reportTrouble(err error) {
	if text := err.Error(); !w.reported[text] {
		w.reported[text] = true
		w.Report(Trouble{err})
	}
}

func (w *watcher) solved() { clear(w.reported) }

// reportStatus reports the status if it changed.
func (w *watcher) reportStatus() {
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
