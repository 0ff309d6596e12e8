package screen

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

// TestScreen: however text is divided into writes, no control character passes that Control has not marked.
func TestScreen(t *testing.T) {
	for in, want := range map[string]string{
		"f(int)\t[dir/ä.c] 日本\n":    "f(int)\t[dir/ä.c] 日本\n",
		"\x1b[2Jgone\x1b]0;t\a":     `\x1b[2Jgone\x1b]0;t\a`,
		"a\rb\bc\x00\x7f":           `a\rb\bc\x00\x7f`,
		"\u009b31m \u0085":          `\u009b31m \u0085`,
		"\x9b31m bad \xff\xc3":      `\x9b31m bad \xff\xc3`,
		"\x1b\x1b":                  `\x1b\x1b`,
		mark[:len(mark)-1] + "x":    `\x1b` + mark[1:len(mark)-1] + "x",
		Control(&Screen{}, "\r"):    "\r",
		mark + "\x1b[1mB\x1b[0m":    "\x1b[1mB" + `\x1b[0m`,
		"x" + mark:                  `x\x1b` + mark[1:],
		"\u00a0\u202e \xed\xa0\x80": "\u00a0\u202e " + `\xed\xa0\x80`,
	} {
		for step := 1; step <= len(in); step++ {
			var out bytes.Buffer
			s := &Screen{w: &out}
			for p := []byte(in); len(p) > 0; p = p[min(step, len(p)):] {
				part := p[:min(step, len(p))]
				if n, err := s.Write(part); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := s.Flush(); err != nil || out.String() != want {
				t.Errorf("%q by %d: %q, %v; want %q", in, step, out.String(), err, want)
			}
		}
	}
	if got := Control(io.Discard, "\x1b[1m"); got != "\x1b[1m" {
		t.Errorf("not for a terminal: %q", got)
	}
	var out bytes.Buffer
	s := &Screen{w: &out}
	fmt.Fprintf(s, "%sbold%s\x1b[1m", Control(s, "\x1b[1m"), Control(s, "\x1b[0m"))
	if got := out.String(); got != "\x1b[1mbold\x1b[0m"+`\x1b[1m` {
		t.Errorf("%q", got)
	}
}
