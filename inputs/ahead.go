package inputs

import (
	"os"
	"time"
)

const (
	// A file that the system has in memory begins to arrive within microseconds, and
	// arrives at more than 1 GB/s; reading a larger part of it may take slowPerMB more.
	slowStart = 100 * time.Microsecond
	slowPerMB = time.Millisecond
	// maxAhead is how many files a Reader has the system read at the same time, so that
	// what a device or a server takes to answer passes once for all of them.
	maxAhead = 32
	// aheadBytes is how much of each file is asked for. Of larger files the system reads the rest ahead by itself.
	aheadBytes = 8 << 20
)

// took tells that reading so many bytes of a file took so long. It reports whether the system had to wait for them.
func (r *Reader) took(d time.Duration, bytes int) (slow bool) {
	wanted := r.wanted.Load()
	if d > slowStart+slowPerMB*time.Duration(bytes>>20) {
		r.wanted.Store(min(2*wanted+1, maxAhead))
		return true
	}
	r.wanted.Store(max(wanted-1, 0))
	return false
}

// readAhead has the system read as many files as are wanted.
func (r *Reader) readAhead() {
	for r.Ahead != nil && r.running.Load() < r.wanted.Load() {
		in, ok := r.Ahead()
		if !ok {
			return
		}
		r.running.Add(1)
		go func() {
			defer r.running.Add(-1)
			in.intoCache(r)
		}()
	}
}

// intoCache has the system read a file into its cache. A pipe is left alone: opening it
// would wait for its writer, and closing it end that.
func (in Input) intoCache(r *Reader) {
	if in.fetch != nil || in.Name == Stdin {
		return
	}
	if info, err := os.Stat(in.Name); err != nil || !info.Mode().IsRegular() {
		return
	}
	f, err := openFile(in.Name)
	if err != nil {
		return
	}
	defer f.close()
	var head [1]byte
	start := time.Now()
	if _, err := f.head(head[:]); err != nil {
		return // for the one who opens it
	}
	r.took(time.Since(start), 0)
	f.willRead(min(f.size, aheadBytes))
}
