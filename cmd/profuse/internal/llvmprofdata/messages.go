package llvmprofdata

import (
	"errors"
	"fmt"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/withcolor"
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
	return at(f.whence, f.message)
}

// errSilent ends the run when the reason was told already.
var errSilent = errors.New("already told")

// unsupported is the refusal of what llvm-profdata can do and this tool
// cannot.
func unsupported(what string) error {
	return errors.New(what + " is not supported by profuse yet")
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
	if s, ok := withcolor.Strerror(err); ok {
		return s
	}
	return irpgo.LLVMMessage(err)
}

// readingWords says an error of package inputs. What is not the system's is
// about files that LLVM does not read, compressed ones, in profuse's words.
func readingWords(err error) string {
	var e *profile.FormatError
	if s, ok := withcolor.Strerror(err); ok {
		return s
	} else if errors.As(err, &e) {
		return e.What() + ": " + e.Class().Error()
	}
	return err.Error()
}

// notObject is LLVM's words for a file that is given as a program.
const notObject = "The file was not recognized as a valid object file"

// details says what a warning is about in profuse's own words, for what LLVM
// has none.
func details(err error) string {
	var e *profile.FormatError
	if errors.As(err, &e) {
		return e.What()
	}
	return words(err)
}

// messages prints diagnostics as LLVM's WithColor does.
type messages struct{ withcolor.Messages }

func (m *messages) warn(whence, message string) { m.Warning(at(whence, message)) }

// at puts a file or place, unless it is empty, before a message.
func at(whence, message string) string {
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
