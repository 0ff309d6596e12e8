package profile

import (
	"fmt"
	"strings"
)

// Place is a position in an input. Unknown fields are empty or 0; an unknown
// Offset or Record is -1, so make a Place with [At], [In] or [File].
type Place struct {
	File    string // as given by the caller
	Section string // "header", "counters", "value data", …
	Offset  int64  // absolute byte offset in the (uncompressed) input
	Line    int    // of a text input, from 1
	Column  int    // in that line, in bytes, from 1
	Record  int    // index of the record, from 0
}

// At returns the place at an absolute byte offset in a section; -1 means an
// unknown offset.
func At(section string, offset int64) Place {
	return Place{Section: section, Offset: offset, Record: -1}
}

// In returns a section as a place, without an offset.
func In(section string) Place { return At(section, -1) }

// File returns a file as a place, without section and offset.
func File(name string) Place { return At("", -1).InFile(name) }

// InFile returns p in the file of that name.
func (p Place) InFile(name string) Place { p.File = name; return p }

// InRecord returns p in record i; -1 means no record.
func (p Place) InRecord(i int) Place { p.Record = i; return p }

// OnLine returns p on a line, counted from 1; 0 means no line.
func (p Place) OnLine(line int) Place { p.Line = line; return p }

// Where describes the place within its file: section, then offset or line and
// column, then record.
func (p Place) Where() string {
	var b strings.Builder
	b.WriteString(p.Section)
	switch {
	case p.Line > 0:
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "line %d", p.Line)
		if p.Column > 0 {
			fmt.Fprintf(&b, ", column %d", p.Column)
		}
	case p.Offset >= 0:
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "at %#x", p.Offset)
	}
	if p.Record >= 0 {
		fmt.Fprintf(&b, " (record %d)", p.Record)
	}
	return strings.TrimSpace(b.String())
}

// Field starts an error about a field read from the place, or about to be written
// there:
//
//	profile.At("header", 8).Field("version").Got(v).Want("1 to 10").Unsupported()
//
// Only the last call allocates the error.
func (p Place) Field(name string) Problem { return Problem{place: p, field: name} }

// Problem is an error under construction. The call that names its class, or
// [Problem.Because], completes it.
type Problem struct {
	place              Place
	field, found, want string
}

// Got sets the value found.
func (p Problem) Got(value any) Problem { p.found = fmt.Sprint(value); return p }

// Gotf sets the value found, formatted as by fmt.Sprintf.
func (p Problem) Gotf(format string, args ...any) Problem {
	p.found = fmt.Sprintf(format, args...)
	return p
}

// Want sets the values allowed.
func (p Problem) Want(value any) Problem { p.want = fmt.Sprint(value); return p }

// Wantf sets the values allowed, formatted as by fmt.Sprintf.
func (p Problem) Wantf(format string, args ...any) Problem {
	p.want = fmt.Sprintf(format, args...)
	return p
}

// Corrupt makes an error of class [ErrCorrupt].
func (p Problem) Corrupt() error { return p.Because(ErrCorrupt) }

// Truncated makes an error of class [ErrTruncated].
func (p Problem) Truncated() error { return p.Because(ErrTruncated) }

// Unsupported makes an error of class [ErrUnsupported].
func (p Problem) Unsupported() error { return p.Because(ErrUnsupported) }

// Mismatch makes an error of class [ErrMismatch].
func (p Problem) Mismatch() error { return p.Because(ErrMismatch) }

// Unrecognized makes an error of class [ErrUnrecognized].
func (p Problem) Unrecognized() error { return p.Because(ErrUnrecognized) }

// Empty makes an error of class [ErrEmpty].
func (p Problem) Empty() error { return p.Because(ErrEmpty) }

// Because makes an error about the place as a whole. The cause must wrap one of
// the classes.
func (p Place) Because(cause error) error { return Problem{place: p}.Because(cause) }

// Because makes an error with a cause, which must wrap one of the classes.
func (p Problem) Because(cause error) error {
	return &FormatError{Place: p.place, Field: p.field, Found: p.found, Want: p.want, Err: cause}
}
