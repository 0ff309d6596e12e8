package merge

// An Adder adds a profile to the sum of one worker, or refuses it without a
// trace. It says what the profile brought, nil if it does not know. An error
// together with what was brought says that a part of the profile is in the sum;
// that ends the run.
type Adder func(p *Profile) (*Brought, error)

// A Profile is one that an [Adder] is to add: a file, or a member of an archive.
type Profile struct {
	Name   string // path, for a member "archive.tar!member"
	Data   []byte // valid until the adder returns
	Weight uint64 // to multiply the counts with, at least 1
	Input  int    // its input's index
	Member int    // position in the input, of those that are wanted
	Place  int    // in the order of all profiles, with Options.Ordered

	account Account
	inSum   bool // it is, or a part of it may be
	ended   bool // its account is
}

// Adding says that from now on a failure leaves a part of the profile in the
// sum. An adder calls it before it adds bytes that it has not copied: they may
// lie in a file that another process cuts short.
func (p *Profile) Adding() { p.inSum = true }

// Rescue takes note of a damaged function.
func (p *Profile) Rescue(r Rescued) {
	if len(p.account.Rescued) < maxRescued {
		p.account.Rescued = append(p.account.Rescued, r)
	} else {
		p.account.RescuedOmitted++
	}
}

// maxRescued is how many damaged functions an account lists.
const maxRescued = 100

// Brought is what a profile brought into the sum.
type Brought struct {
	Functions  int      // records
	Unmergable int      // records that contradict those of earlier profiles
	Count      uint64   // sum of the counters, unweighted; 2^64-1 if it is more
	BinaryIDs  []string // of the binaries that ran
}

// A Rescued is a damaged function of a profile that is in the sum.
type Rescued struct {
	Function string // "" if not known
	NameRef  uint64
	Clamped  bool // its absurd counters are; otherwise it is left out
	Err      error
}

// An Account says what became of one profile, or of an input that could not be
// read.
type Account struct {
	Input, Member  int
	File           string
	Size           int       // bytes, uncompressed
	Data           []byte    // valid until Options.Ended returns
	Err            error     // why it is not in the sum; nil if it is
	Brought        *Brought  // nil if not known
	Rescued        []Rescued // the first ones
	RescuedOmitted int       // number of the others
}
