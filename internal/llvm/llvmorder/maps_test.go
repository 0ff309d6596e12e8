package llvmorder_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmorder"
)

// What real files say of the order, the tests of irpgo and memprof compare byte for byte.
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name   string
		keys   []uint64
		inline int
		hash   llvmorder.Hash
		want   []int32
	}{
		{"none", nil, 0, llvmorder.Mixed, []int32{}},
		// 37·key modulo 4 is the key modulo 4.
		{"in the map itself", []uint64{7, 2}, 4, llvmorder.Times37, []int32{1, 0}},
		{"two for one bucket", []uint64{6, 2}, 4, llvmorder.Times37, []int32{0, 1}},
		// Modulo 64 they are 37, 10 and 47.
		{"three outgrow four buckets", []uint64{1, 2, 3}, 4, llvmorder.Times37, []int32{1, 0, 2}},
	} {
		if got := llvmorder.DenseMap(c.keys, c.inline, c.hash); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// All keys are there once, however often the map grew.
func TestAllKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		keys := make([]uint64, rng.IntN(1000))
		for i := range keys {
			keys[i] = rng.Uint64()
		}
		order := llvmorder.DenseMap(keys, 4*rng.IntN(2), llvmorder.Mixed)
		slices.Sort(order)
		for i, at := range order {
			if int(at) != i {
				t.Fatalf("of %d keys the order has %v", len(keys), order)
			}
		}
		if len(order) != len(keys) {
			t.Fatalf("%d of %d keys", len(order), len(keys))
		}
	}
}

// TestStringMap: a map of strings keeps all keys. The tests of irpgo compare its order with files of LLVM 14 and 16.
func TestStringMap(t *testing.T) {
	for _, n := range []int{0, 1, 12, 13, 500} {
		key := func(i int) string { return fmt.Sprint("function", i) }
		order := llvmorder.StringMap(n, key, llvmorder.XXH3)
		if again := llvmorder.StringMap(n, key, llvmorder.XXH3); !slices.Equal(order, again) {
			t.Errorf("%d keys: %v, then %v", n, order, again)
		}
		slices.Sort(order)
		for i, at := range order {
			if int(at) != i {
				t.Fatalf("of %d keys the order has %v", n, order)
			}
		}
		if len(order) != n {
			t.Fatalf("%d of %d keys", len(order), n)
		}
	}
	// DJB modulo 16: "a" 1, "b" 2, "q" 1.
	keys := []string{"b", "q", "a"}
	if got, want := llvmorder.StringMap(3, func(i int) string { return keys[i] }, llvmorder.DJB), []int32{1, 0, 2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
