package profile

import (
	"fmt"
	"strings"
)

// Place is where in an input something stands. What is not known is empty, 0
// or, of Offset and Record, -1: make one with [At], [In] or [File].
type Place struct {
	File    string // as given by the caller
	Section string // "header", "counters", "value data", …
	Offset  int64  // absolute byte offset in the (uncompressed) input
	Line    int    // of a text input, from 1
	Column  int    // in that line, in bytes, from 1
	Record  int    // index of the record, from 0
}

// At returns the place at an absolute offset, -1 if that is not known, in a section.
func At(section string, offset int64) Place {
	return Place{Section: section, Offset: offset, Record: -1}
}

// In returns the place that is all of a section, or somewhere in it.
func In(section string) Place { return At(section, -1) }

// File returns the place that is all of a file, or somewhere in it.
func File(name string) Place { return At("", -1).InFile(name) }

// InFile returns the place in the file of that name.
func (p Place) InFile(name string) Place { p.File = name; return p }

// InRecord returns the place in record i, -1 for none.
func (p Place) InRecord(i int) Place { p.Record = i; return p }

// OnLine returns the place on a line, 0 for none.
func (p Place) OnLine(line int) Place { p.Line = line; return p }

// Where names the place in its file: section, offset or line and column, and
// record.
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

// Field begins the error about a field that was read, or about to be written,
// at the place:
//
//	profile.At("header", 8).Field("version").Got(v).Want("1 to 10").Unsupported()
//
// Nothing is allocated before the last call makes the error.
func (p Place) Field(name string) Problem { return Problem{place: p, field: name} }

// Problem is an error in the making. Its last call is the class of the error,
// or [Problem.Because].
type Problem struct {
	place              Place
	field, found, want string
}

// Got says what was found.
func (p Problem) Got(value any) Problem { p.found = fmt.Sprint(value); return p }

// Gotf says what was found, formatted.
func (p Problem) Gotf(format string, args ...any) Problem {
	p.found = fmt.Sprintf(format, args...)
	return p
}

// Want says what is allowed.
func (p Problem) Want(value any) Problem { p.want = fmt.Sprint(value); return p }

// Wantf says what is allowed, formatted.
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

// Because makes an error about the place as a whole. The cause wraps one of the
// classes.
func (p Place) Because(cause error) error { return Problem{place: p}.Because(cause) }

// Because makes an error with a cause, which wraps one of the classes.
func (p Problem) Because(cause error) error {
	return &FormatError{Place: p.place, Field: p.field, Found: p.found, Want: p.want, Err: cause}
}
