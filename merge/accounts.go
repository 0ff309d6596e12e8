package merge

import (
	"iter"
	"sync"

	"github.com/profuse-pgo/profuse/profile"
)

// maxLost limits how many lost functions an Accounts remembers.
const maxLost = 1 << 20

// Accounts totals the accounts of a merge. The zero value counts no profile. Several goroutines may call Add and
// MayBeLost; call the other methods only after these have returned.
type Accounts struct {
	mu        sync.Mutex
	used      int
	partly    int // used profiles with damaged functions
	leftOut   map[profile.Class]int
	lost      map[uint64]string // names, by reference
	functions int
}

// Add counts a profile. Pass it as [Options].Ended.
func (a *Accounts) Add(p *Account) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case p.Err != nil:
		if a.leftOut == nil {
			a.leftOut = make(map[profile.Class]int)
		}
		a.leftOut[profile.ClassOf(p.Err)]++
	case len(p.Rescued) > 0:
		a.partly++
		fallthrough
	default:
		a.used++
	}
}

// MayBeLost records a function of a profile that was left out. The function is lost unless [Accounts.Found] finds
// it in the sum. MayBeLost returns false once it cannot remember more functions.
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

// Found counts the functions of the sum. Functions with the given references are not lost.
func (a *Accounts) Found(functions int, refs iter.Seq[uint64]) {
	a.functions += functions
	if len(a.lost) == 0 {
		return
	}
	for ref := range refs {
		delete(a.lost, ref)
	}
}

// Lost returns the names of the lost functions by reference. An unknown name is "".
func (a *Accounts) Lost() map[uint64]string { return a.lost }

// Loss returns the totals.
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

// A Loss counts the profiles that a merge used and left out, and the functions
// that occur only in profiles left out.
type Loss struct {
	Inputs  uint64                // profiles
	Used    int                   // profiles in the sum
	Partly  int                   // used profiles with damaged functions
	Lost    uint64                // profiles left out
	LeftOut map[profile.Class]int // profiles left out by class of error

	Functions, LostFunctions uint64
}
