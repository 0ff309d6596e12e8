package irpgocmd

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/profuse-pgo/profuse/irpgo"
)

func TestKindsConflict(t *testing.T) {
	const (
		fe     = irpgo.Variant(0)
		ir     = irpgo.IRLevel
		single = irpgo.IRLevel | irpgo.SingleByte
		entry  = irpgo.IRLevel | irpgo.SingleByte | irpgo.EntryOnly
		first  = irpgo.IRLevel | irpgo.EntryFirst
		loops  = irpgo.IRLevel | irpgo.LoopEntries
	)
	tests := []struct {
		name string
		a, b irpgo.Variant
		want bool
	}{
		{"front end and IR", fe, ir, true},
		{"coverage and counts", single, ir, true},
		{"entries and blocks of coverage", entry, single, false},
		{"entry first or not", first, ir, false},
		{"entry first and loops", first, loops, false},
		{"entry only and entry first", ir | irpgo.EntryOnly, first, true},
		{"entry only and loops", ir | irpgo.EntryOnly, loops, true},
		{"entry only and IR", ir | irpgo.EntryOnly, ir, false},
		{"the same", entry, entry, false},
	}
	for _, test := range tests {
		if got := test.a.Conflicts(test.b); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
		if got := test.b.Conflicts(test.a); got != test.want {
			t.Errorf("%s, the other way round: %v", test.name, got)
		}
	}
}

// Whoever comes first, the gate decides as if all came in order.
func TestKindGateOrder(t *testing.T) {
	const ir, fe = irpgo.IRLevel, irpgo.Variant(0)
	profiles := []struct {
		kind     irpgo.Variant
		broken   bool
		admitted bool
	}{
		{fe, true, true}, // breaks later: has no say
		{ir, false, true},
		{fe, false, false},
		{ir | irpgo.EntryFirst, false, true},
		{ir, true, true},
		{ir | irpgo.EntryOnly, false, false},
		{fe, true, false},
		{ir, false, true},
		{ir | irpgo.LoopEntries, false, true},
	}
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		g := newKindGate(false)
		var mu sync.Mutex
		var group sync.WaitGroup
		got := make([]bool, len(profiles))
		for _, i := range rng.Perm(len(profiles)) {
			group.Go(func() {
				_, ok := g.admit(i, profiles[i].kind)
				mu.Lock()
				got[i] = ok
				mu.Unlock()
				g.settle(i, 1, profiles[i].kind, ok && !profiles[i].broken)
			})
		}
		group.Wait()
		for i, p := range profiles {
			if got[i] != p.admitted {
				t.Fatalf("seed %d: profile %d admitted: %v, want %v", seed, i, got[i], p.admitted)
			}
		}
		if len(g.beyond) != 0 || g.low != len(profiles) {
			t.Fatalf("seed %d: %d places are not settled", seed, len(g.beyond))
		}
	}
}
