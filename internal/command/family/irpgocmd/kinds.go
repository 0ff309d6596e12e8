package irpgocmd

import (
	"sync"

	"github.com/profuse-pgo/profuse/formats/irpgo"
)

// kindBits are the variant bits that can make profiles incompatible: counters of such kinds count
// different things. The other bits only say what else a profile has.
const kindBits = irpgo.IRLevel | irpgo.SingleByte | irpgo.EntryOnly | irpgo.EntryFirst | irpgo.LoopEntries

// kindName names a kind in messages. Front-end instrumentation is the absence of a bit, which needs
// a word.
func kindName(v irpgo.Variant) string {
	if v &= kindBits; v&irpgo.IRLevel == 0 {
		v |= irpgo.FrontEnd
	}
	return v.String()
}

// kindGate decides which profiles are merged, by the order of the inputs and not of the workers, so
// that the result does not depend on their number. It admits a profile unless its kind conflicts
// with the profiles merged before it. A profile of a kind that was merged already need not wait.
type kindGate struct {
	mixed bool // admit all kinds

	mu       sync.Mutex
	settled  sync.Cond
	low      int                        // all places below are settled
	beyond   map[int]int                // settled profiles from low up: their places, and how many each takes
	accepted map[irpgo.Variant]struct{} // kinds that were merged
	have     irpgo.Variant              // their union
}

// newKindGate returns a gate before the first profile, with no kind accepted.
func newKindGate(mixed bool) *kindGate {
	g := &kindGate{mixed: mixed, beyond: make(map[int]int), accepted: make(map[irpgo.Variant]struct{})}
	g.settled.L = &g.mu
	return g
}

// admit reports whether the profile of kind v at a place may be merged; have is
// the kind of the sum so far. It waits until the profiles before have decided
// that. The caller must settle every place afterwards.
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
		if g.low == place { // until then earlier profiles are undecided
			return g.have, len(g.accepted) == 0 || !g.have.Conflicts(v)
		}
		g.settled.Wait()
	}
}

// settle records whether the profile of kind v at a place was merged. A partial sum takes a
// place for each of its inputs.
func (g *kindGate) settle(place, inputs int, v irpgo.Variant, counts bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if counts {
		g.accepted[v] = struct{}{}
		g.have |= v
	}
	g.beyond[place] = inputs
	for {
		n, ok := g.beyond[g.low]
		if !ok {
			break
		}
		delete(g.beyond, g.low)
		g.low += n
	}
	g.settled.Broadcast()
}
