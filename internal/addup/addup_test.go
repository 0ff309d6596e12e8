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
