package architecture_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// maxExported is how many names the public packages may promise: functions,
// types, methods of exported types, constants and variables. Fields do not
// count. It only ever goes down; a new family of formats raises it by what the test logs.
const maxExported = 692

// TestExportedNames: the public packages promise no more names than they must, and each has a comment.
func TestExportedNames(t *testing.T) {
	names := make(map[string]map[string]bool) // by package: one name may have a file for each system
	public := packages(t, false)
	for _, file := range tree(t) {
		pkg := path.Dir(file)
		if public[pkg] == nil || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || !isPublic(pkg) {
			continue
		}
		parsed := oracle.Must(parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ParseComments))(t)
		if names[pkg] == nil {
			names[pkg] = make(map[string]bool)
		}
		for _, decl := range parsed.Decls {
			for name, commented := range namesOf(decl) {
				names[pkg][name] = true
				if !commented {
					t.Errorf("%s: %s has no comment", file, name)
				}
			}
		}
	}
	total := 0
	var counts []string
	for pkg, of := range names {
		total += len(of)
		counts = append(counts, fmt.Sprintf("%s %d", pkg, len(of)))
	}
	slices.Sort(counts)
	t.Logf("%d exported names: %s", total, strings.Join(counts, ", "))
	if total > maxExported {
		t.Errorf("%d exported names, at most %d are allowed", total, maxExported)
	}
}

// namesOf returns the exported names of a declaration, and whether a comment goes with each: its own, or that of its group.
func namesOf(decl ast.Decl) map[string]bool {
	names := make(map[string]bool)
	switch d := decl.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			receiver := receiverOf(d.Recv.List[0].Type)
			if !ast.IsExported(receiver) {
				break
			}
			name = receiver + "." + name
		}
		if d.Name.IsExported() {
			names[name] = d.Doc != nil
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					names[s.Name.Name] = d.Doc != nil || s.Doc != nil
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() {
						names[name.Name] = d.Doc != nil || s.Doc != nil || s.Comment != nil
					}
				}
			}
		}
	}
	return names
}

func receiverOf(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.StarExpr:
		return receiverOf(x.X)
	case *ast.IndexExpr:
		return receiverOf(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}
