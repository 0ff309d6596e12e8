package doctorcmd

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestExpandPattern: what a runtime makes of a name matches the pattern that
// the name is turned into, and no other file does.
func TestExpandPattern(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, c := range []struct {
		pattern, file string
		others        []string
	}{
		{"default.profraw", "default.profraw", []string{"default.profraw.1"}},
		{"%p.profraw", "77.profraw", []string{"78.profraw", "%p.profraw"}},
		{"a-%m.profraw", "a-1234_0.profraw", []string{"b-1234_0.profraw"}},
		{"a-%4m.profraw", "a-1234_3.profraw", nil},
		{"%b", "0123abcd", nil},
		{"%h.%p", host + ".77", nil},
		{"%c%p", "77", nil},
		{"100%%", "100%%", []string{"100%"}},
		{"100%%p", "100%%p", []string{"100%77", "100%p"}},
		{"%x-%", "%x-%", []string{"x-"}},
		{"%12", "%12", nil},
		{"%4p", "%4p", []string{"77"}},
		{"%x-%p-%", "-77-", []string{"%x-77-%"}},
		{"%%-%%%p", "-77", []string{"%%-%%77", "%-%77"}},
		{"%12-%p", "2-77", []string{"%12-77", "-77"}},
		{"a%c-%q", "a-", nil},
		{"a%m-%4m", "default.profraw", []string{"a1234_0-1234_0"}},
		{"a%c-%c", "default.profraw", []string{"a-"}},
		{"%b.profraw", "0123.profraw", nil},
		{"[a]*?", "[a]*?", []string{"a", "a11"}},
		{`back\slash`, `back\slash`, nil},
		{"ä-日本-%p", "ä-日本-77", nil},
		{"\xff%p", "\xff77", nil}, // no UTF-8
	} {
		t.Run(c.pattern, func(t *testing.T) {
			pattern := filepath.Join(dir, expandPattern(c.pattern, 77, "/tmp", true)[0])
			if ok, err := filepath.Match(pattern, filepath.Join(dir, c.file)); !ok || err != nil {
				t.Errorf("%q does not match %q: %v", pattern, c.file, err)
			}
			for _, other := range c.others {
				if ok, _ := filepath.Match(pattern, filepath.Join(dir, other)); ok {
					t.Errorf("%q matches %q", pattern, other)
				}
			}
		})
	}
	for _, c := range []struct {
		pattern, temp string
		set           bool
		want          []string
	}{
		{"%t/x", "/t*mp", true, []string{`/t\*mp//x`}},
		{"%tx", "", true, []string{"/x"}},
		{"%t/x", "", false, []string{"default.profraw"}},
		{"%b", "/tmp", true, []string{"*", "default.profraw"}}, // without a build id, the second one
	} {
		if got := expandPattern(c.pattern, 1, c.temp, c.set); !slices.Equal(got, c.want) {
			t.Errorf("%q with TMPDIR %q, set: %t: %q, want %q", c.pattern, c.temp, c.set, got, c.want)
		}
	}
}

func TestHasPool(t *testing.T) {
	for pattern, want := range map[string]bool{
		"": false, "%": false, "m": false, "%p": false, "%m": true, "%4m": true, "%12m": true, "%4": false, "%4p%xm": false, "%%m": false, "%%%m": true, "%p-%m": true,
	} {
		t.Run(pattern, func(t *testing.T) {
			if hasLetter(pattern, 'm') != want {
				t.Errorf("%t, want %t", !want, want)
			}
		})
	}
}

// TestObstacles: what keeps a profile from its folder.
func TestObstacles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, want string }{
		{dir, ""},
		{filepath.Join(dir, "not", "yet", "there"), ""},
		{file, "the profile cannot be written: " + file + " is not a folder"},
		{filepath.Join(file, "sub", "sub"), "the profile cannot be written: " + file + " is not a folder"},
		{"not-there-either", ""},
	} {
		t.Run(c.dir, func(t *testing.T) {
			p := tracee{dir: c.dir}
			if got := p.findObstacle(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
