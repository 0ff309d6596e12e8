package profile

import (
	"errors"
	"fmt"
	"strings"
)

// A Class is a class of failure, named by the short word that JSON has for it. Every error that a reader of this
// module returns about its input wraps exactly one class, to be asked for with [errors.Is] or [ClassOf].
type Class string

const (
	ErrCorrupt Class = "corrupt" // the bytes contradict the format or each other
	// ErrUnsupported: well formed as far as this module can tell, but of a version or variant that it
	// does not read.
	ErrUnsupported  Class = "unsupported"
	ErrMismatch     Class = "mismatch"     // valid on its own, but incompatible with what it is combined with
	ErrUnrecognized Class = "unrecognized" // not a profile of any known format
	ErrTruncated    Class = "truncated"    // the input ends before what it announces
	// ErrEmpty: a file of zero bytes, usually an instrumented process that was killed before it wrote its profile.
	ErrEmpty Class = "empty"
	// Unreadable is the class of errors that the input did not cause, such as a file that does not
	// exist. Such errors do not wrap a class; see [ClassOf].
	Unreadable Class = "unreadable"
)

// Position is a position in an input. Unknown fields are empty or 0; an unknown Offset or Record is -1.
type Position struct {
	File    string // as given by the caller
	Section string // "header", "counters", "value data", …
	Offset  int64  // absolute byte offset in the (uncompressed) input
	Line    int    // of a text input, from 1
	Column  int    // in that line, in bytes, from 1
	Record  int    // index of the record, from 0
}

// Where describes the position within its file: section, then offset or line and column, then record.
func (p Position) Where() string {
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

// classes describes the classes, the most serious first: signs of a fault, signs of a mistake, everyday events.
var classes = []struct {
	class         Class
	text, program string // end of a message about a profile, and about a program
}{
	{Unreadable, "unreadable file", "unreadable file"},
	{ErrCorrupt, "corrupt profile", "corrupt program"},
	{ErrUnsupported, "unsupported profile version or variant", "unsupported program"},
	{ErrMismatch, "mismatching profile", "mismatching program"},
	{ErrUnrecognized, "unrecognized profile format", "unrecognized program format"},
	{ErrTruncated, "truncated profile", "truncated program"},
	{ErrEmpty, "empty profile file", "empty program file"},
}

// Classes returns all classes, the most serious first.
func Classes() []Class {
	all := make([]Class, len(classes))
	for i, c := range classes {
		all[i] = c.class
	}
	return all
}

// Error returns the end of a message about a profile: "corrupt profile".
func (c Class) Error() string {
	for _, known := range classes {
		if known.class == c {
			return known.text
		}
	}
	return string(c)
}

// ClassOf returns the class that err wraps, or [Unreadable]. Of the classes of joined errors it returns
// the most serious one.
func ClassOf(err error) Class {
	for _, known := range classes {
		if errors.Is(err, known.class) {
			return known.class
		}
	}
	return Unreadable
}

// FormatError says where an input violates its format, what the reader found there, and what the format allows.
type FormatError struct {
	Position
	Field   string // the item being read, "number of counters"; "format" for the file as a whole
	Got     string // the value found; may be empty
	Want    string // the values allowed; may be empty
	Hint    string // what the owner of the file may do; may be empty
	Err     error  // wraps a Class
	Program bool   // the input is a program, object, archive or class file and no profile
}

// Error returns "FILE: SECTION at 0xOFFSET (record N): FIELD is FOUND, want WANT: CLASS" without the
// parts that are unknown. Of a file in another format it is "FILE: this is FOUND, not WANT; HINT".
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
		if e.ofFormat() {
			return b.String()
		}
		b.WriteString(": ")
	}
	b.WriteString(e.classText())
	return b.String()
}

func (e *FormatError) classText() string {
	class := ClassOf(e.Err)
	for _, known := range classes {
		if e.Program && known.class == class {
			return known.program
		}
	}
	return class.Error()
}

// ofFormat reports whether the error says of a file as a whole what it is.
func (e *FormatError) ofFormat() bool { return e.Field == "format" && e.Want != "" }

// What returns the part of the message without position and class: what the reader found and what the format allows.
func (e *FormatError) What() string {
	s, want := e.Field, ", want "
	if e.ofFormat() {
		s, want = "this", ", not "
	}
	if e.Got != "" {
		s += " is " + e.Got
	}
	if e.Want != "" {
		s += want + e.Want
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Unwrap returns the cause, which wraps a [Class].
func (e *FormatError) Unwrap() error { return e.Err }
