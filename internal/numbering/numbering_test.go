package numbering

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// A table numbers as a map does that counts its keys.
func TestTable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, expected := range []int{0, 10, 5000} {
		var table Table[string]
		if table.Find("0") != -1 {
			t.Error("the empty table has a key")
		}
		if expected > 0 {
			table.Expect(expected)
		}
		want := make(map[string]int32)
		for range 20_000 {
			key := fmt.Sprint(random.IntN(4000))
			n, known := want[key]
			if !known {
				n = int32(len(want))
				want[key] = n
			}
			if found := table.Find(key); known && found != n || !known && found != -1 {
				t.Fatalf("found %d for %s, number %d, known %t", found, key, n, known)
			}
			if got, fresh := table.Add(key); got != n || fresh == known || table.Of(key) != n || table.Keys[n] != key {
				t.Fatalf("%d, new %t, for %s, want %d", got, fresh, key, n)
			}
			if random.IntN(1000) == 0 {
				table.Shrink()
			}
		}
		if len(table.Keys) != len(want) {
			t.Errorf("%d keys, want %d", len(table.Keys), len(want))
		}
	}
}
