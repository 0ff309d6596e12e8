package mip

import (
	"bytes"
	"strings"
	"testing"
)

// TestImpossibleRanks: a raw profile in which a function was called for the first time
// long after all functions is added with a warning.
func TestImpossibleRanks(t *testing.T) {
	base, sound := read(t, fixture(t, "all.mipmap")), fixture(t, "all-1.mipraw")
	add := func(raw []byte) string {
		var warned []string
		if err := mergerOf(t, base, &warned).AddRaw("raw", raw, 1); err != nil {
			t.Fatal(err)
		}
		return strings.Join(warned, "\n")
	}
	if got := add(sound); got != "" {
		t.Errorf("the sound profile: %s", got)
	}
	at := base.Functions[0].RawOffset + 4 // add is called third
	for bit := range 32 {
		raw := bytes.Clone(sound)
		raw[at+uint64(bit)/8] ^= 1 << (bit % 8)
		// Threads may count a call twice, so only what is far above is told.
		if got, want := strings.Contains(add(raw), "rank of the first call is "), bit >= 5; got != want {
			t.Errorf("bit %d: told %v, want %v", bit, got, want)
		}
	}
}
