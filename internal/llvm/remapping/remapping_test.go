package remapping

import (
	"errors"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

func TestParse(t *testing.T) {
	rename, err := Parse("map", []byte("# names\n\n_ZN1a1fEv _ZN1b1fEv\r\nx.c;f y.c;f\n_ZN1a1fEv other\n_RNvC1a1f _RNvC1b1f"))
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{
		"_ZN1a1fEv": "_ZN1b1fEv", "x.c;f": "y.c;f", "_RNvC1a1f": "_RNvC1b1f", "f": "f", "": "",
	} {
		if got := rename(from); got != to {
			t.Errorf("%q becomes %q, want %q", from, got, to)
		}
	}
	for text, line := range map[string]int{"a": 1, "a b\n a b\n": 2, "#\n\na b c": 3, "a  b": 1, "a ": 1} {
		_, err := Parse("map", []byte(text))
		var fe *profile.FormatError
		if !errors.As(err, &fe) || fe.Line != line || !errors.Is(err, profile.ErrCorrupt) {
			t.Errorf("%q: %v, want an error in line %d", text, err, line)
		}
	}
}
