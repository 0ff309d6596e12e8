package profile

import (
	"math"
	"testing"
)

// TestHeat: what a function's counts come to, with blocks and without.
func TestHeat(t *testing.T) {
	for _, c := range []struct {
		f          Function
		max, total uint64
		covered    int
	}{
		{Function{}, 0, 0, 0},
		{Function{Calls: 7}, 7, 7, 0},
		{Function{Calls: 1, Blocks: []Block{{Count: 3}, {}, {Count: 4}}}, 4, 7, 2},
		{Function{Calls: 9, Blocks: []Block{{Count: 1}}}, 9, 1, 1},
		{Function{Blocks: []Block{{Count: math.MaxUint64}, {Count: 1}}}, math.MaxUint64, math.MaxUint64, 2},
	} {
		if most, total, covered := c.f.Max(), c.f.Total(), c.f.CoveredBlocks(); most != c.max || total != c.total || covered != c.covered {
			t.Errorf("%+v: %d, %d, %d; want %d, %d, %d", c.f, most, total, covered, c.max, c.total, c.covered)
		}
	}
}

// TestKinds: values from outside the enumeration have names, too.
func TestKinds(t *testing.T) {
	for got, want := range map[string]string{
		Call.String(): "call", MemOpSize.String(): "memop_size", EdgeKind(0).String(): "edge kind 0", EdgeKind(99).String(): "edge kind 99",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
