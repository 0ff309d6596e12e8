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
}

// Error returns the text llvm-profdata 22 prints for the failure.
func (e *RawError) Error() string { return e.Text }

// Unwrap returns the class of the failure.
func (e *RawError) Unwrap() error { return e.class }

// What llvm-profdata says of raw profiles. It prints the first three for
// instrumentation profiles, too.
var (
	errRawMagic     = &RawError{"invalid instrumentation profile data (bad magic)", profile.ErrUnrecognized}
	errRawTruncated = &RawError{"truncated profile data", profile.ErrTruncated}
	errRawVersion   = &RawError{"unsupported instrumentation profile format version", profile.ErrUnsupported}
	errRawMalformed = &RawError{"malformed instrumentation profile data", profile.ErrCorrupt}
	errRawCutShort  = &RawError{errRawMalformed.Text, profile.ErrTruncated}
	errRawSegments  = &RawError{"memprof raw profile has different segment information", profile.ErrMismatch}
	errRawStacks    = &RawError{"memprof raw profile got different call stack for same id", profile.ErrCorrupt}
	errRawNoEntries = &RawError{"no entries in callstack map after symbolization", profile.ErrMismatch}
)

// rawFail makes an error at an absolute offset of a raw file.
func rawFail(section string, off int64, record int, cause error, field string, found, want any) error {
	return &profile.FormatError{
		Section: section, Offset: off, Record: record, Field: field,
		Found: fmt.Sprint(found), Want: fmt.Sprint(want), Err: cause,
	}
}

// inDump says which dump of several an error is about.
func inDump(err error, dump int) error {
	if fe, ok := err.(*profile.FormatError); ok && dump > 0 {
		c := *fe
		c.Section = fmt.Sprintf("dump %d, %s", dump+1, c.Section)
		return &c
	}
	return err
}

// LLVMWords returns the words that llvm-profdata 22 has for an error about a
// raw profile or its programs. Failures that it does not detect get those of
// the nearest kind it has.
func LLVMWords(err error) string {
	var re *RawError
	if errors.As(err, &re) {
		return re.Text
	}
	switch profile.Class(err) {
	case profile.ErrTruncated:
		return errRawTruncated.Text
	case profile.ErrCorrupt:
		return errRawMalformed.Text
	case profile.ErrUnsupported:
		return errRawVersion.Text
	case profile.ErrUnrecognized, profile.ErrEmpty:
		return errRawMagic.Text
	}
	return err.Error()
}
