package console

import "testing"

func TestPrintable(t *testing.T) {
	for s, want := range map[string]string{
		"f(int) [dir/ä.c]":  "f(int) [dir/ä.c]",
		"\x1b[2Jgone":       `\x1b[2Jgone`,
		"two\nlines":        `two\nlines`,
		"bad \xff \"byte\"": `bad \xff "byte"`,
	} {
		if got := Printable(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
