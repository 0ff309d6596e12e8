package export

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzJSONString: strings come back from encoding/json as they were, but for what is not UTF-8, which is counted.
func FuzzJSONString(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\/\b\n\x00\x1f\x7f", "grüße𠀀\u2028", "a\xff\xed\xa0\x80b", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		j := jsonWriter{w: &b}
		j.string(s)
		j.flush()
		var got string
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v", b.Bytes(), err)
		}
		var want strings.Builder
		for _, r := range s { // each bad byte is one U+FFFD
			want.WriteRune(r)
		}
		if got != want.String() || (j.bad > 0) == utf8.ValidString(s) {
			t.Errorf("%q comes back as %q, %d bad", s, got, j.bad)
		}
	})
}
