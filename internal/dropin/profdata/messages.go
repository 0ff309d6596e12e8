package profdata

import (
	"errors"
	"fmt"

	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

// A failure is an error that ends the run. Its fields are the parts of the printed message.
type failure struct {
	whence  string // file, or file and line; may be empty
	message string
	hint    string // printed as a note; may be empty
	ends    bool   // whatever the failure mode
	opening bool   // of a sample profile, before its samples were read
}

// Error returns the message with the file, without the hint.
func (f *failure) Error() string {
	return withLocation(f.whence, f.message)
}

// errSilent ends the run when the reason was already printed.
var errSilent = errors.New("already told")

// errNoCutoff is the error about a summary without the cutoffs for hot or cold. LLVM 22 crashes with this message.
var errNoCutoff = &failure{message: "Desired percentile exceeds the maximum cutoff"}

// inFile words err as LLVM does and adds the name of the file.
func inFile(err error, file string) *failure {
	f := &failure{whence: file, message: words(err)}
	if code(err) == llvmerr.UnrecognizedFormat {
		f.hint = "Perhaps you forgot to use the --sample or --memory option?"
	}
	return f
}

func code(err error) llvmerr.Code {
	var e *llvmerr.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// words words err as LLVM does: a system error as strerror does, an error about a profile by its code.
func words(err error) string {
	if s, ok := withcolor.Strerror(err); ok {
		return s
	}
	return llvmerr.Message(err)
}

// readingWords words an error of package inputs. Errors about compressed files, which LLVM does not read, keep profuse's words.
func readingWords(err error) string {
	var e *profile.FormatError
	if s, ok := withcolor.Strerror(err); ok {
		return s
	} else if errors.As(err, &e) {
		return e.What() + ": " + profile.ClassOf(e).Error()
	}
	return err.Error()
}

// notObject is LLVM's message for a program that is not an object file.
const notObject = "The file was not recognized as a valid object file"

// details describes a warning in profuse's own words if LLVM has none.
func details(err error) string {
	var e *profile.FormatError
	if errors.As(err, &e) {
		return e.What()
	}
	return words(err)
}

// messages prints diagnostics as LLVM's WithColor does.
type messages struct{ withcolor.Messages }

// warn prints a warning; whence may be empty.
func (m *messages) warn(whence, message string) { m.Warning(withLocation(whence, message)) }

// withLocation puts a file, or file and line, before a message unless it is empty.
func withLocation(whence, message string) string {
	if whence != "" {
		return whence + ": " + message
	}
	return message
}

// fail prints the error that ends the run.
func (m *messages) fail(err error) {
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{message: words(err)}
	}
	m.Error(f.Error())
	if f.hint != "" {
		m.Note(f.hint)
	}
}

// plain prints a line without a prefix.
func (m *messages) plain(format string, args ...any) { fmt.Fprintf(m.W, format+"\n", args...) }
