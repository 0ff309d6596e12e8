package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// familyRooms are the folders that may name a family: the formats, the drop-in commands, and what
// the commands have for each family.
var familyRooms = []string{
	"formats/", "internal/program/covmap/", "internal/mip/", "internal/dropin/", "internal/command/cc/", "internal/command/families/",
	"internal/command/family/", "profgen/",
}

// familyExceptions are files that name a family all the same, with the reason.
var familyExceptions = map[string]string{
	"internal/command/doctorcmd/readable.go": "doctor is about the runtime of LLVM's profiles",
	"internal/command/merging/options.go":    "the family of what is unknown is IRPGO",
}

// TestFamiliesAreNamedAtHome: to add a family, its own packages, package families and package formats are touched,
// and no other file. What others need of a family they ask the view, or the parts that families give.
// [formats.Binary] names no family: programs are of all.
func TestFamiliesAreNamedAtHome(t *testing.T) {
	names := make(map[string]bool) // of families, as in texts
	for _, f := range formats.All() {
		names[string(f.Family())] = true
	}
	constants := formatConstants(t)
	used := make(map[string]bool)
	for _, files := range packages(t, false) {
		for file, imports := range files {
			if slices.ContainsFunc(familyRooms, func(room string) bool { return strings.HasPrefix(file, room) }) && path.Dir(file) != "internal/command/family" {
				continue
			}
			found := familiesIn(t, file, names, constants)
			for _, pkg := range imports {
				if isFormat(pkg) || strings.HasPrefix(pkg, "internal/mip/") {
					found = append(found, "imports "+pkg)
				}
			}
			if len(found) == 0 {
				continue
			}
			if used[file] = true; familyExceptions[file] == "" {
				t.Errorf("%s names a family: it %s", file, strings.Join(found, ", "))
			}
		}
	}
	for file := range familyExceptions {
		if !used[file] {
			t.Errorf("%s names no family: it is an exception for nothing", file)
		}
	}
}

// familiesIn returns how the code of a file names families: by constants of package formats, and by names in texts.
func familiesIn(t *testing.T, file string, names, constants map[string]bool) (found []string) {
	parsed := oracle.Must(parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, 0))(t)
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "formats" && constants[n.Sel.Name] {
				found = append(found, "has formats."+n.Sel.Name)
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && names[text] {
				found = append(found, "has the string "+n.Value)
			}
		}
		return true
	})
	return found
}

// formatConstants returns the constants of package formats that name a family or a format of one.
func formatConstants(t *testing.T) map[string]bool {
	t.Helper()
	parsed := oracle.Must(parser.ParseFile(token.NewFileSet(), filepath.Join(root, path.Join("formats", "formats.go")), nil, 0))(t)
	constants := make(map[string]bool)
	for _, d := range parsed.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
			for _, spec := range g.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					constants[name.Name] = name.Name != "Binary"
				}
			}
		}
	}
	if len(constants) < 10 {
		t.Fatalf("package formats has %d constants", len(constants))
	}
	return constants
}

// familyMarks are words of the files of a family, by its package. Only this package may look for them: package formats
// asks the families one after the other, so no family has to know what is another's.
var familyMarks = map[string][]string{
	"formats/cgdata":     {":outlined_hash_tree", ":stable_function_map"},
	"formats/ctxprof":    {"FlatProfiles"},
	"formats/iprof":      {"conditionalProfiles"},
	"formats/memprof":    {"HeapProfileRecords", "DataAccessProfiles"},
	"formats/sampleprof": {"!CFGChecksum: "},
}

// TestFamiliesKnowNoOther: no package has the words of another family's files in its code.
func TestFamiliesKnowNoOther(t *testing.T) {
	found := make(map[string]bool)
	ours := packages(t, false)
	for _, file := range tree(t) {
		pkg := path.Dir(file)
		// The drop-in commands speak as LLVM's tools, of all formats.
		if ours[pkg] == nil || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || strings.HasPrefix(pkg, "internal/dropin/") {
			continue
		}
		parsed := oracle.Must(parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, 0))(t)
		ast.Inspect(parsed, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(lit.Value)
			for home, marks := range familyMarks {
				for _, mark := range marks {
					switch at := strings.Contains(text, mark); {
					case !at:
					case pkg == home:
						found[mark] = true
					default:
						t.Errorf("%s has %q, a word of %s", file, mark, home)
					}
				}
			}
			return true
		})
	}
	for home, marks := range familyMarks {
		for _, mark := range marks {
			if !found[mark] {
				t.Errorf("%s has no word %q", home, mark)
			}
		}
	}
}
