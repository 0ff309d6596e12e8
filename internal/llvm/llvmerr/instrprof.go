// Package llvmerr holds the failures of LLVM's tools, in the tools' words. They are causes of
// errors about profiles, so that profuse's drop-ins print the same messages as the tools.
package llvmerr

import (
	"errors"

	"github.com/profuse-pgo/profuse/profile"
)

// Code is a kind of failure of llvm-profdata (instrprof_error), or of the reader of coverage mappings.
type Code int

// The codes have the names of instrprof_error.
const (
	EOF Code = iota + 1
	UnrecognizedFormat
	BadMagic
	BadHeader
	UnsupportedVersion
	UnsupportedHashType
	TooLarge
	Truncated
	Malformed
	CountMismatch
	BitmapMismatch
	CounterOverflow
	ValueSiteCountMismatch
	UncompressFailed
	EmptyRawProfile
	RawVersionMismatch
	CounterValueTooLarge
	InvalidProf
	UnexpectedCorrelation
	UnableToCorrelate
	MixedKinds        // no instrprof_error of its own: the writer's refusal to mix levels
	MalformedCoverage // coveragemap_error::malformed
)

var codes = map[Code]struct {
	text  string
	class error
}{
	EOF:                    {"end of File", profile.ErrTruncated},
	UnrecognizedFormat:     {"unrecognized instrumentation profile encoding format", profile.ErrUnrecognized},
	BadMagic:               {"invalid instrumentation profile data (bad magic)", profile.ErrCorrupt},
	BadHeader:              {"invalid instrumentation profile data (file header is corrupt)", profile.ErrCorrupt},
	UnsupportedVersion:     {"unsupported instrumentation profile format version", profile.ErrUnsupported},
	UnsupportedHashType:    {"unsupported instrumentation profile hash type", profile.ErrUnsupported},
	TooLarge:               {"too much profile data", profile.ErrCorrupt},
	Truncated:              {"truncated profile data", profile.ErrTruncated},
	Malformed:              {"malformed instrumentation profile data", profile.ErrCorrupt},
	CountMismatch:          {"function basic block count change detected (counter mismatch)", profile.ErrMismatch},
	BitmapMismatch:         {"function bitmap size change detected (bitmap size mismatch)", profile.ErrMismatch},
	CounterOverflow:        {"counter overflow", profile.ErrMismatch},
	ValueSiteCountMismatch: {"function value site count change detected (counter mismatch)", profile.ErrMismatch},
	UncompressFailed:       {"failed to uncompress data (zlib)", profile.ErrCorrupt},
	EmptyRawProfile:        {"empty raw profile file", profile.ErrEmpty},
	RawVersionMismatch:     {"raw profile version mismatch", profile.ErrUnsupported},
	CounterValueTooLarge:   {"excessively large counter value suggests corrupted profile data", profile.ErrCorrupt},
	InvalidProf:            {"invalid profile created. Please file a bug at: https://github.com/llvm/llvm-project/issues/ and include the profraw files that caused this error.", profile.ErrCorrupt},
	UnexpectedCorrelation:  {"debug info/binary for correlation is not necessary", profile.ErrMismatch},
	UnableToCorrelate:      {"unable to correlate profile", profile.ErrMismatch},
	MixedKinds:             {"Merge IR generated profile with Clang generated profile.", profile.ErrMismatch},
	MalformedCoverage:      {"malformed coverage data", profile.ErrCorrupt},
}

// Error is the cause inside a [profile.FormatError], in the words of llvm-profdata.
type Error struct {
	Code   Code
	Detail string // what LLVM adds after a colon; may be empty
	Class  error  // overrides the code's class where LLVM's word for it is too coarse
}

// Error returns the text llvm-profdata 22 prints for the failure.
func (e *Error) Error() string {
	s := codes[e.Code].text
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns the class of the failure.
func (e *Error) Unwrap() error {
	if e.Class != nil {
		return e.Class
	}
	return codes[e.Code].class
}

// Message returns the text of llvm-profdata 22 for err. A failure that llvm-profdata does not
// detect gets the text of its nearest kind.
func Message(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Error()
	}
	switch profile.ClassOf(err) {
	case profile.ErrTruncated:
		return codes[Truncated].text
	case profile.ErrCorrupt:
		return codes[Malformed].text
	case profile.ErrUnsupported:
		return codes[UnsupportedVersion].text
	case profile.ErrUnrecognized:
		return codes[UnrecognizedFormat].text
	case profile.ErrEmpty:
		return codes[EmptyRawProfile].text
	}
	return err.Error()
}
