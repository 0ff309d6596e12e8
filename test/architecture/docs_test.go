package architecture_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// The program of docs/library.md does what is said of it.
func TestLibraryProgram(t *testing.T) {
	text := oracle.ReadFile(t, filepath.Join("..", "..", "docs", "library.md"))
	_, program, found := strings.Cut(string(text), "```go\n")
	program, _, closed := strings.Cut(program, "```\n")
	if !found || !closed {
		t.Fatal("docs/library.md has no program")
	}
	file := filepath.Join(t.TempDir(), "main.go")
	oracle.WriteFile(t, file, []byte(program))
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

// A document is a file of text in the repository.
type document struct {
	path string // as tree has it
	text string
}

// resolve returns a path that the document has, from the tests' folder.
func (d document) resolve(name string) string {
	return filepath.Join(root, filepath.Dir(d.path), filepath.FromSlash(name))
}

var root = filepath.Join("..", "..")

// tree lists the files of the repository, from its root and with slashes.
func tree(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, file)
		rel = filepath.ToSlash(rel)
		if err == nil && d.IsDir() && (d.Name() == "node_modules" || slices.Contains([]string{".git", "bin", "dist"}, rel)) {
			return fs.SkipDir
		}
		if err == nil && !d.IsDir() {
			files = append(files, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func documents(t *testing.T) (docs []document) {
	t.Helper()
	for _, file := range tree(t) {
		if path.Ext(file) == ".md" {
			text := oracle.ReadFile(t, filepath.Join(root, file))
			docs = append(docs, document{file, string(text)})
		}
	}
	return docs
}

var (
	linkText    = regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)
	headingText = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnchor = regexp.MustCompile(`[^\pL\pN_ -]`)
)

func anchors(text string) (list []string) {
	for _, m := range headingText.FindAllStringSubmatch(text, -1) {
		name := notInAnchor.ReplaceAllString(strings.ToLower(m[1]), "")
		list = append(list, "#"+strings.ReplaceAll(name, " ", "-"))
	}
	return list
}

// Relative links in documents lead somewhere.
func TestLinks(t *testing.T) {
	links := 0
	for _, doc := range documents(t) {
		for _, m := range linkText.FindAllStringSubmatch(doc.text, -1) {
			links++
			to, text := doc.path, doc.text
			if m[1] != "" {
				to = doc.resolve(m[1])
				b, err := os.ReadFile(to)
				if err != nil {
					t.Errorf("%s: %v", doc.path, err)
					continue
				}
				text = string(b)
			}
			if m[2] != "" && !slices.Contains(anchors(text), m[2]) {
				t.Errorf("%s: no %s in %s", doc.path, m[2], to)
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links", links)
	}
}

// namedFile finds file names: single words of code, and documents anywhere.
var namedFile = regexp.MustCompile("`([\\w*][\\w./*-]*\\.\\w+)`|\\b(docs/[\\w-]+\\.\\w+)")

// Files that documents name are there: sources anywhere in the tree, by their names or the ends of their paths;
// what READMEs of test data name, in their folder. NAME and KIND stand for anything there.
func TestFilesOfDocuments(t *testing.T) {
	sources := strings.Fields("c cpp go h java js json md py rs s sh txtar")
	data := strings.Fields("debug elf iprof memprofraw mip mipmap mipraw profdata profraw proftext yaml")
	anything := strings.NewReplacer("NAME", "*", "KIND", "*")
	files := tree(t)
	named := 0
	for _, doc := range documents(t) {
		if doc.path == "CHANGELOG.md" {
			continue // what was named then may be gone
		}
		for _, m := range namedFile.FindAllStringSubmatch(doc.text, -1) {
			name := m[1] + m[2]
			ext := path.Ext(name)[1:]
			if strings.HasPrefix(name, "JOB/") {
				continue // of a fleet
			}
			isSource := slices.Contains(sources, ext)
			if !isSource && !(slices.Contains(data, ext) && strings.Contains(doc.path, "testdata/")) {
				continue
			}
			named++
			isNamed := func(file string) bool { return file == name || strings.HasSuffix(file, "/"+name) }
			if isSource && slices.ContainsFunc(files, isNamed) {
				continue
			}
			pattern := anything.Replace(name)
			if !found(doc.resolve(pattern), doc.resolve("*/"+pattern), doc.resolve("*/*/"+pattern)) {
				t.Errorf("%s: no %s", doc.path, name)
			}
		}
	}
	if named < 300 {
		t.Errorf("only %d files are named", named)
	}
}

func found(patterns ...string) bool {
	for _, p := range patterns {
		if files, _ := filepath.Glob(p); len(files) > 0 {
			return true
		}
	}
	return false
}
