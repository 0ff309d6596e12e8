package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
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
