package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestOneBuilderOfErrors: errors about profiles are made by flaw.At, In and File, so that none lacks what the others have.
func TestOneBuilderOfErrors(t *testing.T) {
	for pkg, files := range packages(t, false) {
		if pkg == "internal/flaw" {
			continue
		}
		for file := range files {
			set := token.NewFileSet()
			parsed := oracle.Must(parser.ParseFile(set, filepath.Join(root, file), nil, parser.SkipObjectResolution))(t)
			ast.Inspect(parsed, func(n ast.Node) bool {
				if lit, ok := n.(*ast.CompositeLit); ok {
					if typ, ok := lit.Type.(*ast.SelectorExpr); ok && typ.Sel.Name == "FormatError" {
						t.Errorf("%s makes a FormatError of its own", set.Position(lit.Pos()))
					}
				}
				return true
			})
		}
	}
}
