package profile

import (
	"errors"
	"strings"
)

// The classes of failure. Every error a reader of this module returns matches
// exactly one of them with [errors.Is].
var (
	// ErrCorrupt: the bytes contradict the format or each other.
	ErrCorrupt = errors.New("corrupt profile")
	// ErrTruncated: the input ends before what it announces.
	ErrTruncated = errors.New("truncated profile")
	// ErrUnsupported: well formed as far as this module can tell, but of a
	// version or variant that it does not read.
	ErrUnsupported = errors.New("unsupported profile version or variant")
	// ErrMismatch: valid on its own, but incompatible with what it is combined
	// with.
	ErrMismatch = errors.New("mismatching profile")
	// ErrUnrecognized: not a profile of any known format.
	ErrUnrecognized = errors.New("unrecognized profile format")
	// ErrEmpty: a file of zero bytes, usually an instrumented process that
	// was killed before it wrote its profile.
	ErrEmpty = errors.New("empty profile file")
)

// FormatError says where an input violates its format, what the reader found
// there, and what the format allows.
type FormatError struct {
	Place
	Field string // the item being read, "number of counters"
	Found string // the value found; may be empty
	Want  string // the values allowed; may be empty
	Err   error  // wraps one of the class sentinels above
}

// Error returns "FILE: SECTION at 0xOFFSET (record N): FIELD is FOUND, want
// WANT: CLASS" without the parts that are unknown.
func (e *FormatError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteString(": ")
	}
	if where := e.Where(); where != "" {
		b.WriteString(where)
		b.WriteString(": ")
	}
	if what := e.What(); what != "" {
		b.WriteString(what)
		b.WriteString(": ")
	}
	b.WriteString(e.Class().Error())
	return b.String()
}

// What returns the part of the message without place and class: what the reader
// found and what the format allows.
func (e *FormatError) What() string {
	s := e.Field
	if e.Found != "" {
		s += " is " + e.Found
	}
	if e.Want != "" {
		s += ", want " + e.Want
	}
	return s
}

// Unwrap returns the cause, which wraps one of the class sentinels.
func (e *FormatError) Unwrap() error { return e.Err }

// Class returns the sentinel that the error belongs to.
func (e *FormatError) Class() error { return Class(e.Err) }

// Class returns the sentinel of this package that err matches, or err itself if
// it matches none, as an I/O error does.
func Class(err error) error {
	for _, s := range []error{
		ErrCorrupt, ErrTruncated, ErrUnsupported, ErrMismatch, ErrUnrecognized, ErrEmpty,
	} {
		if errors.Is(err, s) {
			return s
		}
	}
	return err
}

// InFile returns the [FormatError] that err wraps with the file name filled in,
// or err itself if it wraps none or the file is named already.
func InFile(err error, file string) error {
	var fe *FormatError
	if errors.As(err, &fe) {
		if fe.File == "" {
			c := *fe
			c.File = file
			return &c
		}
		return err
	}
	return err
}
