package merge

import "testing"

// TestLimit: how much may be lost.
func TestLimit(t *testing.T) {
	for _, test := range []struct {
		text      string
		lost, all uint64
		want      bool
	}{
		{"0", 0, 10, true},
		{"0", 1, 10, false},
		{"3", 3, 3, true},
		{"3", 4, 400, false},
		{"1%", 1, 100, true},
		{"1%", 1, 99, false},
		{"0.1%", 1, 1000, true},
		{"0%", 0, 0, true},
		{"100%", 7, 7, true},
	} {
		var l Limit
		must(t, l.Set(test.text))
		if got := l.allows(test.lost, test.all); got != test.want {
			t.Errorf("%s: %d of %d: %v", test.text, test.lost, test.all, got)
		}
	}
	for _, bad := range []string{"", "%", "-1", "-1%", "101%", "x", "NaN%"} {
		if err := new(Limit).Set(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
