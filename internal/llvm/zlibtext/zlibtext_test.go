package zlibtext

import (
	"strings"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	for _, text := range []string{"", "a", strings.Repeat("name\x01", 30000)} {
		got, err := Inflate(Deflate(text), uint64(len(text)), uint64(len(text)))
		if err != nil || got != text {
			t.Errorf("%d bytes came back as %d: %v", len(text), len(got), err)
		}
	}
}

func TestInflateRefuses(t *testing.T) {
	z := Deflate("some text")
	for name, c := range map[string]struct {
		z    []byte
		size uint64
		want string
	}{
		"impossible size": {z, 1 << 40, "announced to hold"},
		"size too large":  {z, 10, "another size than 10"},
		"size too small":  {z, 8, "another size than 8"},
		"over the limit":  {Deflate(strings.Repeat("a", 21)), 21, ErrTooLarge.Error()},
		"cut off":         {z[:len(z)-5], 9, "ends early"},
		"no zlib":         {[]byte("some text"), 9, "zlib: invalid header"},
	} {
		_, err := Inflate(c.z, c.size, 20)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
