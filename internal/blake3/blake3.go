// Package blake3 computes the 64-bit BLAKE3 hashes by which LLVM's MemProf
// names frames and call stacks.
//
// Inputs are a few bytes to a few kilobytes long, so the code is scalar. It
// computes the first 64 bits of the hash alone, in the unkeyed mode.
package blake3

import (
	"encoding/binary"
	"math/bits"
)

const (
	blockSize = 64
	chunkSize = 1024

	flagChunkStart = 1 << 0
	flagChunkEnd   = 1 << 1
	flagParent     = 1 << 2
	flagRoot       = 1 << 3
)

var iv = [8]uint32{
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
}

// schedule is the order of message words in each of the seven rounds.
var schedule = func() (s [7][16]uint8) {
	permutation := [16]uint8{2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8}
	for i := range s[0] {
		s[0][i] = uint8(i)
	}
	for r := 1; r < len(s); r++ {
		for i, p := range permutation {
			s[r][i] = s[r-1][p]
		}
	}
	return s
}()

// Sum64 returns the first eight bytes of the hash of data, read as
// little-endian.
func Sum64(data []byte) uint64 {
	cv := tree(data, 0, flagRoot)
	return uint64(cv[0]) | uint64(cv[1])<<32
}

// tree returns the chaining value of data, which begins at the given chunk.
// root is flagRoot for the whole input and 0 for a part of it.
func tree(data []byte, chunk uint64, root uint32) [8]uint32 {
	if len(data) <= chunkSize {
		return hashChunk(data, chunk, root)
	}
	// The left subtree has the largest power of two of chunks that leaves at
	// least one byte for the right one.
	chunks := (len(data) - 1) / chunkSize
	left := chunkSize << (bits.Len(uint(chunks)) - 1)
	a := tree(data[:left], chunk, 0)
	b := tree(data[left:], chunk+uint64(left/chunkSize), 0)
	var m [16]uint32
	copy(m[:8], a[:])
	copy(m[8:], b[:])
	cv := iv
	compress(&cv, &m, 0, blockSize, flagParent|root)
	return cv
}

// hashChunk returns the chaining value of one chunk of up to 1024 bytes, the
// chunk-th of the input. Its last block is padded with zeros.
func hashChunk(data []byte, chunk uint64, root uint32) [8]uint32 {
	cv := iv
	flags := uint32(flagChunkStart)
	for {
		n := min(blockSize, len(data))
		if n == len(data) {
			flags |= flagChunkEnd | root
		}
		var block [blockSize]byte
		copy(block[:], data[:n])
		var m [16]uint32
		for i := range m {
			m[i] = binary.LittleEndian.Uint32(block[4*i:])
		}
		compress(&cv, &m, chunk, uint32(n), flags)
		if data = data[n:]; len(data) == 0 {
			return cv
		}
		flags = 0
	}
}

// compress replaces cv by the first half of the compression function's output.
func compress(cv *[8]uint32, m *[16]uint32, counter uint64, length, flags uint32) {
	s := [16]uint32{
		cv[0], cv[1], cv[2], cv[3], cv[4], cv[5], cv[6], cv[7],
		iv[0], iv[1], iv[2], iv[3], uint32(counter), uint32(counter >> 32), length, flags,
	}
	for r := range schedule {
		w := &schedule[r]
		mix(&s, 0, 4, 8, 12, m[w[0]], m[w[1]])
		mix(&s, 1, 5, 9, 13, m[w[2]], m[w[3]])
		mix(&s, 2, 6, 10, 14, m[w[4]], m[w[5]])
		mix(&s, 3, 7, 11, 15, m[w[6]], m[w[7]])
		mix(&s, 0, 5, 10, 15, m[w[8]], m[w[9]])
		mix(&s, 1, 6, 11, 12, m[w[10]], m[w[11]])
		mix(&s, 2, 7, 8, 13, m[w[12]], m[w[13]])
		mix(&s, 3, 4, 9, 14, m[w[14]], m[w[15]])
	}
	for i := range cv {
		cv[i] = s[i] ^ s[i+8]
	}
}

// mix is the quarter-round function G over the words a, b, c and d of the state.
func mix(s *[16]uint32, a, b, c, d int, x, y uint32) {
	s[a] += s[b] + x
	s[d] = bits.RotateLeft32(s[d]^s[a], -16)
	s[c] += s[d]
	s[b] = bits.RotateLeft32(s[b]^s[c], -12)
	s[a] += s[b] + y
	s[d] = bits.RotateLeft32(s[d]^s[a], -8)
	s[c] += s[d]
	s[b] = bits.RotateLeft32(s[b]^s[c], -7)
}
