package llvmerr

import (
	"errors"

	"github.com/profuse-pgo/profuse/profile"
)

// SampleError is the cause inside a [profile.FormatError] about a sample profile, in the
// words of llvm-profdata (sampleprof_error).
type SampleError struct {
	Text  string
	Class error
}

// Error returns llvm-profdata 22's text of the failure.
func (e *SampleError) Error() string { return e.Text }

// Unwrap returns the class of the failure.
func (e *SampleError) Unwrap() error { return e.Class }

// The failures of sample profiles.
var (
	SampleFormat    = &SampleError{"Unrecognized sample profile encoding format", profile.ErrUnrecognized}
	SampleVersion   = &SampleError{"Unsupported sample profile format version", profile.ErrUnsupported}
	SampleTruncated = &SampleError{"Truncated profile data", profile.ErrTruncated}
	SampleMalformed = &SampleError{"Malformed sample profile data", profile.ErrCorrupt}
	SampleNames     = &SampleError{"Truncated function name table", profile.ErrCorrupt}
	SampleInflate   = &SampleError{"Uncompress failure", profile.ErrCorrupt}
	SampleTooMuch   = &SampleError{"Too much profile data", profile.ErrMismatch}
	SampleWriting   = &SampleError{"Profile encoding format unsupported for writing operations", profile.ErrUnsupported}
	SampleOverflow  = &SampleError{"Counter overflow", profile.ErrMismatch}
	SampleHash      = &SampleError{"Function hash mismatch", profile.ErrMismatch}
)

// SampleMessage returns llvm-profdata 22's text for an error about a sample profile.
// Failures that it does not detect get the words of the nearest kind it has.
func SampleMessage(err error) string {
	var e *SampleError
	if errors.As(err, &e) {
		return e.Text
	}
	switch profile.ClassOf(err) {
	case profile.ErrTruncated:
		return SampleTruncated.Text
	case profile.ErrCorrupt, profile.ErrUnsupported:
		return SampleMalformed.Text
	case profile.ErrUnrecognized, profile.ErrEmpty:
		return SampleFormat.Text
	case profile.ErrMismatch:
		return SampleOverflow.Text
	}
	return err.Error()
}
