package discriminator

import "testing"

// TestComponents: numbers as LLVM encodes them (DILocation::encodeDiscriminator; the marks of probes).
func TestComponents(t *testing.T) {
	for d, want := range map[uint32][2]uint32{
		0: {0, 1}, 1: {0, 1}, 2: {1, 1}, 0x22: {17, 1}, 0x104: {2, 1}, 0x1104: {2, 17}, 0x842: {513, 1},
		0x7f: {15, 1}, 0x10020017: {2, 1}, 0xffff: {8191, 1},
		4: {2, 1}, 0x3e: {31, 1}, 0x40: {0, 1}, 0xc0: {32, 1}, 0x3ffe: {0xfff, 1}, 3: {0, 1},
	} {
		if got := [2]uint32{Base(d), Duplication(d)}; got != want {
			t.Errorf("%#x: base and factor %v, want %v", d, got, want)
		}
	}
}
