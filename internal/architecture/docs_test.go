package architecture_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The program of docs/library.md does what is said of it.
func TestLibraryProgram(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "library.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, program, found := strings.Cut(string(text), "```go\n")
	program, _, closed := strings.Cut(program, "```\n")
	if !found || !closed {
		t.Fatal("docs/library.md has no program")
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", file)
	for _, run := range []string{"1", "2", "3"} {
		cmd.Args = append(cmd.Args, "testdata/irpgo/clang19/ir-run"+run+".profraw")
	}
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); len(lines) != 5 {
		t.Errorf("%d functions, want 5:\n%s", len(lines), out)
	}
	if !regexp.MustCompile(`^ +[1-9]\d*  \w`).Match(out) {
		t.Errorf("not a count and a name:\n%s", out)
	}
}

// Relative links in documents lead somewhere.
func TestLinks(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"), filepath.Join(root, "bench", "README.md"))
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	named := regexp.MustCompile("`?\\b(docs/[\\w.-]+\\.(?:md|json))\\b")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), string(m[1]))); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
		for _, m := range named.FindAllSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, string(m[1]))); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}
