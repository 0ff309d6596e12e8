package saturate_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/profuse-pgo/profuse/internal/saturate"
)

// TestLimits compares with integers that have none.
func TestLimits(t *testing.T) {
	values := []uint64{0, 1, 2, 3, 1 << 31, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, math.MaxUint64 - 1, math.MaxUint64}
	number := func(v uint64) *big.Int { return new(big.Int).SetUint64(v) }
	most := number(math.MaxUint64)
	cut := func(exact *big.Int) (uint64, bool) {
		if exact.Cmp(most) > 0 {
			return math.MaxUint64, true
		}
		return exact.Uint64(), false
	}
	for _, a := range values {
		for _, b := range values {
			if want, _ := cut(new(big.Int).Add(number(a), number(b))); saturate.Add(a, b) != want {
				t.Errorf("%d + %d is %d, want %d", a, b, saturate.Add(a, b), want)
			}
			want, wantCut := cut(new(big.Int).Mul(number(a), number(b)))
			if got, cut := saturate.Mul(a, b); got != want || cut != wantCut {
				t.Errorf("%d · %d is %d, cut %v, want %d, %v", a, b, got, cut, want, wantCut)
			}
			for _, c := range values {
				product := new(big.Int).Mul(number(b), number(c))
				want, wantCut := cut(product.Add(product, number(a)))
				if got, cut := saturate.AddScaled(a, b, c); got != want || cut != wantCut {
					t.Errorf("%d + %d · %d is %d, cut %v, want %d, %v", a, b, c, got, cut, want, wantCut)
				}
			}
		}
	}
}

// TestDiv: rounded to the nearest, halves up.
func TestDiv(t *testing.T) {
	for _, n := range []uint64{0, 1, 4, 5, 14, 15, 16, math.MaxUint64 - 1, math.MaxUint64} {
		for _, by := range []uint64{1, 2, 3, 10, 1 << 63, math.MaxUint64} {
			exact := new(big.Int).SetUint64(n)
			exact.Add(exact.Lsh(exact, 1), new(big.Int).SetUint64(by)) // 2n + by
			exact.Quo(exact, new(big.Int).Lsh(new(big.Int).SetUint64(by), 1))
			if got := saturate.Div(n, by); got != exact.Uint64() {
				t.Errorf("%d / %d is %d, want %d", n, by, got, exact)
			}
		}
	}
}
