package cli

import (
	"io"

	"golang.org/x/term"

	"github.com/profuse-pgo/profuse/internal/files/screen"
)

// Terminal describes the destination of a command's output.
type Terminal struct {
	Interactive bool // a person watches, not a file or a pipe
	Color       bool // escape sequences for colours are allowed
	Width       int  // columns; 0 when there is no limit

	w io.Writer
}

// fallbackWidth is the width, in columns, of a terminal of unknown width.
const fallbackWidth = 100

// Terminal examines one of the streams of env. Colour is off under NO_COLOR and TERM=dumb; see https://no-color.org.
func (e *Env) Terminal(w io.Writer) Terminal {
	f := screen.Terminal(w)
	if f == nil {
		return Terminal{}
	}
	t := Terminal{Interactive: true, Width: fallbackWidth, w: w}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		t.Width = width
	}
	t.Color = e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
	return t
}

// Style is a rendition of text.
type Style string

// The renditions in use.
const (
	Bold Style = "\x1b[1m"
	Red  Style = "\x1b[31m"

	reset = "\x1b[0m"
)

// Paint returns s in the given style, or s alone without colour.
func (t Terminal) Paint(style Style, s string) string {
	if !t.Color || s == "" {
		return s
	}
	return screen.Control(t.w, string(style)) + s + screen.Control(t.w, reset)
}
