package driver

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSplitResponse(t *testing.T) {
	for text, want := range map[string][]string{
		"":                       nil,
		" \n\t ":                 nil,
		"a b\nc":                 {"a", "b", "c"},
		`"a b" 'c d'`:            {"a b", "c d"},
		`a\ b \"c\"`:             {"a b", `"c"`},
		`-DX="a b"'c'd`:          {"-DX=a bcd"},
		`"" x ''`:                {"", "x", ""},
		`"a\"b" '\\'`:            {`a"b`, `\`},
		"a\\":                    {`a\`},
		`"unterminated and more`: {"unterminated and more"},
		"a\r\nb\r\n":             {"a", "b"},
	} {
		if got := splitResponse(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzJoinResponse(f *testing.F) {
	f.Add("a\x00b c\x00\"\\'\n")
	f.Fuzz(func(t *testing.T, joined string) {
		args := strings.Split(joined, "\x00")
		if got := splitResponse(joinResponse(args)); !slices.Equal(got, args) {
			t.Errorf("%q came back as %q", args, got)
		}
	})
}

func TestExpandResponseFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"one": "-a @two -b", "two": "x 'y z'", "loop": "-l @loop"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got := expandResponseFiles(dir, []string{"cc", "@one", "@none", "@"}, 0)
	if want := []string{"cc", "-a", "x", "y z", "-b", "@none", "@"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := expandResponseFiles(dir, []string{"@loop"}, 0); len(got) != maxResponseDepth+1 {
		t.Errorf("a file that names itself gives %d arguments", len(got))
	}
}
