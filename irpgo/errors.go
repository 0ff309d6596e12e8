package irpgo

import (
	"errors"

	"github.com/profuse-pgo/profuse/profile"
)

// Code is the kind of failure in LLVM's terms (instrprof_error), so that a
// tool standing in for llvm-profdata can use its words.
type Code int

// The codes have the names of instrprof_error: CodeTruncated is
// instrprof_error::truncated.
const (
	CodeEOF Code = iota + 1
	CodeUnrecognizedFormat
	CodeBadMagic
	CodeBadHeader
	CodeUnsupportedVersion
	CodeUnsupportedHashType
	CodeTooLarge
	CodeTruncated
	CodeMalformed
	CodeCountMismatch
	CodeBitmapMismatch
	CodeCounterOverflow
	CodeValueSiteCountMismatch
	CodeUncompressFailed
	CodeEmptyRawProfile
	CodeRawVersionMismatch
	CodeCounterValueTooLarge
	CodeInvalidProf
	CodeUnexpectedCorrelation
	CodeUnableToCorrelate
	CodeMixedKinds // no instrprof_error of its own: the writer's refusal to mix levels
)

var codes = map[Code]struct {
	text  string
	class error
}{
	CodeEOF:                    {"end of File", profile.ErrTruncated},
	CodeUnrecognizedFormat:     {"unrecognized instrumentation profile encoding format", profile.ErrUnrecognized},
	CodeBadMagic:               {"invalid instrumentation profile data (bad magic)", profile.ErrCorrupt},
	CodeBadHeader:              {"invalid instrumentation profile data (file header is corrupt)", profile.ErrCorrupt},
	CodeUnsupportedVersion:     {"unsupported instrumentation profile format version", profile.ErrUnsupported},
	CodeUnsupportedHashType:    {"unsupported instrumentation profile hash type", profile.ErrUnsupported},
	CodeTooLarge:               {"too much profile data", profile.ErrCorrupt},
	CodeTruncated:              {"truncated profile data", profile.ErrTruncated},
	CodeMalformed:              {"malformed instrumentation profile data", profile.ErrCorrupt},
	CodeCountMismatch:          {"function basic block count change detected (counter mismatch)", profile.ErrMismatch},
	CodeBitmapMismatch:         {"function bitmap size change detected (bitmap size mismatch)", profile.ErrMismatch},
	CodeCounterOverflow:        {"counter overflow", profile.ErrMismatch},
	CodeValueSiteCountMismatch: {"function value site count change detected (counter mismatch)", profile.ErrMismatch},
	CodeUncompressFailed:       {"failed to uncompress data (zlib)", profile.ErrCorrupt},
	CodeEmptyRawProfile:        {"empty raw profile file", profile.ErrEmpty},
	CodeRawVersionMismatch:     {"raw profile version mismatch", profile.ErrUnsupported},
	CodeCounterValueTooLarge:   {"excessively large counter value suggests corrupted profile data", profile.ErrCorrupt},
	CodeInvalidProf:            {"invalid profile created. Please file a bug at: https://github.com/llvm/llvm-project/issues/ and include the profraw files that caused this error.", profile.ErrCorrupt},
	CodeUnexpectedCorrelation:  {"debug info/binary for correlation is not necessary", profile.ErrMismatch},
	CodeUnableToCorrelate:      {"unable to correlate profile", profile.ErrMismatch},
	CodeMixedKinds:             {"Merge IR generated profile with Clang generated profile.", profile.ErrMismatch},
}

// InstrError is the cause inside a [profile.FormatError], in LLVM's words.
type InstrError struct {
	Code   Code
	Detail string // what LLVM adds after a colon; may be empty

	class error // overrides the code's class where LLVM's word for it is too coarse
}

// Error returns the text llvm-profdata 22 prints for the failure.
func (e *InstrError) Error() string {
	s := codes[e.Code].text
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns the class of the failure.
func (e *InstrError) Unwrap() error {
	if e.class != nil {
		return e.class
	}
	return codes[e.Code].class
}

// LLVMMessage returns the words llvm-profdata 22 has for err. Failures that it
// does not detect get the text of the nearest kind it has.
func LLVMMessage(err error) string {
	var ie *InstrError
	if errors.As(err, &ie) {
		return ie.Error()
	}
	switch profile.Class(err) {
	case profile.ErrTruncated:
		return codes[CodeTruncated].text
	case profile.ErrCorrupt:
		return codes[CodeMalformed].text
	case profile.ErrUnsupported:
		return codes[CodeUnsupportedVersion].text
	case profile.ErrUnrecognized:
		return codes[CodeUnrecognizedFormat].text
	case profile.ErrEmpty:
		return codes[CodeEmptyRawProfile].text
	}
	return err.Error()
}

// malformed is the cause of most errors that [CodeMalformed] stands for.
func malformed(detail string) *InstrError { return &InstrError{Code: CodeMalformed, Detail: detail} }
