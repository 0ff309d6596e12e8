package cli

import (
	"fmt"
	"io"

	"github.com/profuse-pgo/profuse/internal/files/screen"
)

// A StatusLine is the last line of a terminal, which shows the current status below permanent lines.
// If the output is no terminal, only the permanent lines are printed.
type StatusLine struct {
	w     io.Writer
	quiet bool
	width int // of the terminal; 0 if there is none
	text  string
}

// StatusLine returns a status line on standard error. With quiet it prints only
// urgent lines. Call [StatusLine.Clear] before printing anything else there.
func (e *Env) StatusLine(quiet bool) *StatusLine {
	s := &StatusLine{w: e.Stderr, quiet: quiet}
	if t := e.Terminal(e.Stderr); !quiet && t.Interactive && e.Getenv("TERM") != "dumb" {
		s.width = t.Width
	}
	return s
}

const eraseLine = "\x1b[K"

// Shown reports whether [StatusLine.Set] shows anything.
func (s *StatusLine) Shown() bool { return s.width > 0 }

// Set replaces the status.
func (s *StatusLine) Set(text string) {
	if text = Shorten(text, s.width-1); s.width == 0 || text == s.text {
		return
	}
	s.text = text
	fmt.Fprintf(s.w, "%s%s%s", screen.Control(s.w, "\r"), text, screen.Control(s.w, eraseLine))
}

// Printf prints a permanent line, unless quiet.
func (s *StatusLine) Printf(format string, args ...any) {
	if !s.quiet {
		s.Urgentf(format, args...)
	}
}

// Urgentf prints a permanent line even if quiet.
func (s *StatusLine) Urgentf(format string, args ...any) {
	text := s.text
	s.Clear()
	fmt.Fprintf(s.w, format+"\n", args...)
	if text != "" {
		s.Set(text)
	}
}

// Clear removes the status until it is set again.
func (s *StatusLine) Clear() {
	if s.text != "" {
		fmt.Fprint(s.w, screen.Control(s.w, "\r"+eraseLine))
		s.text = ""
	}
}
