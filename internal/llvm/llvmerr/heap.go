package llvmerr

import (
	"errors"

	"github.com/profuse-pgo/profuse/profile"
)

// HeapError is the cause inside a [profile.FormatError] about a raw heap profile or its program, in the words of llvm-profdata.
type HeapError struct {
	Text      string
	Class     error
	afterFile bool // llvm-profdata prints it after the file's name
}

// Error returns llvm-profdata 22's text of the failure.
func (e *HeapError) Error() string { return e.Text }

// Unwrap returns the class of the failure.
func (e *HeapError) Unwrap() error { return e.Class }

// The failures that have one text each.
var (
	HeapMagic     = &HeapError{codes[BadMagic].text, profile.ErrUnrecognized, false}
	HeapTruncated = &HeapError{codes[Truncated].text, profile.ErrTruncated, true}
	HeapVersion   = &HeapError{codes[UnsupportedVersion].text, profile.ErrUnsupported, true}
	HeapMalformed = &HeapError{codes[Malformed].text, profile.ErrCorrupt, true}
	HeapCutShort  = &HeapError{codes[Malformed].text, profile.ErrTruncated, true}
	HeapSegments  = &HeapError{codes[Malformed].text + ": memprof raw profile has different segment information", profile.ErrMismatch, false}
	HeapStacks    = &HeapError{codes[Malformed].text + ": memprof raw profile got different call stack for same id", profile.ErrCorrupt, false}
	HeapNoEntries = &HeapError{codes[Malformed].text + ": no entries in callstack map after symbolization", profile.ErrMismatch, false}
)

// HeapMessage returns the text of llvm-profdata 22 for an error about a raw heap profile or its
// program, without "error: " and the name of the file that merge prints before it. A failure that
// llvm-profdata does not detect gets the text of its nearest kind.
func HeapMessage(err error) string {
	var e *HeapError
	if !errors.As(err, &e) {
		switch profile.ClassOf(err) {
		case profile.ErrTruncated:
			e = HeapTruncated
		case profile.ErrCorrupt:
			e = HeapMalformed
		case profile.ErrUnsupported:
			e = HeapVersion
		case profile.ErrUnrecognized, profile.ErrEmpty:
			e = HeapMagic
		default:
			return err.Error()
		}
	}
	var fe *profile.FormatError
	if e.afterFile && errors.As(err, &fe) && fe.File != "" {
		return fe.File + "\n" + e.Text
	}
	return e.Text
}
