// Package saturate adds and multiplies counts. Results stop at 2^64-1 instead of wrapping around.
package saturate

import (
	"math"
	"math/bits"
)

// Add returns a+b, at most 2^64-1.
func Add(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return 1<<64 - 1
	}
	return sum
}

// Mul returns a·b, at most 2^64-1; cut reports whether the product is larger.
func Mul(a, b uint64) (product uint64, cut bool) {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return 1<<64 - 1, true
	}
	return lo, false
}

// AddScaled returns sum + n·weight, at most 2^64-1; cut reports whether the total is larger.
func AddScaled(sum, n, weight uint64) (total uint64, cut bool) {
	hi, lo := bits.Mul64(n, weight)
	total, carry := bits.Add64(sum, lo, 0)
	if hi|carry != 0 {
		return 1<<64 - 1, true
	}
	return total, false
}

// AddSigned returns a+b, at least -2^63 and at most 2^63-1; cut reports whether the sum is beyond.
func AddSigned(a, b int64) (sum int64, cut bool) {
	sum = a + b
	if (a^sum)&(b^sum) < 0 { // the sign of the sum is that of neither
		if a < 0 {
			return math.MinInt64, true
		}
		return math.MaxInt64, true
	}
	return sum, false
}

// Div returns n/by, rounded, halves up. by is not 0.
func Div(n, by uint64) uint64 {
	q, rest := n/by, n%by
	if rest >= by-rest {
		q++
	}
	return q
}
