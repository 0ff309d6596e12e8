package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
)

const (
	// maxReads is the number of reads in flight.
	maxReads = 64
	// partSize is the size in bytes of a part of a large object; the parts are read at the same time.
	partSize = 16 << 20
	// maxAhead and maxCopies limit the bytes and the number of objects that are copied before anybody asks for them.
	maxAhead  = 512 << 20
	maxCopies = 1024
	// copyBuffer is the memory in bytes of a read in flight.
	copyBuffer = 64 << 10

	// attempts is how often an operation is tried. The waits between attempts double from firstWait to maxWait.
	attempts  = 8
	firstWait = 200 * time.Millisecond
	maxWait   = 15 * time.Second
)

// A Fetcher copies objects to files, before the readers ask for them, in the order in which the objects were added.
// At most 64 reads are in flight, and copies ahead of the readers take at most 512 MiB and 1,024 files.
type Fetcher struct {
	// Folder contains the copies.
	Folder string
	// Keep keeps released copies, so that nothing is read twice, and removes the limit of copies ahead.
	Keep bool

	wait func(ctx context.Context, d time.Duration) error // for tests

	ctx    context.Context
	cancel context.CancelFunc
	slots  chan struct{}
	group  sync.WaitGroup

	mu      sync.Mutex
	scratch *atomicfile.ScratchFolder // nil until there is a copy
	copies  []*fetched
	next    int   // the first that has not been begun ahead
	ahead   int64 // bytes begun and not asked for
	waiting int   // objects begun and not asked for
	active  int   // objects being copied
}

// fetched is the copy of an object.
type fetched struct {
	store  Store
	object Object
	index  int

	// Guarded by Fetcher.mu.
	users int
	asked bool
	done  chan struct{} // closed when the copy is there or has failed; nil if it was not begun
	path  string        // "" until the copy is there
	err   error
}

// NewFetcher returns a fetcher that copies into a folder for temporary files. It ends with ctx.
func NewFetcher(ctx context.Context, folder string) *Fetcher {
	f := &Fetcher{Folder: folder, slots: make(chan struct{}, maxReads), wait: sleep}
	f.ctx, f.cancel = context.WithCancel(ctx)
	return f
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close ends all reads and removes the copies.
func (f *Fetcher) Close() {
	f.cancel()
	f.group.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.scratch != nil {
		f.scratch.Remove() // else the next process does
		f.scratch = nil
	}
}

func (c *fetched) remove() {
	if c.path != "" {
		os.Remove(c.path) // else with the folder
		c.path = ""
	}
	c.done = nil
}

// Add adds an object. fetch returns a file with its contents and may be called more than once; the
// caller calls release when it no longer needs the file.
func (f *Fetcher) Add(s Store, o Object) (fetch func() (path string, release func(), err error)) {
	if folder, ok := s.(*Folder); ok {
		return func() (string, func(), error) {
			now, err := folder.Stat(f.ctx, o.Key)
			if err == nil && o.Tag != "" && now.Tag != o.Tag {
				err = folder.failed("read", o.Key, ErrChanged)
			}
			return folder.Path(o.Key), func() {}, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c := &fetched{store: s, object: o, index: len(f.copies)}
	f.copies = append(f.copies, c)
	return func() (string, func(), error) { return f.get(c) }
}

func (f *Fetcher) get(c *fetched) (path string, release func(), err error) {
	f.mu.Lock()
	c.users++
	if !c.asked && c.done != nil {
		f.ahead -= c.object.Size
		f.waiting--
	}
	c.asked = true
	f.next = max(f.next, c.index+1)
	if c.done == nil {
		f.begin(c)
	}
	f.beginAhead()
	done := c.done
	f.mu.Unlock()

	<-done
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.err != nil {
		err := c.err
		f.release(c)
		return "", nil, err
	}
	return c.path, sync.OnceFunc(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.release(c)
	}), nil
}

func (f *Fetcher) release(c *fetched) {
	if c.users--; c.users == 0 && (!f.Keep || c.err != nil) {
		c.remove()
		c.err = nil
	}
	f.beginAhead()
}

// beginAhead begins to copy objects that nobody has asked for yet, within the limits.
func (f *Fetcher) beginAhead() {
	for f.next < len(f.copies) && f.active < maxReads && f.ctx.Err() == nil {
		c := f.copies[f.next]
		if !f.Keep && f.waiting > 0 && (f.ahead+c.object.Size > maxAhead || f.waiting >= maxCopies) {
			return
		}
		f.next++
		if c.done == nil && !c.asked {
			f.ahead += c.object.Size
			f.waiting++
			f.begin(c)
		}
	}
}

func (f *Fetcher) begin(c *fetched) {
	done := make(chan struct{})
	c.done = done
	f.active++
	f.group.Go(func() {
		path, err := f.copy(c)
		f.mu.Lock()
		defer f.mu.Unlock()
		c.path, c.err = path, err
		f.active--
		close(done)
		f.beginAhead()
	})
}

func (f *Fetcher) create(c *fetched) (*os.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.scratch == nil {
		var err error
		if f.scratch, err = atomicfile.CreateScratchFolder(f.Folder); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(filepath.Join(f.scratch.Path, strconv.Itoa(c.index)), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

func (f *Fetcher) copy(c *fetched) (path string, err error) {
	file, err := f.create(c)
	if err != nil {
		return "", fmt.Errorf("no room for copies of objects: %w", err)
	}
	var parts sync.WaitGroup
	var once sync.Once
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	failed := func(e error) { once.Do(func() { err = e; cancel() }) }
	for from := int64(0); from == 0 || from < c.object.Size; from += partSize {
		select {
		case f.slots <- struct{}{}:
		case <-ctx.Done():
			failed(context.Cause(ctx))
			continue
		}
		parts.Go(func() {
			defer func() { <-f.slots }()
			if e := f.copyPart(ctx, file, c, from, min(partSize, c.object.Size-from)); e != nil {
				failed(e)
			}
		})
	}
	parts.Wait()
	if e := file.Close(); err == nil {
		err = e
	}
	if err == nil {
		// Nobody writes it any more, whatever its age. See package inputs.
		err = os.Chtimes(file.Name(), time.Time{}, time.Unix(1, 0))
	}
	if err != nil {
		os.Remove(file.Name()) // else with the folder
		return "", err
	}
	return file.Name(), nil
}

// copyPart copies a part of an object to the same offset of the file.
func (f *Fetcher) copyPart(ctx context.Context, file *os.File, c *fetched, from, length int64) error {
	for {
		err := retry(ctx, f.wait, func() error {
			n, err := f.copyOnce(ctx, file, c, from, length)
			from, length = from+n, length-n
			if n >= copyBuffer && err != nil && !isFatal(err) {
				return nil // progress: start counting attempts again
			}
			if err == nil && length > 0 {
				err = &Error{Op: "read", URL: c.store.URL(c.object.Key), Err: fmt.Errorf("%w: %d bytes are missing", io.ErrUnexpectedEOF, length)}
			}
			return err
		})
		if err != nil || length == 0 {
			return err
		}
	}
}

// retry calls try until it succeeds or trying again cannot help.
func retry(ctx context.Context, wait func(context.Context, time.Duration) error, try func() error) error {
	pause := firstWait
	for attempt := 1; ; attempt++ {
		err := try()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case isFatal(err):
			return err
		case attempt == attempts:
			return fmt.Errorf("%w (tried %d times)", err, attempts)
		}
		// The random part keeps many tasks from retrying at the same time.
		if err := wait(ctx, pause/2+time.Duration(rand.Int64N(int64(pause)))); err != nil {
			return err
		}
		pause = min(2*pause, maxWait)
	}
}

// copyOnce copies as many bytes as one connection delivers and returns their number, also on error.
func (f *Fetcher) copyOnce(ctx context.Context, file *os.File, c *fetched, from, length int64) (n int64, err error) {
	if length == 0 {
		return 0, nil
	}
	r, err := c.store.Open(ctx, c.object, from, length)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	n, err = io.CopyBuffer(io.NewOffsetWriter(file, from), struct{ io.Reader }{io.LimitReader(r, length)}, make([]byte, copyBuffer))
	if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
		full := (*fs.PathError)(nil) // of the copy
		err = &Error{Op: "read", URL: c.store.URL(c.object.Key), Err: err, Fatal: errors.As(err, &full)}
	}
	return n, err
}
