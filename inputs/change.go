package inputs

import (
	"errors"
	"io/fs"
	"time"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// A version tells the contents of a file from those before and after a write.
type version struct {
	size     int64
	modified int64 // ns since 1970, mtime: the last write, or what a program has set
	changed  int64 // ns since 1970, ctime: also of the name, owner or mode; 0 if unknown
}

const (
	// young is the age, in time since the last write, up to which a file that is open for writing is not finished.
	// Later, its writer is taken for one that keeps it open, as a program with continuous counters ("%c") does.
	young = 2 * time.Second
	// tick is how long two writes may give a file the same time: the longest tick of the clock of Linux.
	tick = 10 * time.Millisecond

	// maxLocked is how long to wait for another process's lock.
	maxLocked = 10 * time.Second
	// maxRestless is how long to wait for a file that is written without a lock.
	maxRestless = young + time.Second
	// attempts is how often to read a file that changes, if that takes less time.
	attempts = 3
)

// age returns the time since the last write; negative if that is in the future.
func (v version) age() time.Duration { return time.Since(time.Unix(0, v.modified)) }

// isYoung reports whether the file was written a short time ago. The clocks of a file
// server and of this machine may differ by as much.
func (v version) isYoung() bool { a := v.age(); return -young < a && a < young }

// isOld reports whether settle has nothing to do. With thousands of small files it
// matters that it seldom asks for the time: who is old once does not become younger.
func (r *Reader) isOld(v version) bool {
	if v.modified < r.now-int64(young) {
		return true
	}
	r.now = time.Now().UnixNano()
	return v.modified < r.now-int64(young)
}

// settle prepares a regular file for reading: it waits while a process may be writing it, as the package
// documentation says. start is when the first attempt to read the file began to wait; 0 if none did.
func (f *file) settle(start *time.Time) error {
	locks := false // its writers lock it
	if start.IsZero() {
		*start = time.Now()
	}
	for f.isYoung() {
		busy := f.share()
		// The holder of the lock may have written it since it was opened.
		v, err := f.versionNow()
		if err != nil {
			return err
		}
		f.version = v
		wait := time.Millisecond
		switch {
		case busy:
			locks = true
			if time.Since(*start) > maxLocked {
				return &fs.PathError{Op: "read", Path: f.name, Err: errLocked}
			}
		case !locks && f.isYoung() && f.hasWriter():
			// One that takes no lock, or one that waits for ours.
			f.unshare()
		default:
			// From then on a write gives the file another time.
			if wait = tick - f.age(); wait <= 0 {
				return nil
			}
		}
		if !busy && time.Since(*start) > maxRestless {
			return &fs.PathError{Op: "read", Path: f.name, Err: errRestless}
		}
		time.Sleep(wait)
	}
	return nil
}

var (
	errChanged = errors.New("the file changed while it was read")
	// Not read again, since these were waited for.
	errLocked   = errors.New("another process has kept the file locked for writing for " + maxLocked.String())
	errRestless = errors.New("another process has been writing the file for " + maxRestless.String())
)

// changedError is the error for a file that was written while it was read.
func changedError(name string) error { return &fs.PathError{Op: "read", Path: name, Err: errChanged} }

// What of a version to compare.
type comparison bool

const (
	// contents ignores ctime: a file that is renamed, linked or unlinked meanwhile has the same contents.
	contents comparison = false
	// everything is for a file that can be read again if need be.
	everything comparison = true
)

// unchanged returns an error if the file is no longer of the version f.version.
func (f *file) unchanged(what comparison) error {
	v, err := f.versionNow()
	switch {
	case err != nil:
		return err
	case v.size < f.size:
		return shrunk(f.name, v.size, f.size)
	case v.size != f.size, v.modified != f.modified, what == everything && v.changed != f.changed:
		return changedError(f.name)
	}
	return nil
}

// shrunk returns the error for a file of had bytes when it was opened that has fewer now.
func shrunk(name string, has, had int64) error {
	return flaw.At("", has).InFile(name).Field("size of the file, which changed while it was read,").
		Gotf("%d bytes", has).Wantf("the %d it had", had).Because(cutShort{})
}

// cutShort is both classes of a file that is shorter than it was.
type cutShort struct{}

func (cutShort) Error() string   { return profile.ErrTruncated.Error() }
func (cutShort) Unwrap() []error { return []error{profile.ErrTruncated, errChanged} }
