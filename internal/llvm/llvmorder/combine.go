package llvmorder

import (
	"encoding/binary"
	"math/bits"
)

// Constants of hash_combine_range (llvm/ADT/Hashing.h), with the seed of release builds.
const (
	k0      = 0xc3a5c85c97cb3127
	k1      = 0xb492b66fbe98f273
	k2      = 0x9ae16a3b2f90404f
	k3      = 0xc949d7c7509e6557
	kMul    = 0x9ddfea08eb382d69
	seed    = 0xff51afd7ed558ccd
	hashed  = 64 // bytes of a block
	perWord = 8
)

// Combine returns LLVM's hash_combine_range of 64-bit words, at least one.
func Combine(words []uint64) uint64 {
	b := make([]byte, 0, perWord*len(words))
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	if len(b) <= hashed {
		return combineShort(b)
	}
	s := newCombineState()
	for at := 0; at < len(b); at += hashed {
		// The last block overlaps the one before.
		at = min(at, len(b)-hashed)
		s.mix(b[at : at+hashed])
	}
	return s.finish(uint64(len(b)))
}

func word(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

func rotate(v uint64, by int) uint64 { return bits.RotateLeft64(v, -by) }

func shiftMix(v uint64) uint64 { return v ^ v>>47 }

// hash16 is hash_16_bytes.
func hash16(low, high uint64) uint64 {
	a := shiftMix((low ^ high) * kMul)
	return shiftMix((high^a)*kMul) * kMul
}

// combineShort is hash_short for lengths that are multiples of 8.
func combineShort(b []byte) uint64 {
	n := uint64(len(b))
	switch {
	case n == 8:
		low, high := uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[4:]))
		return hash16(n+low<<3, seed^high)
	case n == 16:
		x, y := word(b, 0), word(b, 8)
		return hash16(seed^x, rotate(y+n, int(n))) ^ y
	case n <= 32:
		a, x := word(b, 0)*k1, word(b, 8)
		y, z := word(b, len(b)-8)*k2, word(b, len(b)-16)*k0
		return hash16(rotate(a-x, 43)+rotate(y^seed, 30)+z, a+rotate(x^k3, 20)-y+n+seed)
	}
	sums := func(first, last uint64, at int) (f, s uint64) {
		a := first
		x, y := rotate(a+last, 52), rotate(a, 37)
		a += word(b, at+8)
		y += rotate(a, 7)
		a += word(b, at+16)
		return a + last, x + rotate(a, 31) + y
	}
	vf, vs := sums(word(b, 0)+(n+word(b, len(b)-16))*k0, word(b, 24), 0)
	wf, ws := sums(word(b, 16)+word(b, len(b)-32), word(b, len(b)-8), len(b)-32)
	r := shiftMix((vf+ws)*k2 + (wf+vs)*k0)
	return shiftMix((seed^r*k0)+vs) * k2
}

// A combineState is hash_state.
type combineState struct{ h0, h1, h2, h3, h4, h5, h6 uint64 }

func newCombineState() combineState {
	s := uint64(seed)
	c := combineState{h1: s, h2: hash16(s, k1), h3: rotate(s^k1, 49), h4: s * k1, h5: shiftMix(s)}
	c.h6 = hash16(c.h4, c.h5)
	return c
}

func (s *combineState) mix(b []byte) {
	s.h0 = rotate(s.h0+s.h1+s.h3+word(b, 8), 37) * k1
	s.h1 = rotate(s.h1+s.h4+word(b, 48), 42) * k1
	s.h0 ^= s.h6
	s.h1 += s.h3 + word(b, 40)
	s.h2 = rotate(s.h2+s.h5, 33) * k1
	s.h3 = s.h4 * k1
	s.h4 = s.h0 + s.h5
	s.h3, s.h4 = mix32(b, s.h3, s.h4)
	s.h5 = s.h2 + s.h6
	s.h6 = s.h1 + word(b, 16)
	s.h5, s.h6 = mix32(b[32:], s.h5, s.h6)
	s.h2, s.h0 = s.h0, s.h2
}

func mix32(b []byte, x, y uint64) (uint64, uint64) {
	x += word(b, 0)
	c := word(b, 24)
	y = rotate(y+x+c, 21)
	d := x
	x += word(b, 8) + word(b, 16)
	y += rotate(x, 44) + d
	return x + c, y
}

func (s *combineState) finish(n uint64) uint64 {
	return hash16(hash16(s.h3, s.h5)+shiftMix(s.h1)*k1+s.h2, hash16(s.h4, s.h6)+shiftMix(n)*k1+s.h0)
}
