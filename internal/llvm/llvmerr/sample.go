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
	Ends  bool // llvm-profdata stops at this failure in every failure mode
}

// Error returns llvm-profdata 22's text of the failure.
func (e *SampleError) Error() string { return e.Text }

// Unwrap returns the class of the failure.
func (e *SampleError) Unwrap() error { return e.Class }

// The failures of sample profiles.
var (
	SampleFormat    = &SampleError{Text: "Unrecognized sample profile encoding format", Class: profile.ErrUnrecognized}
	SampleVersion   = &SampleError{Text: "Unsupported sample profile format version", Class: profile.ErrUnsupported}
	SampleTruncated = &SampleError{Text: "Truncated profile data", Class: profile.ErrTruncated, Ends: true}
	SampleMalformed = &SampleError{Text: "Malformed sample profile data", Class: profile.ErrCorrupt}
	SampleNumber    = &SampleError{Text: SampleMalformed.Text, Class: profile.ErrCorrupt, Ends: true}
	SampleCutShort  = &SampleError{Text: SampleMalformed.Text, Class: profile.ErrTruncated}
	SampleNames     = &SampleError{Text: "Truncated function name table", Class: profile.ErrCorrupt}
	SampleInflate   = &SampleError{Text: "Uncompress failure", Class: profile.ErrCorrupt}
	SampleTooMuch   = &SampleError{Text: "Too much profile data", Class: profile.ErrMismatch}
	SampleWriting   = &SampleError{Text: "Profile encoding format unsupported for writing operations", Class: profile.ErrUnsupported}
	SampleOverflow  = &SampleError{Text: "Counter overflow", Class: profile.ErrMismatch}
	SampleContexts  = &SampleError{Text: "CS profile with non-CS", Class: profile.ErrMismatch, Ends: true}
	SampleProbes    = &SampleError{Text: "probe-based profile with non-probe-based", Class: profile.ErrMismatch, Ends: true}
	SampleHash      = &SampleError{Text: "Function hash mismatch", Class: profile.ErrMismatch}
)

// SampleLine is the failure of a line of a text profile.
func SampleLine(text string) error {
	return &SampleError{Text: text, Class: profile.ErrCorrupt, Ends: true}
}

// SampleFailure returns llvm-profdata 22's failure for an error about a sample profile. A failure
// that llvm-profdata does not detect becomes its nearest kind.
func SampleFailure(err error) *SampleError {
	var e *SampleError
	if errors.As(err, &e) {
		return e
	}
	switch profile.ClassOf(err) {
	case profile.ErrTruncated:
		return SampleTruncated
	case profile.ErrUnrecognized, profile.ErrEmpty:
		return SampleFormat
	case profile.ErrMismatch:
		return SampleOverflow
	}
	return SampleMalformed
}
