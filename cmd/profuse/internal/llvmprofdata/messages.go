package llvmprofdata

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"syscall"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/profile"
)

// failure is an error that ends the run, in the parts that it is printed in.
type failure struct {
	whence  string // file or place; may be empty
	message string
	hint    string // printed as a note; may be empty
}

func (f *failure) Error() string {
	if f.whence != "" {
		return f.whence + ": " + f.message
	}
	return f.message
}

// inFile puts err into LLVM's words and says which file it is about.
func inFile(err error, file string) error {
	f := &failure{whence: file, message: words(err)}
	if code(err) == irpgo.CodeUnrecognizedFormat {
		f.hint = "Perhaps you forgot to use the --sample or --memory option?"
	}
	return f
}

// code returns the kind of failure that LLVM sees in err, 0 if none.
func code(err error) irpgo.Code {
	var e *irpgo.InstrError
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// words says err as LLVM would: a system error as strerror does, the error of
// a profile by its kind.
func words(err error) string {
	if s, ok := systemWords(err); ok {
		return s
	}
	return irpgo.LLVMMessage(err)
}

// readingWords says an error of package inputs. What is not the system's is
// about files that LLVM does not read, compressed ones, in profuse's words.
func readingWords(err error) string {
	var e *profile.FormatError
	if s, ok := systemWords(err); ok {
		return s
	} else if errors.As(err, &e) {
		return e.What() + ": " + e.Class().Error()
	}
	return err.Error()
}

// systemWords says a system error as strerror does. Go's texts begin with a
// small letter.
func systemWords(err error) (string, bool) {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return "", false
	}
	s := no.Error()
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:], true
}

// details says what a warning is about in profuse's own words, for what LLVM
// has none.
func details(err error) string {
	var e *profile.FormatError
	if errors.As(err, &e) {
		return e.What()
	}
	return words(err)
}

// colorMode is the value of --color, a boolean with a default of its own.
type colorMode int

const (
	colorAuto colorMode = iota // on a terminal
	colorOn
	colorOff
)

func (m colorMode) enabled(w io.Writer) bool {
	return m == colorOn || m == colorAuto && isTerminal(w) && colorTerm.MatchString(os.Getenv("TERM"))
}

// colorTerm matches the terminals that LLVM knows to have colours.
var colorTerm = regexp.MustCompile(`^(ansi|cygwin|linux|(screen|xterm|vt100|rxvt).*|.*color)$`)

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// messages prints diagnostics as LLVM's WithColor does.
type messages struct {
	w     io.Writer
	color bool
}

const (
	bold    = "0;1;"
	red     = bold + "31"
	magenta = bold + "35"
	black   = bold + "30"
)

func (m *messages) print(color, kind, whence, message string) {
	kind += ": "
	if m.color {
		kind = "\x1b[" + color + "m" + kind + "\x1b[0m"
	}
	if whence != "" {
		whence += ": "
	}
	fmt.Fprintf(m.w, "%s%s%s\n", kind, whence, message)
}

func (m *messages) warn(whence, message string) { m.print(magenta, "warning", whence, message) }

// fail prints the error that ends the run.
func (m *messages) fail(err error) {
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{message: words(err)}
	}
	m.print(red, "error", f.whence, f.message)
	if f.hint != "" {
		m.print(black, "note", "", f.hint)
	}
}

// plain prints a line without a prefix.
func (m *messages) plain(format string, args ...any) { fmt.Fprintf(m.w, format+"\n", args...) }
