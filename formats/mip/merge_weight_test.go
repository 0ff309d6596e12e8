package mip

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/profile"
)

// TestWeight: adding with a weight is adding that many times, for raw profiles,
// merged ones and return addresses alike.
func TestWeight(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 3))
	add := func(m *Merger, data []byte, weight uint64) {
		t.Helper()
		r, err := NewReader("f", data, nil)
		if err == nil {
			err = m.Add(r, weight)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, typ := range append(profileTypes, edgesType) {
		base := edgesMap()
		inputs := [][]byte{unhex(t, edgesRet)}
		if typ != edgesType {
			base, inputs = randomMap(rng, typ, 40), nil
			for range 3 {
				run := randomRun(rng, base)
				inputs = append(inputs, rawOf(run, 8), mipOf(t, run, WriteOptions{}))
			}
		}
		once := mergerOf(t, base, nil)
		often := once.Fork()
		for _, data := range inputs {
			weight := 1 + rng.Uint64N(5)
			add(once, data, weight)
			for range weight {
				add(often, data, 1)
			}
		}
		if diff := cmp.Diff(often.Profile(), once.Profile()); diff != "" {
			t.Errorf("%v: %s", typ, diff)
		}
		for _, data := range inputs {
			r, err := NewReader("f", data, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := once.Add(r, 0); !errors.Is(err, profile.ErrMismatch) {
				t.Errorf("%v: weight 0: %v", typ, err)
			}
		}
	}
}
