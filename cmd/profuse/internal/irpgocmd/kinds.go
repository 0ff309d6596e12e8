package irpgocmd

import (
	"sync"

	"github.com/profuse-pgo/profuse/irpgo"
)

// kindBits are the properties by which profiles can be incompatible.
const kindBits = irpgo.IRLevel | irpgo.SingleByte | irpgo.EntryOnly | irpgo.EntryFirst | irpgo.LoopEntries

// kindName is how a kind is called in messages.
func kindName(v irpgo.Variant) string {
	if v &= kindBits; v&irpgo.IRLevel == 0 {
		v |= irpgo.FrontEnd
	}
	return v.String()
}

// A kindGate decides which profiles meet, by the order of the inputs and not
// by which of several workers comes first: a profile is admitted unless it
// conflicts with what was merged of those before it. Profiles of a kind that
// was merged already need not wait for the others.
type kindGate struct {
	mixed bool // everything is admitted

	mu       sync.Mutex
	settled  sync.Cond
	low      int                        // all places below are settled
	beyond   map[int]struct{}           // settled places from low up
	accepted map[irpgo.Variant]struct{} // kinds that were merged
	have     irpgo.Variant              // their union
}

func newKindGate(mixed bool) *kindGate {
	g := &kindGate{mixed: mixed, beyond: make(map[int]struct{}), accepted: make(map[irpgo.Variant]struct{})}
	g.settled.L = &g.mu
	return g
}

// admit says whether the profile at a place, of kind v, may be merged; have is
// the kind of what was merged before. It waits until that is certain. Every
// place must be settled afterwards.
func (g *kindGate) admit(place int, v irpgo.Variant) (have irpgo.Variant, ok bool) {
	if g.mixed {
		return 0, true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		if _, same := g.accepted[v]; same {
			return g.have, true
		}
		if g.low == place { // before, what the others are is not certain
			return g.have, len(g.accepted) == 0 || !g.have.Conflicts(v)
		}
		g.settled.Wait()
	}
}

// settle says what became of the profile at a place: whether it counts as one
// of kind v that was merged.
func (g *kindGate) settle(place int, v irpgo.Variant, counts bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if counts {
		g.accepted[v] = struct{}{}
		g.have |= v
	}
	g.beyond[place] = struct{}{}
	for {
		if _, ok := g.beyond[g.low]; !ok {
			break
		}
		delete(g.beyond, g.low)
		g.low++
	}
	g.settled.Broadcast()
}
