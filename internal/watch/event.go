package watch

import "time"

// An Event is one of the types below, passed by value.
type Event interface{ event() }

// Started reports the state at the start of a run.
type Started struct {
	Files int   // candidates
	Bytes int64 // in them
	Known int   // files merged by previous runs that still exist
	Total Total // contents of the output
	// Contents describes the output; it is "" if there is none yet.
	Contents string
	// Interrupted reports that the previous run was killed. Rolled is the number
	// of files that it was about to add and that do not count yet.
	Interrupted bool
	Rolled      int
	// Restarted reports that the output is gone, so that counting starts at zero; Adopted that another process
	// changed the output, or that it has no journal, and that the run adds to it.
	Restarted, Adopted bool
	// Polling is the interval between scans of the folder, 0 if the system reports changes;
	// Why is the reason for polling unless the options ask for it.
	Polling time.Duration
	Why     string
}

// Total counts the files and profiles in an output since its journal was started.
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

// Refused reports a file that cannot be merged, or only in part. Run does not try it again until it changes.
type Refused struct {
	File   string
	Partly bool
	Err    error
	Moved  string // its path in Quarantine; "" if it was left in place
}

// Trouble reports a failure that Run will retry, once until the failure is resolved.
type Trouble struct{ Err error }

// Status reports the counts of files by state, whenever they change.
type Status struct {
	Settling int // files that are being written or were lately
	Waiting  int // files that are complete
	Busy     int // files skipped because they keep changing, see Options.Once
	Refused  int // files that this run refused
	Merged   int // files merged by this run
	Total    Total
	Merging  bool // at this moment
}

// Replaced reports that another process replaced or, if Gone, removed the output. The
// contents of the new one count now, or none.
type Replaced struct{ Gone bool }

// Stopped is the last event of a run that ended normally, with its final status.
type Stopped struct{ Status }

// Locked reports that another process watches for the same output, and that this one waits for it to end.
type Locked struct{}

func (Locked) event()   {}
func (Replaced) event() {}
func (Started) event()  {}
func (Written) event()  {}
func (Refused) event()  {}
func (Trouble) event()  {}
func (Status) event()   {}
func (Stopped) event()  {}
