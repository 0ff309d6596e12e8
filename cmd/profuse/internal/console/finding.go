package console

import (
	"errors"

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
