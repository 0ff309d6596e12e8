package flaw

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

func TestErrors(t *testing.T) {
	at := At("data", 0xb0).InFile("a.profraw").InRecord(17)
	cause := fmt.Errorf("in other words: %w", profile.ErrMismatch)
	for _, tc := range []struct {
		err   error
		class error
		want  string
	}{
		{
			at.Field("number of counters").Got(0).Want("at least 1").Corrupt(), profile.ErrCorrupt,
			"a.profraw: data at 0xb0 (record 17): number of counters is 0, want at least 1: corrupt profile",
		},
		{
			In("header").Field("size").Gotf("%d bytes", 7).Wantf("%#x", 16).Truncated(), profile.ErrTruncated,
			"header: size is 7 bytes, want 0x10: truncated profile",
		},
		{
			File("a.proftext").OnLine(3).Field("directive").Got("100%").Want("%d").Unsupported(), profile.ErrUnsupported,
			"a.proftext: line 3: directive is 100%, want %d: unsupported profile version or variant",
		},
		{Field("weight").Got(uint64(0)).Mismatch(), profile.ErrMismatch, "weight is 0: mismatching profile"},
		{Field("magic").Unrecognized(), profile.ErrUnrecognized, "magic: unrecognized profile format"},
		{File("a").Field("archive").Got("without files").Empty(), profile.ErrEmpty, "a: archive is without files: empty profile file"},
		{In("x").Field("y").Because(cause), profile.ErrMismatch, "x: y: mismatching profile"},
	} {
		if tc.err.Error() != tc.want || profile.ClassOf(tc.err) != tc.class {
			t.Errorf("got  %q of class %v\nwant %q", tc.err, profile.ClassOf(tc.err), tc.want)
		}
	}
	if !errors.Is(Field("y").Because(cause), cause) {
		t.Error("the cause is lost")
	}
	// A place serves any number of errors.
	if got := at.Field("hash").Got(1).Corrupt().Error(); got != "a.profraw: data at 0xb0 (record 17): hash is 1: corrupt profile" {
		t.Error(got)
	}
}

func TestOneAllocation(t *testing.T) {
	var err error
	if n := testing.AllocsPerRun(100, func() { err = At("data", 8).InRecord(1).Field("hash").Corrupt() }); n > 1 {
		t.Errorf("%v allocations for %v", n, err)
	}
}

func TestInFile(t *testing.T) {
	err := error(&profile.FormatError{Position: profile.Position{Offset: -1, Record: -1}, Err: profile.ErrEmpty})
	named := InFile(err, "a")
	var fe *profile.FormatError
	if !errors.As(named, &fe) || fe.File != "a" || err.(*profile.FormatError).File != "" {
		t.Errorf("%v from %v", named, err)
	}
	if again := InFile(named, "b"); again != named {
		t.Errorf("a named error was renamed: %v", again)
	}
	if err := InFile(fs.ErrNotExist, "a"); err != fs.ErrNotExist {
		t.Errorf("another error changed: %v", err)
	}
}

func TestQuote(t *testing.T) {
	long := strings.Repeat("x", 59)
	for text, want := range map[string]string{
		"a\tb": `"a\tb"`, long + "y": `"` + long + `y"`, long + "yz": `"` + long + `y"…`,
		long + "ü": `"` + long + `"…`, // no half of a character
	} {
		if got := Quote(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestOfProgram: all errors in a tree of errors are about the program, and keep their classes.
func TestOfProgram(t *testing.T) {
	one := At("header", 4).InFile("a.out").Field("version").Got(9).Want("1").Corrupt()
	err := errors.Join(one, File("b.o").Because(profile.ErrEmpty))
	OfProgram(&err)
	if want := "a.out: header at 0x4: version is 9, want 1: corrupt program\nb.o: empty program file"; err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if profile.ClassOf(err) != profile.ErrCorrupt {
		t.Errorf("class %v", profile.ClassOf(err))
	}
	var none error
	OfProgram(&none)
	if none != nil {
		t.Error(none)
	}
}
