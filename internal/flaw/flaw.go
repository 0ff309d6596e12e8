// Package flaw makes the errors about the bytes of a profile, and about what
// cannot be written: each says where it is, what was found, and what is allowed.
package flaw

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/profile"
)

// ErrRemark is the cause of a warning about what sound profiles of released tools have. Commands print it without a class.
var ErrRemark = fmt.Errorf("remark: %w", profile.ErrMismatch)

// ErrSaturated is the cause of an error about sums that are too large for their field and stay at the maximum.
var ErrSaturated = fmt.Errorf("saturated: %w", profile.ErrMismatch)

// Quote quotes a text that was found; of a long one the beginning, as whole characters.
func Quote[T ~string | ~[]byte](text T) string {
	const limit = 60
	n := len(text)
	if n <= limit {
		return strconv.Quote(string(text))
	}
	for n = limit; n > limit-utf8.UTFMax && !utf8.RuneStart(text[n]); {
		n--
	}
	return strconv.Quote(string(text[:n])) + "…"
}

// Position is a [profile.Position] to build an error from. Make it with [At], [In] or
// [File]: an unknown offset or record is -1.
type Position struct{ profile.Position }

// At returns the position at an absolute byte offset in a section; -1 means an
// unknown offset.
func At(section string, offset int64) Position {
	return Position{profile.Position{Section: section, Offset: offset, Record: -1}}
}

// In returns a section as a position, without an offset.
func In(section string) Position { return At(section, -1) }

// File returns a file as a position, without section and offset.
func File(name string) Position { return At("", -1).InFile(name) }

// InFile returns p in the file of that name.
func (p Position) InFile(name string) Position { p.File = name; return p }

// InRecord returns p in record i; -1 means no record.
func (p Position) InRecord(i int) Position { p.Record = i; return p }

// OnLine returns p on a line, counted from 1; 0 means no line.
func (p Position) OnLine(line int) Position { p.Line = line; return p }

// Field starts an error about a field read from the position, or about to be written
// there:
//
//	flaw.At("header", 8).Field("version").Got(v).Want("1 to 10").Unsupported()
//
// Only the last call allocates the error.
func (p Position) Field(name string) Problem { return Problem{position: p, field: name} }

// Field starts an error about a field whose position is unknown, or which has none
// because the profile is in memory.
func Field(name string) Problem { return In("").Field(name) }

// Problem is an error under construction. The call that names its class, or
// [Problem.Because], completes it.
type Problem struct {
	position                 Position
	field, found, want, hint string
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

// WantVersions sets the versions allowed, up to newest, and says whether the version found is newer, rather than
// any number that damage makes.
func (p Problem) WantVersions(versions string, found, newest uint64) Problem {
	if found > newest && found < 2*newest {
		versions += ": it is newer than this release of profuse knows"
	}
	return p.Want(versions)
}

// Hint says what the owner of the file may do.
func (p Problem) Hint(text string) Problem { p.hint = text; return p }

// Corrupt makes an error of class [profile.ErrCorrupt].
func (p Problem) Corrupt() error { return p.Because(profile.ErrCorrupt) }

// Truncated makes an error of class [profile.ErrTruncated].
func (p Problem) Truncated() error { return p.Because(profile.ErrTruncated) }

// Unsupported makes an error of class [profile.ErrUnsupported].
func (p Problem) Unsupported() error { return p.Because(profile.ErrUnsupported) }

// Mismatch makes an error of class [profile.ErrMismatch].
func (p Problem) Mismatch() error { return p.Because(profile.ErrMismatch) }

// Remark makes an error with the cause [ErrRemark].
func (p Problem) Remark() error { return p.Because(ErrRemark) }

// Unrecognized makes an error of class [profile.ErrUnrecognized].
func (p Problem) Unrecognized() error { return p.Because(profile.ErrUnrecognized) }

// Empty makes an error of class [profile.ErrEmpty].
func (p Problem) Empty() error { return p.Because(profile.ErrEmpty) }

// Because makes an error about the position as a whole. The cause must wrap one of
// the classes.
func (p Position) Because(cause error) error { return Problem{position: p}.Because(cause) }

// Because makes an error with a cause, which must wrap one of the classes.
func (p Problem) Because(cause error) error {
	return &profile.FormatError{Position: p.position.Position, Field: p.field, Got: p.found, Want: p.want, Hint: p.hint, Err: cause}
}

// InFile returns the [profile.FormatError] that err wraps with the file name filled in,
// or err itself if it wraps none or the file is named already.
func InFile(err error, file string) error {
	if fe := (*profile.FormatError)(nil); errors.As(err, &fe) && fe.File == "" {
		c := *fe
		c.File = file
		return &c
	}
	return err
}

// OfProgram marks every [profile.FormatError] in *err as an error about a program. Text that fmt.Errorf has made of
// an error stays as it is, so packages that read programs defer OfProgram in their exported functions.
func OfProgram(err *error) { markProgram(*err) }

func markProgram(err error) {
	switch e := err.(type) {
	case *profile.FormatError:
		e.Program = true
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			markProgram(err)
		}
	case interface{ Unwrap() error }:
		markProgram(e.Unwrap())
	}
}
