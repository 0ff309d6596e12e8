package cli

import (
	"bytes"
	"testing"
)

func TestStatusLine(t *testing.T) {
	var b bytes.Buffer
	s := &StatusLine{w: &b, width: 20}
	s.Printf("first %d", 1)
	s.Set("1 waiting")
	s.Set("1 waiting")
	s.Printf("second")
	s.Set("much more than there is room for")
	s.Clear()
	s.Clear()
	want := "first 1\n" + "\r1 waiting\x1b[K" + "\r\x1b[Ksecond\n\r1 waiting\x1b[K" +
		"\rmuch more… room for\x1b[K" + "\r\x1b[K"
	if got := b.String(); got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// Without a terminal there are lines alone, and with quiet the urgent ones.
func TestStatusLinePlain(t *testing.T) {
	for quiet, want := range map[bool]string{false: "line\nurgent\n", true: "urgent\n"} {
		var b bytes.Buffer
		env := &Env{Stderr: &b, Getenv: func(string) string { return "" }}
		s := env.StatusLine(quiet)
		s.Set("status")
		s.Printf("line")
		s.Urgentf("urgent")
		s.Clear()
		if got := b.String(); got != want || s.Shown() {
			t.Errorf("quiet %v: %q, want %q", quiet, got, want)
		}
	}
}
