package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestFormatErrorText(t *testing.T) {
	for _, tc := range []struct {
		err  FormatError
		want string
	}{
		{
			FormatError{Position: Position{File: "a.profraw", Section: "data", Offset: 0xb0, Record: 17}, Field: "number of counters", Got: "0", Want: "at least 1", Err: ErrCorrupt},
			"a.profraw: data at 0xb0 (record 17): number of counters is 0, want at least 1: corrupt profile",
		},
		{
			FormatError{Position: Position{File: "a.proftext", Section: "text", Offset: 9, Line: 3, Record: -1}, Field: "function hash", Got: `"x"`, Err: fmt.Errorf("why: %w", ErrCorrupt)},
			`a.proftext: text line 3: function hash is "x": corrupt profile`,
		},
		{
			FormatError{Position: Position{File: "a.iprof", Section: "methods", Offset: 90, Line: 1, Column: 91, Record: 2}, Field: "id", Got: `"x"`, Want: "an integer", Err: ErrCorrupt},
			`a.iprof: methods line 1, column 91 (record 2): id is "x", want an integer: corrupt profile`,
		},
		{FormatError{Position: Position{Offset: -1, Record: -1}, Err: ErrEmpty}, "empty profile file"},
		{FormatError{Position: Position{Offset: 0, Record: -1}, Field: "magic", Want: "one", Err: ErrUnrecognized}, "at 0x0: magic, want one: unrecognized profile format"},
	} {
		if got := tc.err.Error(); got != tc.want {
			t.Errorf("got  %q\nwant %q", got, tc.want)
		}
	}
}

func TestClass(t *testing.T) {
	for _, class := range Classes() {
		err := fmt.Errorf("outer: %w", &FormatError{Position: Position{Offset: -1, Record: -1}, Err: fmt.Errorf("cause: %w", class)})
		if ClassOf(err) != class || !errors.Is(err, class) {
			t.Errorf("class of %v is %v", err, ClassOf(err))
		}
	}
	for _, err := range []error{nil, fs.ErrNotExist} {
		if class := ClassOf(err); class != Unreadable {
			t.Errorf("class of %v is %v", err, class)
		}
	}
	if class := ClassOf(errors.Join(ErrEmpty, fs.ErrNotExist, ErrMismatch)); class != ErrMismatch {
		t.Errorf("class of joined errors is %v", class)
	}
}
