package mt19937_test

import (
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/mt19937"
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

// TestUniform has what std::uniform_int_distribution<uint64_t>(0, limit) of
// libstdc++ (GCC 12) draws first from a default-constructed generator.
func TestUniform(t *testing.T) {
	for _, tc := range []struct {
		limit uint64
		want  [4]uint64
	}{
		{0, [4]uint64{}},
		{0x1, [4]uint64{0x1, 0, 0x1, 0x1}},
		{0x9, [4]uint64{0x8, 0x1, 0x9, 0x8}},
		{0xf4240, [4]uint64{0xc6e84, 0x21135, 0xdd240, 0xcbdc1}},
		{0xfffffffe, [4]uint64{0xd091bb5b, 0x22ae9ef5, 0xe7e1faed, 0xd5c31f78}},
		{0xffffffff, [4]uint64{0xd091bb5c, 0x22ae9ef6, 0xe7e1faee, 0xd5c31f79}},
		{0x100000000, [4]uint64{0xf807b7df, 0x8c16a625, 0x3039cd1a, 0xb9d09511}},
		{0x123456789ab, [4]uint64{0xed22ae9ef6, 0x108d5c31f79, 0x25f807b7df, 0x10a3895afe1}},
		{0xffffffffffffffff, [4]uint64{0xd091bb5c22ae9ef6, 0xe7e1faeed5c31f79, 0x2082352cf807b7df, 0xe9d300053895afe1}},
	} {
		g := mt19937.New(mt19937.DefaultSeed)
		var got [4]uint64
		for i := range got {
			got[i] = g.Uniform(tc.limit)
		}
		if got != tc.want {
			t.Errorf("up to %#x: %#x, want %#x", tc.limit, got, tc.want)
		}
	}
}

// TestFloat32 has what std::generate_canonical<float, 24> of libstdc++ (GCC 12) draws first from std::mt19937(7).
func TestFloat32(t *testing.T) {
	g := mt19937.New(7)
	for i, want := range []float32{0x1.388f0ap-4, 0x1.d19726p-3, 0x1.8f5184p-1, 0x1.46a0a8p-2} {
		if got := g.Float32(); got != want {
			t.Errorf("draw %d is %x, want %x", i, got, want)
		}
	}
}
