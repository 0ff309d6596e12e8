package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/files/store"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// Warnings returns a function that prints warnings on standard error, with control characters escaped.
func Warnings(env *cli.Env) func(profile.Warning) {
	return func(w profile.Warning) {
		fmt.Fprintf(env.Stderr, "warning: %s\n", Printable(NewWarning(w).String()))
	}
}

// An Error is an error, a warning or a finding in JSON. docs/schema/error.schema.json describes it.
// Unknown members are omitted.
type Error struct {
	Class    profile.Class `json:"class"`
	File     string        `json:"file,omitempty"`
	Function string        `json:"function,omitempty"`
	Section  string        `json:"section,omitempty"`
	Offset   *int64        `json:"offset,omitempty"` // nil if unknown
	Line     int           `json:"line,omitempty"`
	Column   int           `json:"column,omitempty"`
	Record   *int          `json:"record,omitempty"` // nil if unknown
	Field    string        `json:"field,omitempty"`
	Got      string        `json:"got,omitempty"`
	Want     string        `json:"want,omitempty"`
	Hint     string        `json:"hint,omitempty"`
	Message  string        `json:"message"` // without file and function
}

// NewError describes an error as JSON. Message does not repeat File.
func NewError(err error) *Error {
	e := &Error{Class: profile.ClassOf(err), Message: err.Error()}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		e.File, e.Message = pe.Path, pe.Err.Error()
	}
	if se := (*store.Error)(nil); errors.As(err, &se) {
		e.File, e.Message = se.URL, se.Reason()
	}
	if fe := (*profile.FormatError)(nil); errors.As(err, &fe) {
		e.SetPosition(fe.Position)
		e.Field, e.Got, e.Want, e.Hint = fe.Field, fe.Got, fe.Want, fe.Hint
		anonymous := *fe
		anonymous.File = ""
		e.Message = anonymous.Error()
		if errors.Is(err, flaw.ErrRemark) {
			e.Message = strings.TrimSuffix(e.Message, ": "+e.Class.Error())
		}
	}
	return e
}

// SetPosition sets the file and the position in it.
func (e *Error) SetPosition(p profile.Position) {
	e.File, e.Section, e.Line, e.Column = p.File, p.Section, p.Line, p.Column
	if p.Offset >= 0 {
		e.Offset = &p.Offset
	}
	if p.Record >= 0 {
		e.Record = &p.Record
	}
}

// NewWarning describes a warning as JSON.
func NewWarning(w profile.Warning) *Error {
	e := NewError(w.Err)
	e.Function = w.Function
	e.File = cmp.Or(e.File, w.File)
	return e
}

// String returns "FILE: FUNCTION: MESSAGE" without unknown parts.
func (e *Error) String() string {
	if e.File != "" {
		return e.File + ": " + e.Text()
	}
	return e.Text()
}

// Text returns "FUNCTION: MESSAGE", or the message alone.
func (e *Error) Text() string {
	if e.Function != "" {
		return e.Function + ": " + e.Message
	}
	return e.Message
}

// WriteJSON writes facts, indented by prefix from the second line on. It ignores errors of w, which
// must be a writer that keeps them, such as a bytes.Buffer or bufio.Writer.
func WriteJSON(w io.Writer, facts any, prefix string) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	if err := enc.Encode(facts); err != nil {
		panic("facts as JSON: " + err.Error()) // they are plain values
	}
	w.Write(b.Bytes())
}
