package sampled

import (
	"errors"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

func TestFormat(t *testing.T) {
	for data, want := range map[string]string{
		"main:184019:0\n 4: 534\n 4.2: 534\n 10: inline1:1000\n  1: 1000\n": "text",
		"[main:3 @ foo]:100:5\n 1: 10\n":                                    "text",
		"# comment\r\n\r\nmain:1:0\r\n":                                     "text",
		"_ZN3foo3barEv:1:0\nmain:2:0\n":                                     "text",
		"ns::f(int):12:3\n 1: 2\n":                                          "text",
		"\xff\xe5\xd0\xb1\xf4\xc9\x94\xa8\x53\x67":                          "binary",
		"\x82\xe4\xd0\xb1\xf4\xc9\x94\xa8\x53\x67":                          "compact binary",
		"\x84\xe4\xd0\xb1\xf4\xc9\x94\xa8\x53\x67":                          "extensible binary",
		"adcg*704\x00\x00\x00\x00":                                          "gcov",

		"":                               "",
		":ir\nmain\n1\n1\n1\n":           "",
		"main\n1\n1\n1\n":                "",
		"a.c:1:2\n0x12\n1\n1\n":          "", // a function of an instrumentation profile
		"# hash\na.c:1:2\n# h\n12\n1\n":  "",
		"a.c:main\n12\n1\n1\n":           "",
		"adcgA42*":                       "",
		"http://x:80:1a\n":               "",
		" 1: 2\n":                        "",
		"\xfflprofi\x81\x0c\x00\x00\x00": "",
	} {
		if got := Format([]byte(data)); got != want {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
	}
	if err := Unsupported("x", "text"); !errors.Is(err, profile.ErrUnsupported) {
		t.Error(err)
	}
}
