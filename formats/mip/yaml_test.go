package mip

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/profile"
)

// yamlAccepted are ways to write the golden profile by hand.
var yamlAccepted = []struct{ name, in string }{
	{"as written", goldenYAML},
	{"no marks", strings.TrimSuffix(strings.TrimPrefix(goldenYAML, "---\n"), "...\n")},
	{"carriage returns", strings.ReplaceAll(goldenYAML, "\n", "\r\n")},
	{"comments and blank lines", "# top\n\n" + strings.ReplaceAll(goldenYAML, "\n", " # c\n \t\n  # d\n") + "# end\n"},
	{"decimal", strings.Replace(goldenYAML, "0xDEADBEEF", "3735928559", 1)},
	{"lower case", strings.Replace(goldenYAML, "0xDEADBEEF", "0Xdeadbeef", 1)},
	{"quotes", strings.NewReplacer("   foo", `   "f\x6f\u006f"`, "   main", "   'main'", "Header:", `"Header":`, "Offset:", "'Offset':").Replace(goldenYAML)},
	{"sequences not indented", strings.NewReplacer("\n  - ", "\n- ", "\n    ", "\n  ", "\n      - ", "\n  - ", "\n        ", "\n    ").Replace(goldenYAML)},
	{"block sequences of names", strings.NewReplacer("[ .mip ]", "\n    - .mip\n    - 64 bit", "[ Function Coverage ]", "\n  - Function Coverage # only").Replace(goldenYAML)},
	{"dash alone", strings.ReplaceAll(goldenYAML, "  - Function", "  -\n    Function")},
	{"other order", strings.Replace(strings.Replace(goldenYAML, "    Raw Profile Count: 1\n", "", 1), "    Call Edges:      []\n", "    Call Edges: [ ]\n    Raw Profile Count: 1\n", 1)},
	{"flow mapping", replaced("      - Offset:          0x0\n        Covered:         true\n", "      - { Offset: 0, Covered: true }\n")},
	{"flow over lines", replaced("[ .mip ]", "[ .mip,\n    64 bit ]")},
	{"octal", replaced("Count: 1\n", "Count: 01\n")},
	{"truth in other words", replaced("true", "yes")},
	{"source info", strings.ReplaceAll(goldenYAML, "    Call Edges:      []\n", `    Call Edges:      []
    Source Info:
      File Name:       'a b/c.cpp'
      Function Name:   'foo(int)'
      Line:            12
`)},
}

func TestYAMLAccepted(t *testing.T) {
	for _, tt := range yamlAccepted {
		if tt.in == goldenYAML && tt.name != "as written" {
			t.Errorf("%s: nothing was changed", tt.name)
		}
		p, err := Read("y", []byte(tt.in), nil)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := yamlOf(t, p); got != goldenYAML {
			t.Errorf("%s: %s", tt.name, cmp.Diff(goldenYAML, got))
		}
	}
}

// replaced is the golden YAML with one thing replaced.
func replaced(old, with string) string { return strings.Replace(goldenYAML, old, with, 1) }

var yamlRejected = []struct {
	name, in string
	line     int
	class    error
	says     string
}{
	{"no profiles", "Header:\n  File Type: .mip\n  Profile Type: [ Function Coverage ]\n  Module Hash: 1\n", 5, profile.ErrTruncated, "Profiles"},
	{"unknown key", replaced("Module Hash", "Module Hush"), 5, profile.ErrCorrupt, `"Module Hush"`},
	{"key twice", replaced("    Function Size:   0x10\n", "    Function Size: 1\n    Function Size: 1\n"), 12, profile.ErrCorrupt, "each key once"},
	{"key missing", replaced("    Function Size:   0x10\n", ""), 7, profile.ErrCorrupt, "key Function Size"},
	{"no header", strings.Replace(goldenYAML, "Header:", "Heeder:", 1), 0, profile.ErrUnrecognized, ""},
	{"third part", strings.Replace(goldenYAML, "...\n", "More: 1\n", 1), 35, profile.ErrCorrupt, "the end of the document"},
	{"second document", goldenYAML + "---\n", 36, profile.ErrUnsupported, "nothing after the end"},
	{"second document at once", strings.Replace(goldenYAML, "...\n", "---\n", 1), 35, profile.ErrUnsupported, "nothing after the end"},
	{"directive", "Header:\n%YAML 1.2\n", 2, profile.ErrCorrupt, "key File Type"},
	{"anchor", replaced("Header:", "Header: &a"), 2, profile.ErrCorrupt, "&a"},
	{"anchored scalar", replaced("   foo", "   &a foo"), 7, profile.ErrUnsupported, "plain or quoted"},
	{"alias", replaced("   foo", "   *a"), 7, profile.ErrUnsupported, "plain or quoted"},
	{"tag", replaced("   foo", "   !!str foo"), 7, profile.ErrUnsupported, "plain or quoted"},
	{"block scalar", replaced("   foo", "   |\n      foo"), 7, profile.ErrUnsupported, "plain or quoted"},
	{"flow without end", replaced("[ .mip ]", "[ .mip"), 4, profile.ErrCorrupt, "comma"},
	{"scalar over lines", replaced("   foo", "   'fo\n      o'"), 7, profile.ErrUnsupported, "its end in the same line"},
	{"plain over lines", replaced("   foo", "   foo\n      bar"), 8, profile.ErrCorrupt, "indentation"},
	{"tab", replaced("    Function Size", "\tFunction Size"), 11, profile.ErrCorrupt, "tab"},
	{"deeper", replaced("    Function Size", "     Function Size"), 11, profile.ErrCorrupt, "indentation"},
	{"text after a value", replaced("   foo", "   'foo' bar"), 7, profile.ErrCorrupt, "text after the value"},
	{"colon in a plain scalar", replaced("   foo", "   foo: bar"), 7, profile.ErrCorrupt, "text after the value"},
	{"bad escape", replaced("   foo", `   "\q"`), 7, profile.ErrCorrupt, "escape"},
	{"surrogate", replaced("   foo", `   "\ud800"`), 7, profile.ErrCorrupt, "escape"},
	{"zero byte", replaced("   foo", `   "\0"`), 7, profile.ErrCorrupt, "zero byte"},
	{"not UTF-8", replaced("   foo", "   \xff"), 7, profile.ErrCorrupt, "UTF-8"},
	{"number", replaced("Count: 1\n", "Count: one\n"), 13, profile.ErrCorrupt, "32 bits"},
	{"underscore", replaced("Count: 1\n", "Count: 1_0\n"), 13, profile.ErrCorrupt, "32 bits"},
	{"negative", replaced("Count: 1\n", "Count: -1\n"), 13, profile.ErrCorrupt, "32 bits"},
	{"too large", replaced("Count: 1\n", "Count: 4294967296\n"), 13, profile.ErrCorrupt, "32 bits"},
	{"no number", replaced("Count: 1\n", "Count:\n"), 13, profile.ErrCorrupt, "32 bits"},
	{"entry block", replaced("true", "false"), 7, profile.ErrCorrupt, "entry block"},
	{"entry offset", replaced("0x0\n", "0x4\n"), 17, profile.ErrCorrupt, "entry block"},
	{"no blocks", replaced("Basic Block Profiles:\n      - Offset:          0x0\n        Covered:         true\n      - Offset:          0x4\n        Covered:         false\n", "Basic Block Profiles: []\n"), 16, profile.ErrCorrupt, "entry block"},
	{"call edges", replaced("[]", "[ 1 ]"), 21, profile.ErrCorrupt, "a mapping"},
	{"signature", replaced("0x5CF8C24CDB18BDAC", "0x5CF8C24CDB18BDAD"), 7, profile.ErrCorrupt, "Function Signature"},
	{"raw offset", replaced("0x20", "0x8"), 7, profile.ErrCorrupt, "Raw Profile Data Address"},
	{"file type", replaced("[ .mip ]", "[ .map ]"), 3, profile.ErrCorrupt, "File Type"},
	{"profile type", replaced("[ Function Coverage ]", "[ Function Cover ]"), 4, profile.ErrCorrupt, "Profile Type"},
	{"combination", replaced("[ Function Coverage ]", "[ Function Coverage, Function Call Count ]"), 4, profile.ErrCorrupt, "either"},
	{"no type", replaced("[ Function Coverage ]", "[]"), 4, profile.ErrCorrupt, "either"},
	{"mapping for a sequence", replaced("Profiles:\n  - Function", "Profiles:\n    Function"), 7, profile.ErrCorrupt, "a sequence"},
	{"empty item", replaced("  - Function Name:   foo", "  -\n  - Function Name:   foo"), 8, profile.ErrCorrupt, "a mapping"},
	{"flow profiles", replaced("Profiles:\n  - Function Name:   foo", "Profiles: [ 1 ]\n  - x"), 6, profile.ErrCorrupt, "a mapping"},
}

func TestYAMLRejected(t *testing.T) {
	for _, tt := range yamlRejected {
		_, err := Read("y", []byte(tt.in), nil)
		if fe := wantError(t, tt.name, err, tt.class, tt.says); fe.Line != tt.line {
			t.Errorf("%s: %v, want line %d", tt.name, err, tt.line)
		}
		if tt.in == goldenYAML {
			t.Errorf("%s: nothing was changed", tt.name)
		}
	}
}

func TestYAMLSourceInfo(t *testing.T) {
	p := read(t, []byte(goldenYAML))
	infos := make([]profile.Symbol, len(p.Functions))
	for i := range infos {
		if p.Functions[i].Name == "foo" {
			infos[i] = profile.Symbol{File: "/src/a.cpp", Name: "foo(int)", StartLine: 9}
		}
	}
	got := yamlOf(t, p, WriteOptions{SourceInfo: infos})
	want := replaced("    Call Edges:      []\n", `    Call Edges:      []
    Source Info:
      File Name:       '/src/a.cpp'
      Function Name:   'foo(int)'
      Line:            9
`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(p, read(t, []byte(got))); diff != "" {
		t.Error(diff)
	}
}

func TestYAMLEmpty(t *testing.T) {
	p := &Profile{Type: callGraph | BlockCoverage | ReturnAddress}
	const want = `---
Header:
  File Type:       [ .mip ]
  Profile Type:    [ Block Coverage, Function Timestamp, Function Call Count, Return Address ]
  Module Hash:     0x0
Profiles:        []
...
`
	if got := yamlOf(t, p); got != want {
		t.Errorf("got %s", got)
	}
	if diff := cmp.Diff(p, read(t, []byte(want))); diff != "" {
		t.Error(diff)
	}
}

func TestYAMLUnwritable(t *testing.T) {
	p := &Profile{Type: FunctionCoverage, Functions: []Function{{Name: "a\xff", RawOffset: 32}}}
	if err := WriteYAML(io.Discard, p, WriteOptions{}); !errors.Is(err, profile.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}
