package profgen

import (
	"math/bits"
	"math/rand/v2"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

// Stacks adds up the branch stacks of samples. Its memory grows with the number of different branches, not with the
// number of samples.
type Stacks struct {
	program *Program
	known   spans    // branches as they come
	ends    []ends   // ... and as they count, by their numbers
	taken   []uint64 // ... and their counts
	runs    spans    // from the target of a branch to the next branch of the sample
	ran     []uint64 // how often
}

// ends are the ends of a branch, External outside the program.
type ends struct {
	Span
	outside bool // both are
}

// NewStacks returns an empty sum of samples of the program.
func (p *Program) NewStacks() *Stacks { return &Stacks{program: p} }

// Add adds a sample: the branches before it, the newest first, from addresses to addresses as the program was linked,
// and how many times it was taken. Addresses where no instruction begins are outside the program.
func (s *Stacks) Add(stack []Span, n uint64) {
	next := uint64(0) // the branch that ended the run; 0 for the newest, whose run is not known
	for _, b := range stack {
		i, added := s.known.number(b)
		if added {
			s.taken = append(s.taken, 0)
			s.ends = append(s.ends, s.program.ends(b))
		}
		e := &s.ends[i]
		if e.outside {
			continue
		}
		s.taken[i] = saturate.Add(s.taken[i], n)
		if next != 0 {
			k, added := s.runs.number(Span{e.To, next})
			if added {
				s.ran = append(s.ran, 0)
			}
			s.ran[k] = saturate.Add(s.ran[k], n)
		}
		next = e.From
	}
}

func (p *Program) ends(b Span) ends {
	end := func(addr uint64) uint64 {
		if p.code.is(addr) {
			return addr
		}
		return External
	}
	e := ends{Span: Span{end(b.From), end(b.To)}}
	e.outside = e.From == External && e.To == External
	return e
}

// Counts returns the sums, and how the runs fit the program. Runs that do not begin and end in the program, or cannot be
// one run, are in no range of the counts.
func (s *Stacks) Counts() (*Counts, Faults) {
	c := NewCounts()
	for i, e := range s.ends {
		if !e.outside && e.To != External {
			c.Branches[e.Span] = saturate.Add(c.Branches[e.Span], s.taken[i])
		}
	}
	var f Faults
	for i, r := range s.runs.list {
		if f.add(s.program, r, s.ran[i]) {
			c.Ranges[r] = s.ran[i]
		}
	}
	return c, f
}

// spans numbers different spans in the order of their first appearance. It is a hash table with open addressing.
type spans struct {
	list  []Span
	slots []uint32 // number + 1; 0 for free
	seed  uint64   // random, so that no input can be made for collisions
}

func (t *spans) number(s Span) (number int, added bool) {
	if 2*len(t.list) >= len(t.slots) {
		t.grow()
	}
	at := t.slot(s)
	for ; t.slots[at] != 0; at = (at + 1) & (len(t.slots) - 1) {
		if n := int(t.slots[at] - 1); t.list[n] == s {
			return n, false
		}
	}
	t.list = append(t.list, s)
	t.slots[at] = uint32(len(t.list))
	return len(t.list) - 1, true
}

// slot returns where the search for a span begins.
func (t *spans) slot(s Span) int {
	hi, lo := bits.Mul64(s.From^t.seed, s.To^bits.RotateLeft64(t.seed, 29))
	return int(hi^lo) & (len(t.slots) - 1)
}

func (t *spans) grow() {
	if t.slots == nil {
		t.seed = rand.Uint64() | 1
	}
	t.slots = make([]uint32, max(1<<10, 2*len(t.slots)))
	for i, s := range t.list {
		at := t.slot(s)
		for t.slots[at] != 0 {
			at = (at + 1) & (len(t.slots) - 1)
		}
		t.slots[at] = uint32(i + 1)
	}
}
