package slab

import "testing"

func TestSlab(t *testing.T) {
	var s Slab[int]
	var slices [][]int
	for i := range 3 * length {
		made := s.Make(i % length)
		if len(made) != i%length || cap(made) != len(made) {
			t.Fatalf("%d of %d made, want %d", len(made), cap(made), i%length)
		}
		for j := range made {
			if made[j] != 0 {
				t.Fatalf("made slice %d begins with %d", i, made)
			}
			made[j] = -i
		}
		slices = append(slices, made)
	}
	for i, made := range slices {
		for _, n := range made {
			if n != -i {
				t.Errorf("a value of slice %d became %d", i, n)
			}
		}
	}
}
