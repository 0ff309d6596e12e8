package console

import (
	"errors"
	"io/fs"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/profile"
)

// Finding is one thing that is wrong; what is not known is left out.
type Finding struct {
	Class    string `json:"class"`
	Rule     string `json:"rule,omitempty"`
	Severity string `json:"severity,omitempty"`
	Section  string `json:"section,omitempty"`
	Offset   *int64 `json:"offset,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Record   *int   `json:"record,omitempty"`
	Field    string `json:"field,omitempty"`
	Found    string `json:"found,omitempty"`
	Want     string `json:"want,omitempty"`
	Count    int    `json:"count,omitempty"` // of places, Section and so on being the first
	Of       int    `json:"of,omitempty"`
	Message  string `json:"message"`
}

// NewFinding describes an error as a finding.
func NewFinding(err error) Finding {
	f := Finding{Class: profile.Class(err).Error(), Message: cli.Message(err)}
	var fe *profile.FormatError
	if errors.As(err, &fe) {
		f.Section, f.Line, f.Field, f.Found, f.Want = fe.Section, fe.Line, fe.Field, fe.Found, fe.Want
		if fe.Offset >= 0 {
			f.Offset = &fe.Offset
		}
		if fe.Record >= 0 {
			f.Record = &fe.Record
		}
		place := *fe
		place.File = "" // the line before has it
		f.Message = place.Error()
	}
	return f
}

// Error is an error in JSON.
type Error struct {
	Class   string `json:"class"`   // a word of errorClasses, or "io"
	Message string `json:"message"` // without the file
	Section string `json:"section"`
	Offset  int64  `json:"offset"` // -1 if none
	Line    int    `json:"line"`   // 0 if none
	Record  int    `json:"record"` // -1 if none
}

var errorClasses = map[error]string{
	profile.ErrCorrupt:      "corrupt",
	profile.ErrTruncated:    "truncated",
	profile.ErrUnsupported:  "unsupported",
	profile.ErrMismatch:     "mismatch",
	profile.ErrUnrecognized: "unrecognized",
	profile.ErrEmpty:        "empty",
}

// DescribeError describes an error for JSON, without the file.
func DescribeError(err error) *Error {
	e := &Error{Class: "io", Message: err.Error(), Offset: -1, Record: -1}
	for class, word := range errorClasses {
		if errors.Is(err, class) {
			e.Class = word
		}
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		e.Message = pe.Err.Error()
	}
	if fe := (*profile.FormatError)(nil); errors.As(err, &fe) {
		anonymous := *fe
		anonymous.File = ""
		e.Message = anonymous.Error()
		e.Section, e.Offset, e.Line, e.Record = fe.Section, fe.Offset, fe.Line, fe.Record
	}
	return e
}
