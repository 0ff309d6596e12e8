package addup

import (
	"cmp"
	"slices"
	"testing"
)

func TestEqual(t *testing.T) {
	type item struct {
		key  int
		text string
	}
	for _, c := range []struct{ list, want []item }{
		{nil, nil},
		{[]item{{1, "a"}}, []item{{1, "a"}}},
		{[]item{{1, "a"}, {2, "b"}}, []item{{1, "a"}, {2, "b"}}},
		{[]item{{2, "a"}, {1, "b"}, {2, "c"}, {2, "d"}, {1, "e"}}, []item{{1, "be"}, {2, "acd"}}},
		{[]item{{1, "a"}, {1, "b"}}, []item{{1, "ab"}}},
	} {
		got := Equal(slices.Clone(c.list), func(a, b *item) int { return cmp.Compare(a.key, b.key) },
			func(to, from *item) { to.text += from.text })
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.list, got, c.want)
		}
	}
}

// TestEqualLong: elements of one key are added in their order, however long the list is, and comparing allocates nothing.
func TestEqualLong(t *testing.T) {
	type item struct{ key, text string }
	compare := func(a, b *item) int { return cmp.Compare(a.key, b.key) }
	for n := range 60 {
		var list, want []item
		for i := range n {
			list = append(list, item{string(rune('a' + i*7%5)), string(rune('A' + i))})
		}
		for _, key := range []string{"a", "b", "c", "d", "e"} {
			text := ""
			for _, e := range list {
				if e.key == key {
					text += e.text
				}
			}
			if text != "" {
				want = append(want, item{key, text})
			}
		}
		got := Equal(slices.Clone(list), compare, func(to, from *item) { to.text += from.text })
		if !slices.Equal(got, want) {
			t.Errorf("%d elements: %v, want %v", n, got, want)
		}
	}
	list := make([]item, fewElements)
	allocs := testing.AllocsPerRun(10, func() {
		for i := range list {
			list[i].key = "z"[:1-i%2]
		}
		Equal(list, compare, func(to, from *item) {})
	})
	if allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}
