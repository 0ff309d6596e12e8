package llvmyaml

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

// read reads a document of the form
//
//	list: [scalar…]
//	map: { key: scalar… }
//	maps: [{ key: scalar… }…]
//	name: scalar
//
// and prints what it finds.
func read(doc string) (string, error) {
	s := NewScanner([]byte(doc))
	var b strings.Builder
	pairs := func() {
		b.WriteString("{")
		s.Mapping(func(key string) { fmt.Fprintf(&b, "%s=%q ", key, s.Scalar()) })
		b.WriteString("}")
	}
	s.Mapping(func(key string) {
		b.WriteString(key + ":")
		switch key {
		case "list":
			s.Sequence(func() { fmt.Fprintf(&b, "%q ", s.Scalar()) })
		case "map":
			pairs()
		case "maps":
			s.Sequence(pairs)
		case "number":
			fmt.Fprint(&b, s.Unsigned(key, 32))
		case "bool":
			fmt.Fprint(&b, s.Bool(key))
		default:
			fmt.Fprintf(&b, "%q", s.Scalar())
		}
		b.WriteString(";")
	})
	s.Finish()
	return b.String(), s.Err()
}

func TestScanner(t *testing.T) {
	for _, c := range []struct{ doc, want string }{
		{"", ""},
		{"---\n{}\n...\n", ""},
		{"---\n...\n", ""},
		{"# comment\n---\nname: x\n", `name:"x";`},
		{"--- # comment\nname: x", `name:"x";`},
		{"\ufeffname: x", `name:"x";`},
		{"name: a b  # comment\r\nlist: []\r\n", `name:"a b";list:;`},
		{"name: a#b c:d", `name:"a#b c:d";`},
		{"name:", `name:"";`},
		{"name:\nlist:\nmap:\nmaps:\n", `name:"";list:;map:{};maps:;`},
		{"list: ~\nmap: null\nname: null", `list:;map:{};name:"null";`},
		{"name: 'it''s' # quoted\n", `name:"it's";`},
		{`name: "a\n\x41\u00e9\"\\"`, `name:"a\nAé\"\\";`},
		{"list:\n- a\n- b\nname: x", `list:"a" "b" ;name:"x";`},
		{"list:\n  - a\n  -\n  - 'b, c'\n", `list:"a" "" "b, c" ;`},
		{"list: [ a, \"b\" , c d,\n   e ]\n", `list:"a" "b" "c d" "e" ;`},
		{"list: [ a, # comment\n b\n]", `list:"a" "b" ;`},
		{"map:\n  a: 1\n  b: 2\nname: x", `map:{a="1" b="2" };name:"x";`},
		{"map: { a: 1, b : 2,c: }", `map:{a="1" b="2" c="" };`},
		{"map: { a: 1, b: 2, }", `map:{a="1" b="2" };`},
		{"maps:\n  - a: 1\n    b: 2\n  - { c: 3 }\n  -\n    d: 4\n", `maps:{a="1" b="2" }{c="3" }{d="4" };`},
		{"{ list: [a], maps: [{b: 1}, {}], name: 'x' }", `list:"a" ;maps:{b="1" }{};name:"x";`},
		{"number: 0x1F\n", `number:31;`},
		{"number: 017\nbool: Yes", `number:15;bool:true;`},
		{"number: 0b101\nbool: off", `number:5;bool:false;`},
		{"name: -\n", `name:"-";`},
		{"name: a,b[c]", `name:"a,b[c]";`},
	} {
		got, err := read(c.doc)
		if err != nil || got != c.want {
			t.Errorf("%q: %s, %v; want %s", c.doc, got, err, c.want)
		}
	}
}

func TestScannerRefuses(t *testing.T) {
	for _, c := range []struct{ doc, want string }{
		{"name: x\nname: y", `YAML line 2: key is "name", want each key once: corrupt`},
		{"name: &a x", `line 1: value is "&a x", want a plain or quoted scalar: unsupported`},
		{"name: *a", "unsupported"},
		{"name: !!str x", "unsupported"},
		{"name: |\n  x", "unsupported"},
		{"name: 'a\n  b'", `quoted scalar is "'a", want its end in the same line: unsupported`},
		{"name: a\n  b", `line 2: indentation is 2 blanks, want at most 0`},
		{"name: a: b", `text after the value is ": b", want nothing`},
		{"name: \"a\\q\"", `escape is "\\q`},
		{"name: 'a' b", `text after the value is "b", want nothing or a comment`},
		{"name: [a]", `value is "[a]", want a scalar`},
		{"list: a", `value is "a", want a sequence`},
		{"list: {a: b}", `want a sequence`},
		{"list:\n  a: b", `want a sequence`},
		{"list: - a", `want a sequence`},
		{"map: a: b", `value is "a: b", want a mapping`},
		{"map:\n- a", `want a mapping`},
		{"map: [a]", `value is "[a]", want a mapping`},
		{"map: {a: b", `flow collection is not ended, want '}': truncated`},
		{"list: [a b", `flow collection is not ended, want ']': truncated`},
		{"list: [a}", `flow collection is "}", want a comma or ']'`},
		{"list: [a] b", `text after the value is "b"`},
		{"map:\n    a: 1\n  b: 2", `indentation is 2 blanks, want at most 0`},
		{"map:\n  a: 1\n    b: 2", `indentation is 4 blanks, want at most 2`},
		{"map:\n\ta: 1", `indentation is a tab, want blanks`},
		{"name: x\n---\nname: y", `text is "---", want nothing after the end of the document: unsupported`},
		{"name: x\n...\nname: y", `text is "name: y", want nothing after`},
		{"name", `key is "name", want a colon after it`},
		{"- a", `want a mapping`},
		{"number: 4294967296", `number is "4294967296", want a number of at most 32 bits`},
		{"number: -1", `number is "-1"`},
		{"number: ", `number is ""`},
		{"bool: maybe", `bool is "maybe", want true or false`},
		{"name: \xff", "not UTF-8"},
		{"%YAML 1.2\n---\nname: x", "unsupported"},
	} {
		got, err := read(c.doc)
		var fe *profile.FormatError
		if err == nil || !errors.As(err, &fe) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %s, error %v, want %s", c.doc, got, err, c.want)
		}
	}
}

// TestQuoteIsReadBack: what Quote makes of any string reads as that string.
func TestQuoteIsReadBack(t *testing.T) {
	for _, s := range []string{
		"", "a", " a", "a ", "it's", `say "x"`, "a: b", "a #b", "#a", "- a", "-", "?", "true", "~", "1", "1.5e3", "0x1f",
		"tab\there", "line\nend", "\x00\x1b\x7f", "ünï", "\u2028", "\U0001f600", "[a]", "{a}", "a,b", "&a", "*a", "!a", "|", "%", "@", "`",
		`C:\x`, "...", "---", "null",
	} {
		for _, doc := range []string{"name: %s\n", "{ name: %s }"} {
			if strings.HasPrefix(doc, "{") && Quote(s) == s && strings.ContainsAny(s, ",") {
				continue // LLVM quotes for block style
			}
			got, err := read(fmt.Sprintf(doc, Quote(s)))
			if want := fmt.Sprintf("name:%q;", s); err != nil || got != want {
				t.Errorf("%q in %q is read as %s, %v", s, doc, got, err)
			}
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, doc := range []string{"name: x", "list: [a, 'b']\nmap: {a: b}", "maps:\n- a: b\n  c: d\n- {}\n...", "bool: y\nnumber: 0x1"} {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		_, err := read(doc)
		var fe *profile.FormatError
		if err != nil && !errors.As(err, &fe) {
			t.Fatalf("%v is no FormatError", err)
		}
	})
}
