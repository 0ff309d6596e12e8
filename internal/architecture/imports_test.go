// Package architecture_test holds the source itself to what docs/architecture.md
// says of it.
package architecture_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/profuse-pgo/profuse"

// layers lists the packages from the ground up. A package imports only what
// stands in a line above its own, or below its own folder.
var layers = [][]string{
	{"internal/saturate", "internal/tally", "docs/schema"},
	{"internal/schema"},
	{"profile"},
	{"internal/addup", "internal/flaw", "internal/guid", "internal/llvmerr", "internal/screen"},
	{"internal/atomicfile", "internal/blake3", "internal/filelock", "internal/lazymap", "internal/llvmjson", "internal/llvmorder", "internal/mip/sign", "internal/mt19937", "internal/pagestyle", "internal/numbering", "internal/packing", "internal/parallel", "internal/slab", "internal/symbols", "internal/zlibtext"},
	{"internal/cursor", "internal/responsefile", "inputs", "internal/llvmyaml", "internal/store"},
	{"internal/object", "internal/ondisk", "internal/dwarf", "internal/pseudoprobe"},
	{"symbolize", "classfile", "layout", "coverage"},
	{"memprof", "mip", "iprof", "sampleprof"},
	{"irpgo", "internal/mip/blocks", "internal/mip/runtime", "internal/mip/asm"},
	{"internal/covmap", "internal/mip/debuginfo", "internal/mip/split"},
	{"internal/mip/instrument"},
	{"formats", "export", "compare", "internal/watch", "merge"},
	{"report"},
	{"internal/command/interrupt", "internal/command/memory"},
	{"internal/command/edit", "internal/command/ere", "internal/command/withcolor", "internal/command/driver"},
	{"internal/command/cli", "internal/command/clopt"},
	{"internal/command/llvmprofdata", "internal/command/llvmcov", "internal/command/llvmmipdata", "internal/command/console", "testdata"},
	{"internal/command/sources", "internal/command/doctorcmd"},
	{"internal/command/merging"},
	{"internal/command/family", "internal/command/ordering"},
	{"internal/command/fleet"},
	{"internal/command/memprofcmd"},
	{"internal/command/irpgocmd", "internal/command/mipcmd", "internal/command/iprofcmd", "internal/command/samplecmd"},
	{"internal/command"},
	{"cmd/profuse"},
}

// formatPackages are what the packages above them reach through profile.View
// alone.
var formatPackages = []string{"irpgo", "memprof", "mip", "iprof", "sampleprof", "internal/covmap"}

// neutral packages know no format.
var neutral = []string{
	"coverage", "export", "compare", "report", "internal/watch", "merge", "layout", "internal/command", "internal/command/console", "internal/command/merging",
	"internal/command/family", "internal/command/ordering",
}

// forTests are packages that only tests import.
var forTests = []string{"internal/oracle", "internal/fulldisk", "internal/store/storetest"}

// packages yields the module's packages, each with the files of a kind and what
// they import of the module.
func packages(t *testing.T, tests bool) map[string]map[string][]string {
	t.Helper()
	found := make(map[string]map[string][]string)
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, file)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			switch {
			case rel == "build", rel == "bench", rel == "browsertest", rel == "fleet", rel == "packaging", rel == "site", rel == "tools", rel != "." && rel[0] == '.',
				path.Base(rel) == "testdata" && rel != "testdata":
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(rel) != ".go" || strings.HasSuffix(rel, "_test.go") != tests {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := path.Dir(rel)
		if found[pkg] == nil {
			found[pkg] = make(map[string][]string)
		}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if own, ok := strings.CutPrefix(name, module+"/"); ok {
				found[pkg][rel] = append(found[pkg][rel], own)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestImportsGoDown(t *testing.T) {
	height := make(map[string]int)
	for i, layer := range layers {
		for _, pkg := range layer {
			height[pkg] = i
		}
	}
	for pkg, files := range packages(t, false) {
		own, ok := height[pkg]
		if slices.Contains(forTests, pkg) {
			continue
		}
		if !ok {
			t.Errorf("package %s stands in no layer", pkg)
			continue
		}
		for file, imports := range files {
			for _, imported := range imports {
				h, ok := height[imported]
				switch {
				case !ok:
					t.Errorf("%s imports %s, which stands in no layer", file, imported)
				case h >= own:
					t.Errorf("%s imports %s, which does not stand below %s", file, imported, pkg)
				case slices.Contains(neutral, pkg) && slices.Contains(formatPackages, imported):
					t.Errorf("%s imports %s: package %s is for all formats alike", file, imported, pkg)
				}
			}
		}
	}
}

// Tests may use what they like, the real tools included; programs may not.
func TestPackagesForTests(t *testing.T) {
	for _, files := range packages(t, false) {
		for file, imports := range files {
			for _, pkg := range forTests {
				if slices.Contains(imports, pkg) {
					t.Errorf("%s imports %s", file, pkg)
				}
			}
		}
	}
}

func TestPackageNames(t *testing.T) {
	for pkg := range packages(t, false) {
		switch path.Base(pkg) {
		case "util", "utils", "common", "helpers", "misc", "shared":
			t.Errorf("package %s does not say what it is for", pkg)
		}
	}
}
