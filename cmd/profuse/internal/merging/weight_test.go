package merging

import "testing"

func TestParseWeight(t *testing.T) {
	for text, want := range map[string]uint64{"1": 1, "18446744073709551615": 1<<64 - 1, "0.5": 1, "0.99999999999999999": 1} {
		if w, ok := parseWeight(text); !ok || w != want {
			t.Errorf("weight %q is %d, %v", text, w, ok)
		}
	}
	for _, bad := range []string{"", "0", "0.0", "-1", "1e3", ".", "1.", "+2", "18446744073709551616", "0.123456789012345678", "½"} {
		if w, ok := parseWeight(bad); ok {
			t.Errorf("weight %q is %d", bad, w)
		}
	}
}
