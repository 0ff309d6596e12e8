package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Done is what happens to a file whose counts are in the output.
type Done int

// The values of Options.Done.
const (
	Keep    Done = iota // left where it is and remembered
	Delete              // removed
	Archive             // moved to Options.Archive, under the same relative path
)

// Options say what [Run] does. Dir, Output and Merge must be set.
type Options struct {
	// Dir is the folder that is watched, with the folders below it. Left alone
	// are names that begin with a dot, symbolic links and what else is no
	// regular file, and of course Output, its journal, Archive and Quarantine.
	Dir string
	// Output is the file that holds the sum. What it holds at the start is
	// part of the sum.
	Output string
	// Merge adds profiles up.
	Merge Merge

	// Done is what happens to merged files, Archive the folder for [Archive].
	// Folders are made as needed.
	Done    Done
	Archive string
	// Quarantine is a folder for files that cannot be merged, or not whole;
	// "" leaves them where they are.
	Quarantine string
	// Ignore are files in Dir that are no profiles.
	Ignore []string

	// Settle is how long a file must not have changed before it is read. On
	// Linux a file that some process has open for writing, or mapped, is left
	// alone as well, if the user may ask (owns it).
	Settle time.Duration
	// Every is the least time from one writing of Output to the next, 0 for
	// none. It grows to nine times what a writing takes.
	Every time.Duration
	// Batch is the number of files that are merged at once; that many do not
	// wait for Every. 0 means 1000.
	Batch int
	// Poll is how often Dir is looked through. 0 asks the system to be told of
	// changes, and looks every two seconds only where it does not tell: outside
	// of Linux, and on network file systems.
	Poll time.Duration
	// Once merges what is there and ends.
	Once bool

	// Report is told what happens, from the goroutine of Run; it may be nil.
	Report func(Event)

	step func(point string) // for tests: dies at one of the points
}

// DefaultPoll is how often a folder is looked through that the system tells
// nothing about.
const DefaultPoll = 2 * time.Second

const (
	defaultBatch = 1000
	// rescan is how often a folder is looked through although the system tells
	// of changes: it loses some when there are too many.
	rescan = time.Minute
	// maxTries is how often a file that cannot be merged is tried, each time
	// after another Settle: it may still be growing, slowly.
	maxTries = 3
	// maxBackoff bounds the time between two attempts to write.
	maxBackoff = time.Minute
	// workShare is what part of the time may go into rewriting the output.
	workShare = 10
)

// A Merge returns the sum of base, a file that an earlier Sum wrote, or of
// nothing if base is "", and of files. It must not change them.
//
// A file that cannot be merged is no error: it is told in Sum.Files. An error
// that wraps [ErrOutput] says that base is at fault, any other one that one of
// the files is, without saying which, and leads to smaller batches until it is
// found.
type Merge func(ctx context.Context, base string, files []string) (*Sum, error)

// A Sum is the result of a [Merge].
type Sum struct {
	// Files says what became of each of the files, in their order.
	Files []Outcome
	// Write writes the new output. It is called at most once.
	Write func(io.Writer) error
	// Contents describes what the new output holds, for messages.
	Contents string
}

// An Outcome is what became of one file.
type Outcome struct {
	// Profiles is the number of profiles of the file that are in the sum. A
	// file is none at all, one, or an archive of many.
	Profiles int
	// Err says why the file, or some of its profiles, are not in the sum.
	Err error
}

var (
	// ErrOutput is wrapped by errors of a [Merge] about its base.
	ErrOutput = errors.New("the profile cannot be added to")
	// errForeign is returned by [Run] when the output is neither of those that
	// the journal belongs to, and files that the journal lists are still there:
	// whether the output contains them cannot be known.
	errForeign = errors.New("the profile was changed by something else since the journal was written")
	// ErrRefused is wrapped by the error of [Run] with Options.Once if there
	// are files that cannot be merged.
	ErrRefused = errors.New("cannot be merged")
)

// check finds what is wrong with the options and fills in what is left out.
func (o *Options) check() error {
	switch {
	case o.Dir == "" || o.Output == "" || o.Merge == nil:
		return errors.New("watch: Dir, Output and Merge must be set")
	case o.Done == Archive && o.Archive == "":
		return errors.New("watch: there is no folder to archive to")
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
