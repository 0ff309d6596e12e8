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
			FormatError{Place: Place{File: "a.profraw", Section: "data", Offset: 0xb0, Record: 17}, Field: "number of counters", Found: "0", Want: "at least 1", Err: ErrCorrupt},
			"a.profraw: data at 0xb0 (record 17): number of counters is 0, want at least 1: corrupt profile",
		},
		{
			FormatError{Place: Place{File: "a.proftext", Section: "text", Offset: 9, Line: 3, Record: -1}, Field: "function hash", Found: `"x"`, Err: fmt.Errorf("why: %w", ErrCorrupt)},
			`a.proftext: text line 3: function hash is "x": corrupt profile`,
		},
		{
			FormatError{Place: Place{File: "a.iprof", Section: "methods", Offset: 90, Line: 1, Column: 91, Record: 2}, Field: "id", Found: `"x"`, Want: "an integer", Err: ErrCorrupt},
			`a.iprof: methods line 1, column 91 (record 2): id is "x", want an integer: corrupt profile`,
		},
		{FormatError{Place: Place{Offset: -1, Record: -1}, Err: ErrEmpty}, "empty profile file"},
		{FormatError{Place: Place{Offset: 0, Record: -1}, Field: "magic", Want: "one", Err: ErrUnrecognized}, "at 0x0: magic, want one: unrecognized profile format"},
	} {
		if got := tc.err.Error(); got != tc.want {
			t.Errorf("got  %q\nwant %q", got, tc.want)
		}
	}
}

func TestClass(t *testing.T) {
	for _, class := range []error{ErrCorrupt, ErrTruncated, ErrUnsupported, ErrMismatch, ErrUnrecognized, ErrEmpty} {
		err := fmt.Errorf("outer: %w", &FormatError{Place: Place{Offset: -1, Record: -1}, Err: fmt.Errorf("cause: %w", class)})
		if Class(err) != class || !errors.Is(err, class) {
			t.Errorf("class of %v is %v", err, Class(err))
		}
	}
	if Class(fs.ErrNotExist) != fs.ErrNotExist {
		t.Error("an error without a class is its own")
	}
}

func TestInFile(t *testing.T) {
	err := error(&FormatError{Place: Place{Offset: -1, Record: -1}, Err: ErrEmpty})
	named := InFile(err, "a")
	var fe *FormatError
	if !errors.As(named, &fe) || fe.File != "a" || err.(*FormatError).File != "" {
		t.Errorf("%v from %v", named, err)
	}
	if again := InFile(named, "b"); again != named {
		t.Errorf("a named error was renamed: %v", again)
	}
	if err := InFile(fs.ErrNotExist, "a"); err != fs.ErrNotExist {
		t.Errorf("another error changed: %v", err)
	}
}
