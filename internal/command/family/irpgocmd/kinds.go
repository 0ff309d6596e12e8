package irpgocmd

import (
	"sync"

	"github.com/profuse-pgo/profuse/formats/irpgo"
)

// kindBits are the variant bits that decide what the counters count. Profiles that differ in them
// may be incompatible.
const kindBits = irpgo.IRLevel | irpgo.SingleByte | irpgo.EntryOnly | irpgo.EntryFirst | irpgo.LoopEntries

// kindName names a kind in messages. Front-end instrumentation has no bit in files; kindName adds
// irpgo.FrontEnd, so that it has a word.
func kindName(v irpgo.Variant) string {
	if v &= kindBits; v&irpgo.IRLevel == 0 {
		v |= irpgo.FrontEnd
	}
	return v.String()
}

// kindGate admits a profile unless its kind conflicts with the profiles merged before it. It
// decides in the order of the inputs, so that the result does not depend on the number of
// workers. A profile of a kind that was merged before need not wait.
type kindGate struct {
	mixed bool // admit all kinds

	mu       sync.Mutex
	settled  sync.Cond
	low      int                        // index of the first undecided profile
	beyond   map[int]int                // decided profiles from low up: by index, how many inputs each stands for
	accepted map[irpgo.Variant]struct{} // kinds that were merged
	have     irpgo.Variant              // union of the accepted kinds
}

func newKindGate(mixed bool) *kindGate {
	g := &kindGate{mixed: mixed, beyond: make(map[int]int), accepted: make(map[irpgo.Variant]struct{})}
	g.settled.L = &g.mu
	return g
}

// admits reports whether the profile at an index, of kind v, may be merged; have is the kind of
// the sum so far. It waits for the decision about earlier profiles. The caller must then settle
// the profile.
func (g *kindGate) admits(index int, v irpgo.Variant) (have irpgo.Variant, ok bool) {
	if g.mixed {
		return 0, true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		if _, same := g.accepted[v]; same {
			return g.have, true
		}
		if g.low == index {
			return g.have, len(g.accepted) == 0 || !g.have.Conflicts(v)
		}
		g.settled.Wait()
	}
}

// settle decides about the profile at an index, of kind v: merged says whether later profiles must
// fit it. inputs is the number of inputs that the profile stands for, 1 unless it is a partial sum.
func (g *kindGate) settle(index, inputs int, v irpgo.Variant, merged bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if merged {
		g.accepted[v] = struct{}{}
		g.have |= v
	}
	g.beyond[index] = inputs
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
