package mt19937_test

import (
	"testing"

	"github.com/profuse-pgo/profuse/internal/mt19937"
)

// The C++ standard demands a value of the 10,000th draw.
func TestUint32(t *testing.T) {
	g := mt19937.New(mt19937.DefaultSeed)
	var v uint32
	for range 10000 {
		v = g.Uint32()
	}
	if v != 4123659995 {
		t.Errorf("draw 10000 = %d, want 4123659995", v)
	}
}
