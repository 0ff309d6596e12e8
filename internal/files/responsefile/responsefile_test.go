package responsefile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/profuse-pgo/profuse/test/oracle"
)

func utf16le(s string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

func utf16be(s string) string {
	b := []byte{0xfe, 0xff}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u>>8), byte(u))
	}
	return string(b)
}

var responseTests = []struct {
	text string
	want []string
}{
	{"", nil},
	{" \t\r\n", nil},
	{"a", []string{"a"}},
	{"a b\tc\r\nd\n", []string{"a", "b", "c", "d"}},
	{`'a b' "a b" a\ b`, []string{"a b", "a b", "a b"}},
	{`a'b'"c"d`, []string{"abcd"}},
	{`"it's" 'say "x"'`, []string{"it's", `say "x"`}},
	{`'a\'b' "a\"b" a\\b`, []string{"a'b", `a"b`, `a\b`}},
	{`"a\nb"`, []string{"anb"}},
	{"a\\\nb", []string{"a\nb"}},
	{"'a\nb'", []string{"a\nb"}},
	{`'' "" a`, []string{"a"}},
	{`ends\`, []string{`ends\`}},
	{`"unterminated a`, []string{"unterminated a"}},
	{"a\vb c\fd", []string{"a\vb", "c\fd"}},
	{"#a b", []string{"#a", "b"}},
	{"\xef\xbb\xbfa b", []string{"a", "b"}},
	{utf16le("ä 'b c'"), []string{"ä", "b c"}},
	{utf16be("ä 'b c'"), []string{"ä", "b c"}},
}

func TestExpand(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range responseTests {
		write(t, "r", c.text)
		got, err := Expand([]string{"before", "@r", "after"})
		want := append(append([]string{"before"}, c.want...), "after")
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v; want %q", c.text, got, err, want)
		}
	}
}

// TestExpandAgainstLLVM has llvm-profdata list the files that the same response file names.
func TestExpandAgainstLLVM(t *testing.T) {
	profdata := oracle.LLVM(t, 22)
	t.Chdir(t.TempDir())
	for _, c := range responseTests {
		if len(c.want) == 0 {
			continue // "no input files"
		}
		want := ""
		for _, name := range c.want {
			write(t, name, "")
			want += "1," + name + "\n"
		}
		write(t, "r", c.text)
		stdout, stderr, code := oracle.Run(t, profdata, "merge", "--dump-input-file-list", "-o", "out", "@r")
		if code != 0 || stdout != want {
			t.Errorf("%q: llvm-profdata says %q, %s; want %q", c.text, stdout, stderr, want)
		}
	}
}

func TestExpandNesting(t *testing.T) {
	t.Chdir(t.TempDir())
	oracle.NoError(t, os.Mkdir("sub", 0o777))
	for name, text := range map[string]string{
		"inner":     "x y",
		"outer":     "a @inner '@inner' -- @inner @missing",
		"sub/outer": "@inner @sub/inner", // from the working folder
		"sub/inner": "z",
		"self":      "a @self",
		"ping":      "@pong",
		"pong":      "@./ping",
	} {
		write(t, filepath.FromSlash(name), text)
	}
	for i := range maxResponseDepth + 1 {
		write(t, fmt.Sprint("deep", i), fmt.Sprint("@deep", i+1))
	}
	write(t, "big", strings.Repeat(" ", maxResponseBytes/2)+"@big2")
	write(t, "big2", strings.Repeat(" ", maxResponseBytes/2))
	for i := range 30 {
		write(t, fmt.Sprint("wide", i), fmt.Sprintf("@wide%d @wide%[1]d x", i+1))
	}
	for _, c := range []struct {
		args string
		want string
		err  string
	}{
		{args: "@outer", want: "a x y x y -- x y @missing"},
		{args: "@inner @inner", want: "x y x y"},
		{args: "@sub/outer", want: "x y z"},
		{args: "@ @missing a@inner", want: "@ @missing a@inner"},
		{args: "@self", err: "contains itself"},
		{args: "@ping", err: "contains itself"},
		{args: "@deep0", err: "nested"},
		{args: "@deep2", want: fmt.Sprint("@deep", maxResponseDepth+1)},
		{args: "@wide0", err: "more than"},
		{args: "@sub", err: "directory"},
		{args: "@big", err: "MiB"},
	} {
		got, err := Expand(strings.Fields(c.args))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want an error about %q", c.args, err, c.err)
			}
			continue
		}
		if s := strings.Join(got, " "); err != nil || s != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.args, s, err, c.want)
		}
	}
}

// TestExpandForCompiler: what compilers read in another way than LLVM's tools.
func TestExpandForCompiler(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "one", `-a @two "" -b`)
	write(t, "two", "x\v'y z'\f''")
	write(t, "loop", "-l @loop")
	oracle.NoError(t, os.Mkdir("folder", 0o777))
	got := ExpandForCompiler([]string{"cc", "@one", "@none", "@", "@folder", "@loop"})
	if want := []string{"cc", "-a", "x", "y z", "", "", "-b", "@none", "@", "@folder", "-l", "@loop"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzJoin(f *testing.F) {
	f.Add("a\x00b c\x00\"\\'\n")
	f.Fuzz(func(t *testing.T, joined string) {
		args := strings.Split(joined, "\x00")
		e := expander{compiler: true, spaces: " \t\r\n\f\v"}
		if got := e.split(Join(args)); !slices.Equal(got, args) {
			t.Errorf("%q came back as %q", args, got)
		}
	})
}

func FuzzSplitResponse(f *testing.F) {
	for _, c := range responseTests {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e := expander{spaces: " \t\r\n"}
		args := e.split(decodeText([]byte(text)))
		// Whatever came out comes out again when it is quoted.
		var quoted strings.Builder
		for i, arg := range args {
			if arg == "" {
				t.Errorf("empty argument %d", i)
			}
			escape := `\'`
			if i%2 == 0 {
				escape += "\"" + " \t\r\n"
			}
			q := strings.NewReplacer(pairs(escape)...).Replace(arg)
			if i%2 == 1 {
				q = "'" + q + "'"
			}
			quoted.WriteString(q + "\n")
		}
		if again := e.split(quoted.String()); !slices.Equal(again, args) {
			t.Errorf("%q became %q through %q", args, again, quoted.String())
		}
	})
}

// pairs gives every byte of s and that byte after a backslash.
func pairs(s string) (p []string) {
	for _, c := range s {
		p = append(p, string(c), `\`+string(c))
	}
	return p
}

func write(t testing.TB, name, contents string) {
	t.Helper()
	oracle.WriteFile(t, name, []byte(contents))
}
