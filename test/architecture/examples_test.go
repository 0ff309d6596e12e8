package architecture_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// isPublic reports whether a package is for programs that import the library.
func isPublic(pkg string) bool {
	return pkg != "docs/schema" && !slices.Contains(strings.Split(pkg, "/"), "internal") && !strings.HasPrefix(pkg, "cmd/") && !strings.HasPrefix(pkg, "test/")
}

// TestPublicPackages: a package of the library says what it is, and shows how it is begun with in an example that go test runs.
func TestPublicPackages(t *testing.T) {
	for pkg := range packages(t, false) {
		if !isPublic(pkg) {
			continue
		}
		files := oracle.Must(filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pkg), "*.go")))(t)
		var tests []*ast.File
		about := ""
		for _, file := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			switch {
			case err != nil:
				t.Fatal(err)
			case strings.HasSuffix(file, "_test.go"):
				tests = append(tests, parsed)
			case parsed.Doc != nil:
				about += parsed.Doc.Text()
			}
		}
		if !strings.HasPrefix(about, "Package "+pkg[strings.LastIndexByte(pkg, '/')+1:]+" ") || strings.Count(about, "\n") < 5 {
			t.Errorf("package %s says of itself only %q", pkg, about)
		}
		if !slices.ContainsFunc(doc.Examples(tests...), func(e *doc.Example) bool { return e.Name == "" && e.Output != "" }) {
			t.Errorf("package %s has no example of itself with an output", pkg)
		}
	}
}
