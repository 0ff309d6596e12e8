package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Options configure [Run]. Dir, Output and Merge must be set.
type Options struct {
	// Dir is the folder to watch, with the folders below it. Run skips names that begin with a dot, everything that
	// is not a regular file, and Output, its journal, Archive and Quarantine.
	Dir string
	// Output is the file with the sum. If it exists at the start, Run adds to it.
	Output string
	// Checksum also writes Output's SHA-256 to Output.sha256, each time after Output. After a
	// process is killed in between, there is no checksum until the next write.
	Checksum bool
	// Merge merges profiles.
	Merge Merge

	// Delete removes merged files. Archive is a folder to move them to, under the same relative path. Without
	// either they stay in place, and Run remembers them.
	Delete  bool
	Archive string
	// Quarantine is a folder for files that cannot be merged completely; ""
	// leaves them in place. Run creates folders as needed.
	Quarantine string
	// Ignore lists files in Dir that are not profiles.
	Ignore []string

	// Settle is how long a file must be unchanged before it is read. On Linux Run also waits until no process has
	// the file open for writing or mapped, if the user owns the file or is root.
	Settle time.Duration
	// Every is the least time between two writes of Output; 0 means none. It grows to nine times the duration of a write.
	Every time.Duration
	// Batch is the number of files to merge at once; that many files do not wait for Every. 0 means 1000.
	Batch int
	// Poll is the interval between scans of Dir. 0 means to rely on the system's notifications, and to scan every
	// two seconds where there are none: outside of Linux, and on network file systems.
	Poll time.Duration
	// Once merges the files that are there and ends.
	Once bool

	// Report, if not nil, is called with each event, from the goroutine of Run.
	Report func(Event)

	step func(point string) // for tests: dies at one of the points
}

// DefaultPoll is the interval between scans of a folder without notifications.
const DefaultPoll = 2 * time.Second

const (
	defaultBatch = 1000
	// rescan is the interval between scans of a folder with notifications: the system drops some when there are too many.
	rescan = time.Minute
	// maxTries bounds the attempts to merge a file, each after another Settle, because the file may still be growing slowly.
	maxTries = 3
	// maxBackoff bounds the time between two attempts to write.
	maxBackoff = time.Minute
	// workShare is the inverse of the share of time for rewriting the output.
	workShare = 10
)

// A Merge returns the sum of files and base. base is the output of an earlier Sum, or its state if
// it had one; "" is an empty base. A Merge must not change the files.
//
// A file that cannot be merged is not an error: Sum.Files reports it. An error that
// wraps [ErrOutput] concerns base. Any other error concerns an unknown file of the
// batch; Run then merges smaller batches until it has found the file.
type Merge func(ctx context.Context, base string, files []string) (*Sum, error)

// A Sum is the result of a [Merge].
type Sum struct {
	// Files has the outcome of each of the files, in their order.
	Files []Outcome
	// Write writes the new output. It is called at most once.
	Write func(io.Writer) error
	// State writes the whole sum if the output does not hold all of it, so that later
	// sums are exact; nil if it does. It is called at most once, after Write.
	State func(io.Writer) error
	// Contents describes the new output, for messages.
	Contents string
}

// An Outcome is the outcome of merging one file.
type Outcome struct {
	// Profiles is the number of the file's profiles in the sum: 0, 1, or more for an archive.
	Profiles int
	// Err is the reason if the file, or some of its profiles, are not in the sum.
	Err error
}

var (
	// ErrOutput is wrapped by errors of a [Merge] about its base.
	ErrOutput = errors.New("the profile cannot be added to")
	// errForeign is returned by [Run] if the journal describes another output and files that
	// it lists are still there: nobody can know whether the output contains them.
	errForeign = errors.New("the profile was changed by something else since the journal was written")
	// ErrRefused is wrapped by the error of [Run] with Options.Once if there are files that cannot be merged.
	ErrRefused = errors.New("cannot be merged")
)

// check validates the options and sets defaults.
func (o *Options) check() error {
	switch {
	case o.Dir == "" || o.Output == "" || o.Merge == nil:
		return errors.New("watch: Dir, Output and Merge must be set")
	case o.Delete && o.Archive != "":
		return errors.New("watch: merged files cannot be both deleted and archived")
	case o.Settle < 0 || o.Every < 0 || o.Batch < 0 || o.Poll < 0:
		return fmt.Errorf("watch: negative option")
	}
	if o.Batch == 0 {
		o.Batch = defaultBatch
	}
	if o.Report == nil {
		o.Report = func(Event) {}
	}
	if o.step == nil {
		o.step = func(string) {}
	}
	return nil
}
