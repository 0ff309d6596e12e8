package cli

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

func TestCount(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 12345: "12,345", 123456: "123,456", 1234567: "1,234,567",
		math.MaxUint64: "18,446,744,073,709,551,615",
	} {
		if got := Count(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	tests := []struct {
		part, whole uint64
		want        string
	}{
		{0, 0, "0 %"},
		{0, 10, "0 %"},
		{10, 10, "100 %"},
		{1, 3, "33.3 %"},
		{1, 1_000_000, "<0.1 %"},
		{999_999, 1_000_000, ">99.9 %"},
		{1, 2000, "0.1 %"},
		{1, 2001, "<0.1 %"},
		{math.MaxUint64 / 2, math.MaxUint64, "50.0 %"},
		{math.MaxUint64 - 1, math.MaxUint64, ">99.9 %"},
	}
	for _, test := range tests {
		if got := Percent(test.part, test.whole); got != test.want {
			t.Errorf("%d of %d: %q, want %q", test.part, test.whole, got, test.want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1.0 kB", 999_949: "999.9 kB", 999_950: "1.0 MB",
		56_000_000: "56.0 MB", 3_210_000_000: "3.2 GB", 5e15: "5000.0 TB",
	} {
		if got := Size(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	tests := []struct {
		s     string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"somewhat longer", 8, "some…ger"},
		{"somewhat longer", 7, "som…ger"},
		{"äöüäöüäöü", 4, "äö…ü"},
		{"long", 1, "…"},
		{"long", 0, "long"},
	}
	for _, test := range tests {
		if got := Shorten(test.s, test.width); got != test.want {
			t.Errorf("%q to %d: %q, want %q", test.s, test.width, got, test.want)
		}
	}
}

func TestFill(t *testing.T) {
	got := fill("one two three four\nfive\n\n    kept   as it is\n\nsix", 10)
	want := "one two\nthree four\nfive\n\n    kept   as it is\n\nsix\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWriteColumns(t *testing.T) {
	var b strings.Builder
	rows := [][2]string{
		{"-a", "first"},
		{"--bee", strings.Repeat("word ", 20)},
		{"--" + strings.Repeat("long", 8), "below"},
	}
	writeColumns(&b, rows, columnWidth(rows))
	want := `  -a     first
  --bee  word word word word word word word word word word word word word word
         word word word word word word
  --` + strings.Repeat("long", 8) + `
         below
`
	if b.String() != want {
		t.Errorf("\n%s\nwant\n%s", b.String(), want)
	}
}

func TestNearest(t *testing.T) {
	words := []string{"merge", "show", "demo", "version"}
	for s, want := range map[string]string{
		"merg": "merge", "mrege": "merge", "shwo": "show", "versions": "version", "d": "", "": "", "unrelated": "",
	} {
		if got := nearest(s, words); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"abc", "abd", 1},
		{"abc", "ac", 1},
		{"ab", "ba", 2},
		{"kitten", "sitting", 3},
		{"sparse", "parser", 2},
	} {
		if d := Distance(tc.a, tc.b); d != tc.want {
			t.Errorf("%q to %q: %d edits, want %d", tc.a, tc.b, d, tc.want)
		}
	}
}

func TestStatusLine(t *testing.T) {
	var b bytes.Buffer
	s := &StatusLine{w: &b, width: 20}
	s.Printf("first %d", 1)
	s.Set("1 waiting")
	s.Set("1 waiting")
	s.Printf("second")
	s.Set("much more than there is room for")
	s.Clear()
	s.Clear()
	want := "first 1\n" + "\r1 waiting\x1b[K" + "\r\x1b[Ksecond\n\r1 waiting\x1b[K" +
		"\rmuch more… room for\x1b[K" + "\r\x1b[K"
	if got := b.String(); got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// Without a terminal there are lines alone, and with quiet the urgent ones.
func TestStatusLinePlain(t *testing.T) {
	for quiet, want := range map[bool]string{false: "line\nurgent\n", true: "urgent\n"} {
		var b bytes.Buffer
		env := &Env{Stderr: &b, Getenv: func(string) string { return "" }}
		s := env.StatusLine(quiet)
		s.Set("status")
		s.Printf("line")
		s.Urgentf("urgent")
		s.Clear()
		if got := b.String(); got != want || s.Shown() {
			t.Errorf("quiet %v: %q, want %q", quiet, got, want)
		}
	}
}
