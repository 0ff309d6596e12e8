package cli

import "testing"

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"abc", "abd", 1},
		{"abc", "ac", 1},
		{"ab", "ba", 2},
		{"kitten", "sitting", 3},
		{"sparse", "parser", 2},
	} {
		if d := Distance(tc.a, tc.b); d != tc.want {
			t.Errorf("%q to %q: %d edits, want %d", tc.a, tc.b, d, tc.want)
		}
	}
}
