package ere

import (
	"fmt"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

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
		{"()", "", true},
		{"(f|b)a", "foo", false},
		{"o{2,}", "foo", true},
		{"o{0,1}$", "bar", true},
		{"o{,3}", "o{,3}", true}, // a brace without a digit is a brace
		{"(o{1}){2}", "foo", true},
		{"$*", "foo", true},
		{`\f`, "foo", true},

		{"[^]a]", "]a", false},
		{"[^]a]", "b", true},
		{"[-a]", "-", true},
		{"[a-]", "-", true},
		{"[+--]", ",", true},
		{"[^f]oo", "foo", false},
		{"[^\x00-\xff]", "foo", false}, // nothing is left
		{"[[:digit:]]", "foo", false},
		{"[^[:alpha:]]", "foo", false},
		{"[[=f=]]oo", "foo", true},
		{"[[.f.]]oo", "foo", true},
		{"[[.f.]-z]oo", "goo", true},
		{"^[a-[.c.]]$", "c", true},
	} {
		t.Run(fmt.Sprintf("%q", tc.pattern), func(t *testing.T) {
			match := oracle.Must(Compile(tc.pattern))(t)
			if match(tc.text) != tc.match {
				t.Errorf("on %q: %v", tc.text, !tc.match)
			}
		})
	}
}

func TestCompileErrors(t *testing.T) {
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

		"(":                    "parentheses not balanced",
		")":                    "parentheses not balanced",
		"(|a)":                 "empty (sub)expression",
		"^*":                   "repetition-operator operand invalid",
		"o+?":                  "repetition-operator operand invalid",
		"{2":                   "repetition-operator operand invalid",
		"o{1}{2}":              "repetition-operator operand invalid",
		"o{2":                  "braces not balanced",
		"o{1x}":                "invalid repetition count(s)",
		"o{256}":               "invalid repetition count(s)",
		"o{1,256}":             "invalid repetition count(s)",
		`\1`:                   "invalid backreference number",
		"((a{255}){255}){255}": "regular expression is too complex: error parsing regexp: invalid repeat count: `{255}`",

		"[--a]":      "invalid character range",
		"[a--]":      "invalid character range",
		"[[:alpha":   "brackets ([ ]) not balanced",
		"[[:alpha]":  "invalid character class",
		"[[:":        "brackets ([ ]) not balanced",
		"[[:-:]]":    "invalid character class",
		"[[=":        "brackets ([ ]) not balanced",
		"[[=-=]]":    "invalid collating element",
		"[[=fo=]]":   "invalid collating element",
		"[[=f=":      "brackets ([ ]) not balanced",
		"[[=f=x":     "brackets ([ ]) not balanced",
		"[[.f":       "brackets ([ ]) not balanced",
		"[[.fo.]]":   "invalid collating element",
		"[a-[.z":     "brackets ([ ]) not balanced",
		"[a-":        "invalid character range",
		"[[:<:]]foo": "word boundaries are not supported by profuse",
	} {
		t.Run(fmt.Sprintf("%q", pattern), func(t *testing.T) {
			if _, err := Compile(pattern); err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}
