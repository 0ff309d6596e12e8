package merge

import (
	"errors"
	"iter"
	"sync"

	"github.com/profuse-pgo/profuse/profile"
)

// maxLost is how many functions are remembered as lost.
const maxLost = 1 << 20

// Accounts sum up the accounts of a merge. The zero value is that of no profile.
// Add and MayBeLost may be called from several goroutines, the other methods
// when these are done.
type Accounts struct {
	mu        sync.Mutex
	used      int
	partly    int // of these, those with damaged functions
	leftOut   map[error]int
	lost      map[uint64]string // names, by reference
	functions int
}

// Add counts a profile. It is made for Options.Ended.
func (a *Accounts) Add(p *Account) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case p.Err != nil:
		if a.leftOut == nil {
			a.leftOut = make(map[error]int)
		}
		a.leftOut[classOf(p.Err)]++
	case len(p.Rescued) > 0:
		a.partly++
		fallthrough
	default:
		a.used++
	}
}

// classOf returns the class of an error about a profile; nil for what no
// profile is to blame for, such as an unreadable disk.
func classOf(err error) error {
	for _, class := range []error{
		profile.ErrCorrupt, profile.ErrUnsupported, profile.ErrMismatch, profile.ErrUnrecognized, profile.ErrTruncated, profile.ErrEmpty,
	} {
		if errors.Is(err, class) {
			return class
		}
	}
	return nil
}

// MayBeLost takes note of a function that an input has and that is not used from
// there. It reports whether more can be remembered.
func (a *Accounts) MayBeLost(ref uint64, name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lost == nil {
		a.lost = make(map[uint64]string)
	}
	if _, ok := a.lost[ref]; ok || len(a.lost) < maxLost {
		a.lost[ref] = max(a.lost[ref], name)
		return true
	}
	return false
}

// Found counts functions of the sum and takes them, by their references, off the
// list of lost ones.
func (a *Accounts) Found(functions int, refs iter.Seq[uint64]) {
	a.functions += functions
	if len(a.lost) == 0 {
		return
	}
	for ref := range refs {
		delete(a.lost, ref)
	}
}

// Lost are the names of the functions that are lost, by reference; a name is ""
// if it is not known.
func (a *Accounts) Lost() map[uint64]string { return a.lost }

// Loss returns the sums.
func (a *Accounts) Loss() Loss {
	l := Loss{
		Used: a.used, Partly: a.partly, LeftOut: a.leftOut,
		Functions: uint64(a.functions + len(a.lost)), LostFunctions: uint64(len(a.lost)),
	}
	for _, n := range a.leftOut {
		l.Lost += uint64(n)
	}
	l.Inputs = uint64(l.Used) + l.Lost
	return l
}

// A Loss is what became of the profiles of a merge, in numbers, and how many
// functions only those know that are left out.
type Loss struct {
	Inputs  uint64        // profiles
	Used    int           // that are in the sum
	Partly  int           // of these, profiles with damaged functions
	Lost    uint64        // that are left out
	LeftOut map[error]int // the same by class; nil for what no profile is to blame for

	Functions, LostFunctions uint64
}
