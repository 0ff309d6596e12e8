// Package saturate has arithmetic on counts that stops at the largest value
// instead of beginning at zero again.
package saturate

import "math/bits"

// Add returns a+b, or 2^64-1 if that is less.
func Add(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return 1<<64 - 1
	}
	return sum
}

// Mul returns a·b, or 2^64-1 if that is less, and whether it is.
func Mul(a, b uint64) (product uint64, cut bool) {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return 1<<64 - 1, true
	}
	return lo, false
}

// AddScaled returns sum + n·weight, or 2^64-1 if that is less, and whether it
// is.
func AddScaled(sum, n, weight uint64) (total uint64, cut bool) {
	hi, lo := bits.Mul64(n, weight)
	total, carry := bits.Add64(sum, lo, 0)
	if hi|carry != 0 {
		return 1<<64 - 1, true
	}
	return total, false
}
