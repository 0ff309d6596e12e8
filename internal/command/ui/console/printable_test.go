package console

import (
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

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

// TestStackNameOfManyFrames: a line does not show all of millions of frames.
func TestStackNameOfManyFrames(t *testing.T) {
	frames := make([]profile.Frame, maxStackFrames+2)
	for i := range frames {
		frames[i].Name = "f"
	}
	p := &Printer{}
	if got := p.StackName(frames); !strings.HasSuffix(got, " < f < 2 frames more") {
		t.Errorf("ends with %q", got[len(got)-30:])
	}
	if got := p.StackName(frames[1:]); strings.Contains(got, "more") || strings.Count(got, "f") != maxStackFrames+1 {
		t.Errorf("ends with %q", got[len(got)-30:])
	}
}
