package irpgocmd

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/profile"
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
		{"entries and blocks of coverage", entry, single, true},
		{"entry first or not", first, ir, true},
		{"loops or not", loops, ir, true},
		{"entry first and loops", first, loops, true},
		{"loops, entry first or not", loops | irpgo.EntryFirst, loops, true},
		{"coverage, entry first or not", single | irpgo.EntryFirst, single, true},
		{"context-sensitive and plain", ir | irpgo.ContextSens, ir, false},
		{"timestamps or not", ir | irpgo.HasTemporal, ir, false},
		{"entry only and entry first, the same", entry | irpgo.EntryFirst, entry | irpgo.EntryFirst, false},
		{"entry only and entry first", ir | irpgo.EntryOnly, first, true},
		{"entry only and loops", ir | irpgo.EntryOnly, loops, true},
		{"entry only and IR", ir | irpgo.EntryOnly, ir, true},
		{"the same", entry, entry, false},
	}
	for _, test := range tests {
		if got := test.a.Kind() != test.b.Kind(); got != test.want {
			t.Errorf("%s: %v", test.name, got)
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
		{ir | irpgo.EntryFirst, false, false},
		{ir, true, true},
		{ir | irpgo.EntryOnly, false, false},
		{fe, true, false},
		{ir, false, true},
		{ir | irpgo.LoopEntries, false, false},
	}
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		g := newKindGate(false)
		var mu sync.Mutex
		var group sync.WaitGroup
		got := make([]bool, len(profiles))
		for _, i := range rng.Perm(len(profiles)) {
			group.Go(func() {
				_, ok := g.admits(i, profiles[i].kind.Kind())
				mu.Lock()
				got[i] = ok
				mu.Unlock()
				settled := irpgo.Variant(0)
				if ok && !profiles[i].broken {
					settled = profiles[i].kind.Kind()
				}
				g.settle(i, 1, settled)
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

// TestLikelyCauses: what usually causes the damage of a profile.
func TestLikelyCauses(t *testing.T) {
	binary := []byte("\xfflprofi\x81\x0c\x00\x00\x00\x00\x00\x00\x00")
	for _, c := range []struct {
		e    *profile.FormatError
		data []byte
		want string
	}{
		{&profile.FormatError{Position: profile.Position{Section: "value data"}, Err: profile.ErrCorrupt}, nil, "the writer was killed in the value profile"},
		{&profile.FormatError{Field: "magic of the next profile", Err: profile.ErrCorrupt}, nil, "several processes wrote to it at once"},
		{&profile.FormatError{Field: "indexed profile version", Err: profile.ErrUnsupported}, binary, "a compiler newer than this tool wrote it"},
		{&profile.FormatError{Field: "raw profile version", Err: profile.ErrUnsupported}, nil, "a compiler newer than this tool wrote it"},
		{&profile.FormatError{Field: "hash", Err: profile.ErrCorrupt}, binary, "its bytes were changed after it was written"},
		{&profile.FormatError{Field: "hash", Err: profile.ErrCorrupt}, []byte("main\n1\n"), ""},
		{&profile.FormatError{Field: "kind", Err: errMixedKinds}, binary, "it was built with other instrumentation options"},
	} {
		if got := likelyCause(c.e, c.data); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%+v: %q, want %q", c.e, got, c.want)
		}
	}
}
