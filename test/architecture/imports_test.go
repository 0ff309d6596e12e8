// Package architecture_test holds the source itself to what docs/architecture.md says of it.
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

// layers lists the packages from the ground up. A package imports only packages of the lines above its own.
// FOLDER/* stands for the packages of a folder that no line names: a new format and its commands need no line.
var layers = [][]string{
	{"internal/saturate", "internal/tally", "docs/schema"},
	{"profile"},
	{"internal/addup", "internal/flaw", "internal/files/screen", "internal/llvm/discriminator", "internal/llvm/guid", "internal/llvm/llvmerr"},
	{
		"internal/numbering", "internal/pagestyle", "internal/parallel", "internal/slab", "internal/sourcepath", "internal/symbols",
		"internal/files/atomicfile", "internal/files/filelock", "internal/files/packing",
		"internal/llvm/llvmjson", "internal/llvm/llvmorder", "internal/llvm/mt19937", "internal/llvm/remapping", "internal/llvm/summary",
		"internal/llvm/zlibtext",
	},
	{"internal/cursor", "internal/llvm/partition", "internal/files/responsefile", "internal/files/store", "internal/llvm/llvmyaml", "inputs"},
	{"internal/llvm/hashtable", "internal/program/decode", "internal/program/object", "internal/program/dwarf", "internal/program/pseudoprobe"},
	{"symbolize", "internal/program/classfile", "profile/order", "profile/coverage"},
	{"formats/*"},
	{"profgen"},
	{"formats/irpgo", "internal/mip/blocks", "internal/mip/buildid", "internal/mip/runtime", "internal/mip/asm"},
	{"internal/program/covmap", "internal/mip/debuginfo", "internal/mip/split"},
	{"internal/mip/instrument"},
	{"formats", "profile/export", "profile/compare", "internal/watch", "merge"},
	{"profile/report"},
	{"internal/command/ui/interrupt", "internal/memlimit"},
	{"internal/command/ui/cli", "internal/dropin/ere", "internal/dropin/withcolor", "internal/command/cc"},
	{"internal/dropin/clopt"},
	{"internal/dropin/profdata", "internal/dropin/cov", "internal/dropin/mipdata", "internal/dropin/profgen", "internal/command/ui/console"},
	{"internal/command/sources", "internal/command/doctorcmd"},
	{"internal/command/merging"},
	{"internal/command/family", "internal/command/ordercmd"},
	{"internal/fleet"},
	{"internal/command/family/memprofcmd"},
	{"internal/command/family/*"},
	{"internal/command/families"},
	{"internal/command/coveragecmd", "internal/command/fleetcmd"},
	{"internal/command"},
	{"cmd/profuse"},
}

// isFormat reports whether a package is of one format. The packages above read formats through profile.View alone.
func isFormat(pkg string) bool {
	return strings.HasPrefix(pkg, "formats/") || pkg == "internal/program/covmap"
}

// neutral packages know no format.
var neutral = []string{
	"profile/coverage", "profile/export", "profile/compare", "profile/report", "profile/order", "internal/watch", "merge",
	"internal/command", "internal/command/coveragecmd", "internal/command/fleetcmd", "internal/command/ordercmd", "internal/command/merging",
	"internal/command/family", "internal/command/ui/console",
}

// forTests are packages that only tests import.
var forTests = []string{"test/oracle", "test/fulldisk", "test/hostile", "test/alike", "internal/files/store/storetest"}

// packages yields the module's packages, each with the files of a kind and what they import of the module.
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
			case slices.Contains([]string{"bin", "build", "bench", "fleet", "test/browser"}, rel), rel != "." && rel[0] == '.',
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
	heights := make(map[string]int)
	for i, layer := range layers {
		for _, pkg := range layer {
			heights[pkg] = i
		}
	}
	heightOf := func(pkg string) (int, bool) {
		if h, ok := heights[pkg]; ok {
			return h, true
		}
		h, ok := heights[path.Dir(pkg)+"/*"]
		return h, ok
	}
	for pkg, files := range packages(t, false) {
		own, ok := heightOf(pkg)
		if slices.Contains(forTests, pkg) {
			continue
		}
		if !ok {
			t.Errorf("package %s stands in no layer", pkg)
			continue
		}
		for file, imports := range files {
			for _, imported := range imports {
				h, ok := heightOf(imported)
				switch {
				case !ok:
					t.Errorf("%s imports %s, which stands in no layer", file, imported)
				case h >= own:
					t.Errorf("%s imports %s, which does not stand below %s", file, imported, pkg)
				case slices.Contains(neutral, pkg) && isFormat(imported):
					t.Errorf("%s imports %s: package %s is for all formats alike", file, imported, pkg)
				}
			}
		}
	}
}

// Tests may use what they like, the real tools included; programs may not.
func TestPackagesForTests(t *testing.T) {
	for pkg, files := range packages(t, false) {
		if slices.Contains(forTests, pkg) {
			continue
		}
		for file, imports := range files {
			for _, imported := range imports {
				if slices.Contains(forTests, imported) {
					t.Errorf("%s imports %s", file, imported)
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
