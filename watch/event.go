package watch

import "time"

// An Event is one of the types below, passed by value.
type Event interface{ event() }

// Started says what was found at the start.
type Started struct {
	Files int   // candidates
	Bytes int64 // in them
	Known int   // of them merged before, and still there
	Total Total // what the output holds
	// Contents describes the output; it is "" if there is none yet.
	Contents string
	// Interrupted is set if the last run did not end by itself. Rolled is the
	// number of files that it was about to add and that do not count.
	Interrupted bool
	Rolled      int
	// Restarted is set if the output is gone and counting begins anew, Adopted
	// if it was changed by something else, or has no journal, and is added to.
	Restarted, Adopted bool
	// Polling is how often the folder is looked through, 0 if the system tells
	// of changes; Why is the reason, if that was not asked for.
	Polling time.Duration
	Why     string
}

// Total counts what an output holds, since its journal was begun.
type Total struct {
	Files    int64
	Profiles int64 // archives hold several
}

// Written says that the output was replaced.
type Written struct {
	Files    int
	Bytes    int64 // in them
	Profiles int
	Total    Total
	Contents string
	Took     time.Duration
}

// Refused says that a file cannot be merged, or in part only, and will not be
// tried again until it changes.
type Refused struct {
	File   string
	Partly bool
	Err    error
	Moved  string // where to; "" if it was left
}

// Trouble says that something failed that will be tried again. Trouble of one
// kind is told once until it is over.
type Trouble struct {
	Err error
}

// Status says how things stand. It is told whenever that changes.
type Status struct {
	Settling int // files that are being written or were lately
	Waiting  int // files that are complete
	Busy     int // files that were given up because they keep changing, see Options.Once
	Refused  int // files of which this run told that they cannot be merged
	Merged   int // files merged by this run
	Total    Total
	Merging  bool // at this moment
}

// Replaced says that the output was replaced by something else, or is gone, and
// what now counts: what the new one holds, or nothing.
type Replaced struct {
	Gone  bool
	Total Total
}

// Stopped is the last event of a run that ended as it should, and says how
// things are left.
type Stopped struct{ Status }

// Locked says that another process watches for the same output, and that this
// one waits for it to end.
type Locked struct{}

func (Locked) event()   {}
func (Replaced) event() {}
func (Started) event()  {}
func (Written) event()  {}
func (Refused) event()  {}
func (Trouble) event()  {}
func (Status) event()   {}
func (Stopped) event()  {}
