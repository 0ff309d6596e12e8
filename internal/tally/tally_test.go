package tally

import (
	"maps"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// plain is [Tally.Distribution] by its definition, in integers without limit.
func plain(values, shares []uint64, modulo bool) Distribution {
	times := make(map[uint64]uint64)
	total := new(big.Int)
	add := func(sum *big.Int, v, n uint64) {
		product := new(big.Int).Mul(new(big.Int).SetUint64(v), new(big.Int).SetUint64(n))
		if sum.Add(sum, product); modulo {
			sum.And(sum, new(big.Int).SetUint64(1<<64-1))
		}
	}
	d := Distribution{Values: uint64(len(values)), Cutoffs: []Cutoff{}}
	for _, v := range values {
		times[v]++
		d.Max = max(d.Max, v)
		add(total, v, 1)
	}
	d.Low = new(big.Int).And(total, new(big.Int).SetUint64(1<<64-1)).Uint64()
	d.High = new(big.Int).Rsh(total, 64).Uint64()
	left := slices.Sorted(maps.Keys(times))
	passed := new(big.Int)
	var c Cutoff
	for _, c.Share = range slices.Sorted(slices.Values(shares)) {
		want := new(big.Int).Mul(total, new(big.Int).SetUint64(c.Share))
		if want.Div(want, big.NewInt(1_000_000)); modulo {
			want.And(want, new(big.Int).SetUint64(1<<64-1))
		}
		for len(left) > 0 && passed.Cmp(want) < 0 {
			c.Min, left = left[len(left)-1], left[:len(left)-1]
			c.Values += times[c.Min]
			add(passed, c.Min, times[c.Min])
		}
		d.Cutoffs = append(d.Cutoffs, c)
	}
	return d
}

func TestDistribution(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(n int, of func() uint64) []uint64 {
		values := make([]uint64, n)
		for i := range values {
			values[i] = of()
		}
		return values
	}
	shares := []uint64{1_000_000, 0, 1, 990_000, 500_000, 999_999, 500_000}
	for _, c := range []struct {
		name   string
		values []uint64
	}{
		{"nothing", nil},
		{"zeros", []uint64{0, 0}},
		{"around the table of small values", []uint64{smallValues - 1, smallValues, smallValues + 1, smallValues, smallValues - 1}},
		{"more than 64 bits", []uint64{1<<64 - 1, 1<<64 - 1, 7}},
		{"modulo 2^64 nothing", []uint64{1 << 63, 1 << 63}},
		{"a few of all sizes", draw(100, func() uint64 { return rng.Uint64() >> rng.IntN(65) })},
		{"more than are gathered", draw(3*pendingValues, func() uint64 { return rng.Uint64() >> (40 + rng.IntN(20)) })},
		{"distinct", draw(pendingValues+1, func() uint64 { return rng.Uint64() | smallValues })},
	} {
		for _, modulo := range []bool{false, true} {
			asked := shares
			if modulo {
				asked = append(asked, 3_000_000) // llvm-profdata takes any
			}
			want := plain(c.values, asked, modulo)
			var one, expected, first, second Tally
			expected.Expect(len(c.values))
			for i, v := range c.values {
				one.Add(v)
				expected.Add(v)
				if i%3 == 0 {
					first.Add(v)
				} else {
					second.Add(v)
				}
			}
			first.Distribution(nil, modulo) // a tally may go on after it was asked
			first.Merge(&second)
			for name, t2 := range map[string]*Tally{"one": &one, "with room": &expected, "merged": &first} {
				if got := t2.Distribution(asked, modulo); !reflect.DeepEqual(got, want) {
					t.Errorf("%s, modulo %v, %s:\ngot  %+v\nwant %+v", c.name, modulo, name, got, want)
				}
			}
		}
	}
}

func TestMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for range 200 {
		var sides [2][]frequency
		want := make(map[uint64]uint64)
		for i := range sides {
			m := make(map[uint64]uint64)
			for range rng.IntN(12) {
				m[rng.Uint64N(20)] += 1 + rng.Uint64N(5)
			}
			for _, v := range slices.Sorted(maps.Keys(m)) {
				sides[i] = append(sides[i], frequency{v, m[v]})
				want[v] += m[v]
			}
		}
		src := slices.Clone(sides[1])
		got := merge(slices.Clip(sides[0]), sides[1])
		if !slices.Equal(src, sides[1]) {
			t.Fatalf("the source changed from %v to %v", src, sides[1])
		}
		if len(got) != len(want) || !slices.IsSortedFunc(got, func(a, b frequency) int { return int(a.value) - int(b.value) }) {
			t.Fatalf("got %v, want %v in order", got, want)
		}
		for _, f := range got {
			if want[f.value] != f.times {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
	}
}

func TestSortBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		values := make([]uint64, rng.IntN(2000))
		mask := rng.Uint64() >> rng.IntN(64)
		for i := range values {
			values[i] = rng.Uint64() & mask
		}
		want := slices.Sorted(slices.Values(values))
		if sortBytes(values); !slices.Equal(values, want) {
			t.Fatalf("%d values under mask %#x are out of order", len(values), mask)
		}
	}
}
