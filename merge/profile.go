package merge

import "github.com/profuse-pgo/profuse/profile"

// An Adder adds a profile to the sum of one worker, or fails and leaves the sum unchanged. It returns what the
// profile contributed, or nil if it does not know. If it returns both a contribution and an error, part of the
// profile is in the sum, and the run ends.
type Adder func(p *Profile) (*Contribution, error)

// A Profile is a file, or a member of an archive, for an [Adder] to add.
type Profile struct {
	Name    string // path; "archive.tar!member" for a member
	BuildID string // of the program, as a pack says, in hexadecimal; "" if it does not
	Data    []byte // valid until the adder returns
	Weight  uint64 // factor for the counts, at least 1
	Input   int    // index of its input
	Member  int    // index among the selected members of the input
	Number  int    // index among all members of the input
	Index   int    // index among all profiles, with Options.Ordered

	account Account
	ended   bool // its account has been delivered
}

// Rescue records a damaged function.
func (p *Profile) Rescue(r profile.Rescued) {
	if len(p.account.Rescued) < maxRescued {
		p.account.Rescued = append(p.account.Rescued, r)
	} else {
		p.account.RescuedOmitted++
	}
}

// maxRescued limits how many damaged functions an account lists.
const maxRescued = 100

// Contribution is what a profile contributed to the sum.
type Contribution struct {
	Functions  int      // records
	Unmergable int      // records that contradict those of earlier profiles
	Count      uint64   // sum of the counters, unweighted; 2^64-1 if it is more
	BinaryIDs  []string // build ids of the binaries that ran
}

// An Account records what a merge did with one profile, or with an input that it could not read.
type Account struct {
	Input, Member int
	File          string
	Size          int           // bytes, uncompressed
	Data          []byte        // valid until Options.Ended returns
	Err           error         // why it is not in the sum; nil if it is
	Contribution  *Contribution // nil if unknown
	// Rescued are the first damaged functions, at most 100. The sum has them with
	// clamped counters, or lacks them. RescuedOmitted is the number of the others.
	Rescued        []profile.Rescued
	RescuedOmitted int
}
