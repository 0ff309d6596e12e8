// Package withcolor prints diagnostics in the form and the colours of LLVM's WithColor class.
package withcolor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"sync"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/internal/files/screen"
)

// Mode is the value of the option --color: on, off or, by default, automatic.
type Mode int

const (
	Auto Mode = iota // on a terminal
	On
	Off
)

// Set sets the mode; it is the function for clopt's BoolFunc.
func (m *Mode) Set(on bool) {
	*m = Off
	if on {
		*m = On
	}
}

// Enabled reports whether output to w has colours.
func (m Mode) Enabled(w io.Writer) bool {
	return m == On || m == Auto && IsTerminal(w) && colorTerm().MatchString(os.Getenv("TERM"))
}

// colorTerm matches the values of $TERM for which LLVM uses colours.
var colorTerm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(ansi|cygwin|linux|(screen|xterm|vt100|rxvt).*|.*color)$`)
})

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool { return screen.Terminal(w) != nil }

// A Color holds the parameters of a terminal's escape sequence for a colour.
type Color string

// The colours of output; messages use bold colours.
const (
	Red     Color = "0;31"
	Green   Color = "0;32"
	Yellow  Color = "0;33"
	Magenta Color = "0;35"
	Cyan    Color = "0;36"

	// Backgrounds.
	OnRed  Color = "0;41"
	OnCyan Color = "0;46"

	boldRed     Color = "0;1;31"
	boldMagenta Color = "0;1;35"
	boldBlue    Color = "0;1;34"
	boldBlack   Color = "0;1;30"
)

// Paint returns s in the colour, to be written to w.
func (c Color) Paint(w io.Writer, s string) string {
	return screen.Control(w, "\x1b["+string(c)+"m") + s + screen.Control(w, "\x1b[0m")
}

// Messages prints diagnostics.
type Messages struct {
	W     io.Writer
	Color bool
}

// Error prints a line that begins with "error: ".
func (m *Messages) Error(message string) { m.print(boldRed, "error: ", message) }

// Warning prints a line that begins with "warning: ".
func (m *Messages) Warning(message string) { m.print(boldMagenta, "warning: ", message) }

// Remark prints a line that begins with "remark: ".
func (m *Messages) Remark(message string) { m.print(boldBlue, "remark: ", message) }

// Note prints a line that begins with "note: ".
func (m *Messages) Note(message string) { m.print(boldBlack, "note: ", message) }

func (m *Messages) print(c Color, kind, message string) {
	if m.Color {
		kind = c.Paint(m.W, kind)
	}
	fmt.Fprintf(m.W, "%s%s\n", kind, message)
}

// Strerror returns the text of a system error as C's strerror does. Go's texts begin with a small letter; strerror's do not.
func Strerror(err error) (s string, ok bool) {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return "", false
	}
	s = no.Error()
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:], true
}

// Words returns the text of [Strerror] for a system error, and err.Error() for other errors.
func Words(err error) string {
	if s, ok := Strerror(err); ok {
		return s
	}
	return err.Error()
}
