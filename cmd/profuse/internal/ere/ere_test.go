package ere

import "testing"

func TestCompile(t *testing.T) {
	for _, tc := range []struct {
		pattern, text string
		match         bool
	}{
		{".*", "", true},
		{"oo", "foo", true},
		{"^oo", "foo", false},
		{"^(f|b)oo$", "boo", true},
		{`_Z3fo\d`, "_Z3fod", true}, // an escaped letter is that letter
		{"a{2,3}", "caab", true},
		{"a{", "a{", true},
		{"[[:upper:]_]+$", "f_X", true},
		{"[]a]", "]", true},
		{"\xc3.", "\xc3\xa9", true}, // bytes, not characters
		{"^.$", "\xc3\xa9", false},
		{".", "\n", true},
	} {
		match, err := Compile(tc.pattern)
		if err != nil {
			t.Errorf("%s: %v", tc.pattern, err)
		} else if match(tc.text) != tc.match {
			t.Errorf("%s on %q: %v", tc.pattern, tc.text, !tc.match)
		}
	}
	for pattern, want := range map[string]string{
		"":        "empty (sub)expression",
		"a|":      "empty (sub)expression",
		"(a":      "parentheses not balanced",
		"[a":      "brackets ([ ]) not balanced",
		"*":       "repetition-operator operand invalid",
		"a{2,1}":  "invalid repetition count(s)",
		"[b-a]":   "invalid character range",
		`\`:       "trailing backslash (\\)",
		`(a)\1`:   "back-references are not supported by profuse",
		"[[:x:]]": "invalid character class",
	} {
		if _, err := Compile(pattern); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", pattern, err, want)
		}
	}
}
