package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// How long a file and a function may be, in lines. Tests have longer ones: tables.
const (
	maxFile     = 500
	maxFunction = 80
)

// TestSizes: a file has one subject, and a function one thing to do.
func TestSizes(t *testing.T) {
	for _, file := range tree(t) {
		if path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || strings.Contains(file, "testdata/") {
			continue
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, filepath.Join(root, file), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if n := set.Position(parsed.End()).Line; n > maxFile {
			t.Errorf("%s has %d lines, at most %d are allowed", file, n, maxFile)
		}
		for _, decl := range parsed.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1; n > maxFunction {
				t.Errorf("%s: function %s has %d lines, at most %d are allowed", file, f.Name.Name, n, maxFunction)
			}
		}
	}
}

// Which share of the lines of a folder may be comments, empty lines apart. Less leaves units, limits
// and reasons unsaid; more retells the code. Smaller folders may have any share.
const (
	minComments, maxComments = 0.12, 0.25

	smallFolder = 150
)

// TestCommentDensity: lines that are comments alone, of Go files that are no tests.
func TestCommentDensity(t *testing.T) {
	type lines struct{ comments, all int }
	folders := make(map[string]*lines)
	for _, file := range tree(t) {
		if path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || strings.Contains(file, "testdata/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		folder := path.Dir(file)
		if folders[folder] == nil {
			folders[folder] = new(lines)
		}
		n := folders[folder]
		inside := false // a comment that begins with a slash and a star
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			n.all++
			if inside = inside || strings.HasPrefix(line, "/*"); inside || strings.HasPrefix(line, "//") {
				n.comments++
			}
			inside = inside && !strings.Contains(line, "*/")
		}
	}
	for folder, n := range folders {
		if share := float64(n.comments) / float64(n.all); n.all > smallFolder && (share < minComments || share > maxComments) {
			t.Errorf("%s: %d of %d lines are comments, %.3f: want %.2f to %.2f", folder, n.comments, n.all, share, minComments, maxComments)
		}
	}
}
