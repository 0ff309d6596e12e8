package dwarf

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// llvmMap is the map from addresses to functions as LLVM keeps it, spelled out
// on a sorted list: what tree.build has to equal, whatever the ranges.
type llvmMap struct {
	keys []uint64
	ends []codeEnd
}

func (m *llvmMap) set(key uint64, e codeEnd) {
	i, found := slices.BinarySearch(m.keys, key)
	if !found {
		m.keys, m.ends = slices.Insert(m.keys, i, key), slices.Insert(m.ends, i, e)
	}
	m.ends[i] = e
}

func (m *llvmMap) add(r codeRange) {
	if r.low == r.high {
		return
	}
	i, found := slices.BinarySearch(m.keys, r.low)
	if !found {
		i--
	}
	if i >= 0 && r.low < m.ends[i].high {
		key, old := m.keys[i], m.ends[i]
		if r.high < old.high {
			m.set(r.high, old)
		}
		if key < r.low {
			i, _ := slices.BinarySearch(m.keys, key)
			m.ends[i].high = r.low
		}
	}
	m.set(r.low, codeEnd{r.high, r.function})
}

func TestTreeEqualsLLVMsMap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 2000 {
		size := uint64(2 + r.IntN(200)) // few addresses: many collisions
		var code []codeRange
		var m llvmMap
		for i := range r.IntN(60) {
			low, high := r.Uint64N(size), r.Uint64N(size)
			if high < low && r.IntN(10) > 0 { // broken ranges too
				low, high = high, low
			}
			code = append(code, codeRange{addrRange{low, high}, int32(i)})
			m.add(code[i])
		}
		var tr tree
		tr.build(code)
		if !slices.Equal(tr.starts, m.keys) || !slices.Equal(tr.ranges, m.ends) {
			t.Fatalf("round %d, %v:\n got %v %v\nwant %v %v", round, code, tr.starts, tr.ranges, m.keys, m.ends)
		}
	}
}

// TestTreeNesting: with ranges as they should be the innermost counts.
func TestTreeNesting(t *testing.T) {
	var tr tree
	tr.build([]codeRange{
		{addrRange{100, 200}, 0},
		{addrRange{110, 150}, 1},
		{addrRange{110, 120}, 2},
		{addrRange{140, 150}, 3},
		{addrRange{180, 190}, 1}, // the second range of 1
		{addrRange{300, 310}, 4},
	})
	for addr, want := range map[uint64]int32{
		0: -1, 99: -1, 100: 0, 109: 0, 110: 2, 119: 2, 120: 1, 139: 1, 140: 3, 149: 3,
		150: 0, 179: 0, 180: 1, 189: 1, 190: 0, 199: 0, 200: -1, 299: -1, 300: 4, 309: 4, 310: -1, 1 << 63: -1,
	} {
		if got := tr.find(addr); got != want {
			t.Errorf("find(%d) = %d, want %d", addr, got, want)
		}
	}
}

func TestBitset(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 63, 64, 65, 4096, 4097, 300000} {
		s := newBitset(n)
		in := make([]bool, n)
		for range 20 {
			i := r.IntN(n)
			s.set(i)
			in[i] = true
		}
		last := -1
		for i := range n {
			if in[i] {
				last = i
			}
			if s.has(i) != in[i] || s.last(i) != last {
				t.Fatalf("of %d: has(%d) = %t, last = %d, want %t and %d", n, i, s.has(i), s.last(i), in[i], last)
			}
		}
	}
}

// TestFlatten compares with the rule applied to one address after the other.
func TestFlatten(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for round := range 2000 {
		const size = 40
		var all []unitRange
		for range r.IntN(12) {
			low, high := r.Uint64N(size), r.Uint64N(size+1)
			all = append(all, unitRange{addrRange{low, high}, int32(r.IntN(5))})
		}
		ranges := slices.Clone(all)
		got := flatten(all)
		last := int32(-1)
		for addr := range uint64(size) {
			claims := map[int32]bool{}
			for _, r := range ranges {
				if r.low <= addr && addr < r.high {
					claims[r.unit] = true
				}
			}
			if !claims[last] {
				last = -1
				for u := range int32(5) {
					if claims[u] && last < 0 {
						last = u
					}
				}
			}
			d := Data{ranges: got}
			if unit := d.Unit(addr); unit != int(last) {
				t.Fatalf("round %d, %v: address %d is of unit %d, want %d", round, ranges, addr, unit, last)
			}
		}
		for i := 1; i < len(got); i++ {
			if got[i].low < got[i-1].high {
				t.Fatalf("round %d: overlapping %v", round, got)
			}
		}
	}
}
