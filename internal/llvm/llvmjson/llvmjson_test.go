package llvmjson

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// What llvm-profdata 22 prints for these strings.
func TestAppendString(t *testing.T) {
	for s, want := range map[string]string{
		"":                             `""`,
		"a/<>&'é\u2028😀":               `"a/<>&'é` + "\u2028" + `😀"`,
		"\"\\\n\r\t\b\f\x01\x1f\x7f":   `"\"\\\n\r\t\u0008\u000c\u0001\u001f` + "\x7f" + `"`,
		"\xff\xfe":                     `"��"`,
		"a\xe2\x82":                    `"a�"`,
		"\xed\xa0\x80":                 `"���"`,
		"\xf5\x80\x80\x80":             `"����"`,
		"\xc0\x80":                     `"��"`,
		"\xe2\x28\xa1\xf0\x90\x28\xbc": `"�(��(�"`,
		"�":                            `"�"`,
	} {
		if got := string(AppendString(nil, s)); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\"\xe2\x82b\x00")
	f.Fuzz(func(t *testing.T, s string) {
		quoted := AppendString(nil, s)
		var back string
		if err := json.Unmarshal(quoted, &back); err != nil || !utf8.Valid(quoted) {
			t.Fatalf("%q: %s: %v", s, quoted, err)
		}
		if utf8.ValidString(s) && back != s {
			t.Errorf("%q became %q", s, back)
		}
	})
}

func TestText(t *testing.T) {
	var j Text
	j.Open('[')
	j.Next()
	j.Open('{')
	j.String("name", "f")
	j.Number("n", 1<<64-1)
	j.Field("none")
	j.Open('[')
	j.Close(']')
	j.Field("list")
	j.Open('[')
	j.Next()
	j.Open('{')
	j.Close('}')
	j.Next()
	j.Open('[')
	j.Close(']')
	j.Close(']')
	j.Close('}')
	j.Close(']')
	want := `[
  {
    "name": "f",
    "n": 18446744073709551615,
    "none": [],
    "list": [
      {},
      []
    ]
  }
]`
	if string(j.Bytes) != want {
		t.Errorf("%s\nwant %s", j.Bytes, want)
	}
}
