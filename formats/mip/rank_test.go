package mip

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestImpossibleRanks: a raw profile in which a function was called for the first time
// long after all functions is added with a warning.
func TestImpossibleRanks(t *testing.T) {
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(oracle.Root(t), "testdata", "mip", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	base, err := Read("all.mipmap", read("all.mipmap"), nil)
	if err != nil {
		t.Fatal(err)
	}
	add := func(raw []byte) (warnings string) {
		m, err := NewMerger(base, MergeOptions{Warn: func(w profile.Warning) { warnings += w.String() + "\n" }})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.AddRaw("raw", raw, 1); err != nil {
			t.Fatal(err)
		}
		return warnings
	}
	sound := read("all-1.mipraw")
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
