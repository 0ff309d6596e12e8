package llvmyaml

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// quoted are strings and what LLVM makes of them.
var quoted = []struct{ in, want string }{
	{"foo", "foo"},
	{"", "''"},
	{"_ZN3fooC2Ev", "_ZN3fooC2Ev"},
	{"a.b,c^d-e", "a.b,c^d-e"},
	{"a b", "a b"},
	{" a", "' a'"},
	{"a$b", "'a$b'"},
	{"-[NSView drawRect:]", "'-[NSView drawRect:]'"},
	{"+[A b]", "'+[A b]'"},
	{"?fn@@YAXXZ", "'?fn@@YAXXZ'"},
	{"it's", "'it''s'"},
	{"a/b.c", "'a/b.c'"},
	{"a:b", "'a:b'"},
	{"a=b", "'a=b'"},
	{"true", "'true'"},
	{"TRUE", "'TRUE'"},
	{"tRUE", "tRUE"},
	{"yes", "yes"},
	{"null", "'null'"},
	{"~", "'~'"},
	{"12", "'12'"},
	{"1e5", "'1e5'"},
	{"e5", "e5"},
	{"1e", "1e"},
	{"1.5", "'1.5'"},
	{".5", "'.5'"},
	{".", "."},
	{".inf", "'.inf'"},
	{"0x1F", "'0x1F'"},
	{"0x", "0x"},
	{"0xg", "0xg"},
	{"0o7", "'0o7'"},
	{"0o8", "0o8"},
	{"a\\b", `'a\b'`},
	{`a"b`, `'a"b'`},
	{"main·f", `"main·f"`},
	{"tab\there", "tab\there"},
	{"line\nfeed", `"line\nfeed"`},
	{"\x01\x1b", `"\x01\e"`},
	{"q\"\\\n", `"q\"\\\n"`},
	{"\u0085\u00a0\u2028", `"\N\_\L"`},
	{"\ufeff\U000e0001", `"\uFEFF\U000E0001"`},
}

func TestQuote(t *testing.T) {
	for _, tt := range quoted {
		if got := Quote(tt.in); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.in, got, tt.want)
		}
		if got, err := read("name: " + tt.want); err != nil || got != fmt.Sprintf("name:%q;", tt.in) {
			t.Errorf("%s is read as %s, %v, want %q", tt.want, got, err, tt.in)
		}
	}
}

// TestQuoteAsLLVM compares with obj2yaml, which prints the names of symbols with the same code.
func TestQuoteAsLLVM(t *testing.T) {
	clang, obj2yaml := oracle.Tool(t, "clang-22"), oracle.Tool(t, "obj2yaml-22")
	var asm strings.Builder
	for i, tt := range quoted {
		if tt.in == "" {
			continue
		}
		name := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(tt.in)
		fmt.Fprintf(&asm, ".globl \"%s\"\n\"%s\" = %d\n", name, name, 0x1000+i)
	}
	dir := t.TempDir()
	oracle.WriteFile(t, filepath.Join(dir, "a.s"), []byte(asm.String()))
	if _, stderr, code := oracle.RunIn(t, dir, clang, "-c", "a.s"); code != 0 {
		t.Fatal(stderr)
	}
	stdout, stderr, code := oracle.RunIn(t, dir, obj2yaml, "a.o")
	if code != 0 {
		t.Fatal(stderr)
	}
	_, stdout, _ = strings.Cut(stdout, "\nSymbols:\n")
	printed := make(map[string]string) // by value
	for _, m := range regexp.MustCompile(`- Name:            (.*)\n(?:.*\n){1,4}?    Value:           (0x\w+)`).FindAllStringSubmatch(stdout, -1) {
		printed[m[2]] = m[1]
	}
	for i, tt := range quoted {
		if got := printed[fmt.Sprintf("0x%X", 0x1000+i)]; tt.in != "" && got != tt.want {
			t.Errorf("%q: obj2yaml prints %s, want %s", tt.in, got, tt.want)
		}
	}
}
