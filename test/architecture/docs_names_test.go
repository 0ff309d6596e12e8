package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// section returns the text from one heading of a document to the next.
func (d document) section(heading string) string {
	_, rest, _ := strings.Cut(d.text, "\n"+heading+"\n")
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

func readDocument(t *testing.T, name string) document {
	t.Helper()
	text := oracle.ReadFile(t, filepath.Join(root, filepath.FromSlash(name)))
	return document{name, string(text)}
}

// docs/architecture.md lists all packages, and nothing that is not there. A
// line that is indented goes on from the last one that is not.
func TestPackagesOfDocument(t *testing.T) {
	line := regexp.MustCompile(`(?m)^( *)([\w/]+)  `)
	var listed []string
	above := ""
	_, list, _ := strings.Cut(readDocument(t, "docs/architecture.md").section("## Packages"), "```\n")
	list, _, _ = strings.Cut(list, "```\n")
	for _, m := range line.FindAllStringSubmatch(list, -1) {
		name := path.Clean(m[2])
		if m[1] == "" {
			above = name
		} else {
			name = path.Join(above, name)
		}
		listed = append(listed, name)
		if !found(filepath.Join(root, name)) {
			t.Errorf("no folder %s", name)
		}
	}
	for pkg := range packages(t, false) {
		if !slices.Contains(listed, pkg) {
			t.Errorf("package %s is not listed", pkg)
		}
	}
}

// Each table "Package NAME" of docs/architecture.md lists all files of formats/NAME.
func TestPackageFilesOfDocument(t *testing.T) {
	doc := readDocument(t, "docs/architecture.md")
	heading := regexp.MustCompile(`(?m)^## Package (\w+)$`)
	goFile := regexp.MustCompile("`(\\w+\\.go)`")
	tables := heading.FindAllStringSubmatch(doc.text, -1)
	if len(tables) < 4 {
		t.Errorf("tables %q", tables)
	}
	for _, m := range tables {
		var listed []string
		for _, f := range goFile.FindAllStringSubmatch(doc.section(m[0]), -1) {
			listed = append(listed, f[1])
		}
		files := oracle.Must(filepath.Glob(filepath.Join(root, "formats", m[1], "*.go")))(t)
		for _, file := range files {
			name := filepath.Base(file)
			if !strings.HasSuffix(name, "_test.go") && name != "doc.go" && !slices.Contains(listed, name) {
				t.Errorf("formats/%s/%s is not listed", m[1], name)
			}
		}
		for _, name := range listed {
			if !found(filepath.Join(root, "formats", m[1], name)) {
				t.Errorf("no formats/%s/%s", m[1], name)
			}
		}
	}
}

// What documents say of packages to use is in them: package.Name anywhere in
// code, and in docs/library.md the table of where to begin.
func TestNamesOfDocuments(t *testing.T) {
	exported := make(map[string][]string) // by package
	for pkg := range packages(t, false) {
		if isPublic(pkg) {
			exported[path.Base(pkg)] = exportedNames(t, pkg)
		}
	}
	inCode := regexp.MustCompile("`[^`\n]*`|(?m)^    .*$")
	qualified := regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w+)`)
	checked := 0
	for _, doc := range documents(t) {
		for _, code := range inCode.FindAllString(doc.text, -1) {
			for _, m := range qualified.FindAllStringSubmatch(code, -1) {
				if names, ok := exported[m[1]]; ok {
					checked++
					if !slices.Contains(names, m[2]) {
						t.Errorf("%s: no %s in package %s", doc.path, m[2], m[1])
					}
				}
			}
		}
	}
	row := regexp.MustCompile("(?m)^\\| .* \\| `(\\w+)` \\| (.*) \\|$")
	word := regexp.MustCompile("`(\\w+)`")
	for _, m := range row.FindAllStringSubmatch(readDocument(t, "docs/library.md").section("## Which package"), -1) {
		for _, name := range word.FindAllStringSubmatch(m[2], -1) {
			checked++
			if !slices.Contains(exported[m[1]], name[1]) {
				t.Errorf("docs/library.md: no %s in package %s", name[1], m[1])
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d names", checked)
	}
}

// exportedNames lists what a package declares at its top level.
func exportedNames(t *testing.T, pkg string) (names []string) {
	t.Helper()
	files := oracle.Must(filepath.Glob(filepath.Join(root, pkg, "*.go")))(t)
	for _, file := range files {
		parsed := oracle.Must(parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution))(t)
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					names = append(names, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						names = append(names, s.Name.Name)
					case *ast.ValueSpec:
						for _, n := range s.Names {
							names = append(names, n.Name)
						}
					}
				}
			}
		}
	}
	return names
}
