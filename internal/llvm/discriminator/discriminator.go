// Package discriminator decodes the discriminators of LLVM's debug information, which tell copies and blocks of a line apart.
//
// A discriminator has three components from the low bits up: the base, the duplication factor and an identifier of
// the copy. A component that is 0 is the bit 1; others are a bit 0 and 5 bits, or 12 bits with a mark between. Pseudo
// probes set the low three bits and use the rest in their own way.
package discriminator

const (
	probeMark    = 7 // the low three bits
	probeHasBase = 1 << 28
)

// Base returns the component that profiles have (DILocation::getBaseDiscriminatorFromDiscriminator); for probes the
// base that they keep, or else the number of the probe.
func Base(d uint32) uint32 {
	if d&probeMark == probeMark {
		if d&probeHasBase != 0 {
			return d >> 16 & 7
		}
		return d >> 3 & 0xffff
	}
	return component(d)
}

// Duplication returns by how much the counts of the code are multiplied, at least 1: loops that are unrolled or
// vectorized run as often as all their copies (DILocation::getDuplicationFactorFromDiscriminator).
func Duplication(d uint32) uint32 {
	switch {
	case d&1 != 0:
		d >>= 1
	case d&0x40 != 0:
		d >>= 14
	default:
		d >>= 7
	}
	return max(1, component(d))
}

func component(d uint32) uint32 {
	switch {
	case d&1 != 0:
		return 0
	case d&0x40 != 0:
		return d>>2&0xfe0 | d>>1&0x1f
	}
	return d >> 1 & 0x1f
}
