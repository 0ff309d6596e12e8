// Package screen keeps control characters away from terminals. Names, messages and paths come from
// untrusted files, and an escape sequence in them could change what the terminal shows, or does.
// Files and pipes get all bytes unchanged.
package screen

import (
	"crypto/rand"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"
)

// A Screen writes to a terminal. It escapes bytes that are not UTF-8 and control characters other
// than line feeds and tabs as Go does ("\x1b"), but passes on sequences that [Control] has marked.
// Several goroutines may write to it.
type Screen struct {
	w    io.Writer
	file *os.File

	mu      sync.Mutex
	pending []byte // the beginning of a mark or of a character
	buf     []byte
}

// New returns a [Screen] if f is a terminal, otherwise f.
func New(f *os.File) io.Writer {
	if !term.IsTerminal(int(f.Fd())) {
		return f
	}
	return &Screen{w: f, file: f}
}

// Terminal returns the terminal that w writes to; nil if there is none.
func Terminal(w io.Writer) *os.File {
	if s, ok := w.(*Screen); ok {
		return s.file
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// Unwrap returns the terminal of a [Screen], for a child process, and any other w unchanged.
func Unwrap(w io.Writer) io.Writer {
	if s, ok := w.(*Screen); ok {
		return s.w
	}
	return w
}

// mark comes before each control character that the program itself writes. It is random, so that no file can contain it.
var mark = "\x1b" + rand.Text()

// Control returns a sequence of control characters to write to w. For a [Screen] the characters
// are marked, so that the Screen passes them on.
func Control(w io.Writer, sequence string) string {
	if _, ok := w.(*Screen); !ok {
		return sequence
	}
	var b strings.Builder
	for i := range len(sequence) {
		if sequence[i] < ' ' {
			b.WriteString(mark)
		}
		b.WriteByte(sequence[i])
	}
	return b.String()
}

// Write writes p after the incomplete end of the previous p.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := p
	if len(s.pending) > 0 {
		rest = append(s.pending, p...)
	}
	s.buf = s.buf[:0]
	rest = s.translate(rest, false)
	s.pending = append([]byte(nil), rest...)
	if _, err := s.w.Write(s.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes the incomplete end of the previous Write.
func (s *Screen) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf = s.buf[:0]
	s.translate(s.pending, true)
	s.pending = nil
	_, err := s.w.Write(s.buf)
	return err
}

// translate appends the translation of p to s.buf. It returns the incomplete end of p, or nothing if p is the last.
func (s *Screen) translate(p []byte, last bool) (rest []byte) {
	for len(p) > 0 {
		if p[0] == mark[0] {
			n := min(len(p), len(mark))
			switch {
			case string(p[:n]) != mark[:n]:
			case len(p) > len(mark):
				s.buf = append(s.buf, p[len(mark)])
				p = p[len(mark)+1:]
				continue
			case !last:
				return p
			}
		}
		if !last && !utf8.FullRune(p) {
			return p
		}
		r, n := utf8.DecodeRune(p)
		switch {
		case r == utf8.RuneError && n == 1,
			r < ' ' && r != '\n' && r != '\t',
			0x7f <= r && r < 0xa0: // DEL, and C1, which terminals take for sequences of ESC
			quoted := strconv.Quote(string(p[:n]))
			s.buf = append(s.buf, quoted[1:len(quoted)-1]...)
		default:
			s.buf = append(s.buf, p[:n]...)
		}
		p = p[n:]
	}
	return nil
}
