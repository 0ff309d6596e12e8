package memprof

import (
	"errors"
	"fmt"

	"github.com/profuse-pgo/profuse/profile"
)

// RawError is the cause inside a [profile.FormatError] about a raw profile or
// its program, in the words of llvm-profdata 22.
type RawError struct {
	Text  string
	class error
	named bool // llvm-profdata prints it after the file's name
}

// Error returns llvm-profdata 22's text of the failure.
func (e *RawError) Error() string { return e.Text }

// Unwrap returns the class of the failure.
func (e *RawError) Unwrap() error { return e.class }

const malformed = "malformed instrumentation profile data"

// The error texts of llvm-profdata for raw profiles.
var (
	errRawMagic     = &RawError{"invalid instrumentation profile data (bad magic)", profile.ErrUnrecognized, false}
	errRawTruncated = &RawError{"truncated profile data", profile.ErrTruncated, true}
	errRawVersion   = &RawError{"unsupported instrumentation profile format version", profile.ErrUnsupported, true}
	errRawMalformed = &RawError{malformed, profile.ErrCorrupt, true}
	errRawCutShort  = &RawError{malformed, profile.ErrTruncated, true}
	errRawSegments  = &RawError{malformed + ": memprof raw profile has different segment information", profile.ErrMismatch, false}
	errRawStacks    = &RawError{malformed + ": memprof raw profile got different call stack for same id", profile.ErrCorrupt, false}
	errRawNoEntries = &RawError{malformed + ": no entries in callstack map after symbolization", profile.ErrMismatch, false}
)

func newRawError(text string, class error) *RawError { return &RawError{Text: text, class: class} }

// inDump adds the number of the dump to an error, if there are several.
func inDump(err error, dump int) error {
	if fe, ok := err.(*profile.FormatError); ok && dump > 0 {
		c := *fe
		c.Section = fmt.Sprintf("dump %d, %s", dump+1, c.Section)
		return &c
	}
	return err
}

// LLVMWords returns what llvm-profdata 22 prints, after "error: " and for merge
// the name of the file, for an error about a raw profile or its program.
// Failures that it does not detect get the words of the nearest kind it has.
func LLVMWords(err error) string {
	var re *RawError
	if !errors.As(err, &re) {
		switch profile.Class(err) {
		case profile.ErrTruncated:
			re = errRawTruncated
		case profile.ErrCorrupt:
			re = errRawMalformed
		case profile.ErrUnsupported:
			re = errRawVersion
		case profile.ErrUnrecognized, profile.ErrEmpty:
			re = errRawMagic
		default:
			return err.Error()
		}
	}
	var fe *profile.FormatError
	if re.named && errors.As(err, &fe) && fe.File != "" {
		return fe.File + "\n" + re.Text
	}
	return re.Text
}
