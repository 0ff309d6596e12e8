package irpgo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestCompilersAccept has the compilers that made the raw fixtures read the
// merged profile: no warning, and the branch weights are there.
func TestCompilersAccept(t *testing.T) {
	root := oracle.Root(t)
	src := filepath.Join(root, "testdata", "irpgo")
	store := []string{"src/store.c", "src/main.c", "src/report.cpp"}
	type build struct {
		inputs []string // in the compiler's folder
		flags  []string
		files  []string
	}
	builds := []build{
		{[]string{"ir-run1", "ir-run2", "ir-run3"}, []string{"-O2", "-fprofile-use=PROFILE"}, store},
		{[]string{"fe"}, []string{"-O2", "-fprofile-instr-use=PROFILE"}, store},
		{[]string{"ir", "cs"}, []string{"-O2", "-fprofile-use=PROFILE"}, store},
		{[]string{"ir-32bit"}, []string{"-m32", "-O2", "-fprofile-use=PROFILE"}, store[:2]},
		{[]string{"dispatch"}, []string{"-O2", "-fprofile-use=PROFILE"}, []string{"src/dispatch.c"}},
		{[]string{"dispatch-all"}, []string{"-O2", "-fprofile-use=PROFILE"}, []string{"src/dispatch.c"}},
		{[]string{"temporal-run1", "temporal-run2"}, []string{"-O2", "-fprofile-use=PROFILE"}, []string{"src/phases.c"}},
		{[]string{"ir-block-coverage"}, []string{"-O2", "-fprofile-use=PROFILE"}, store},
		{[]string{"ir-vtable"}, []string{"-O2", "-fprofile-use=PROFILE"}, store},
	}
	for _, release := range []int{14, 16, 19, 22} {
		clang := oracle.Tool(t, fmt.Sprint("clang-", release))
		for _, b := range builds {
			dir := filepath.Join(src, fmt.Sprint("clang", release))
			if _, err := os.Stat(filepath.Join(dir, b.inputs[0]+".profraw")); err != nil {
				continue // this release cannot make the variant
			}
			t.Run(fmt.Sprintf("clang%d/%s", release, b.inputs[0]), func(t *testing.T) {
				if release != 22 || b.inputs[0] != "ir-run1" && b.inputs[0] != "fe" {
					oracle.Slow(t)
				}
				t.Parallel()
				profile := mergeForCompiler(t, dir, b.inputs)
				for _, file := range b.files {
					args := []string{"-S", "-emit-llvm", "-Wall", "-Wprofile-instr-missing", "-o", "-", file}
					for _, f := range b.flags {
						args = append(args, strings.Replace(f, "PROFILE", profile, 1))
					}
					stdout, stderr, code := oracle.RunIn(t, src, clang, args...)
					if code != 0 || stderr != "" {
						t.Errorf("%s exits %d: %s", file, code, stderr)
					}
					if !strings.Contains(stdout, "!\"ProfileSummary\"") || !strings.Contains(stdout, "function_entry_count") {
						t.Errorf("%s: the compiler did not use the profile", file)
					}
				}
			})
		}
	}
}

// mergeForCompiler merges raw fixtures into an indexed file of the version that chooseVersion finds.
func mergeForCompiler(t *testing.T, dir string, inputs []string) string {
	t.Helper()
	m := NewMerger(MergeOptions{})
	var infos []*Info
	for _, in := range inputs {
		name := filepath.Join(dir, in+".profraw")
		data := oracle.ReadFile(t, name)
		r := openReader(t, name, data, ReaderOptions{})
		addTo(t, m, r, 1)
		infos = append(infos, r.Info)
	}
	p := m.Finish().Profile()
	file := indexedBytes(t, p, IndexedOptions{Version: chooseVersion(p, p.hashes, infos).version})
	out := filepath.Join(t.TempDir(), "out.profdata")
	oracle.WriteFile(t, out, file)
	return out
}

// TestRustcAccepts has rustc read the profile of a Rust program.
func TestRustcAccepts(t *testing.T) {
	rustc := oracle.Tool(t, "rustc")
	src := filepath.Join(oracle.Root(t), "testdata", "irpgo")
	dirs, err := filepath.Glob(filepath.Join(src, "rustc*"))
	if err != nil || len(dirs) == 0 {
		t.Fatal("no rustc fixtures", err)
	}
	profile := mergeForCompiler(t, dirs[0], []string{"generate-run1", "generate-run2"})
	_, stderr, code := oracle.RunIn(t, src, rustc, "--edition", "2021", "-O", "-C", "profile-use="+profile,
		"-C", "link-arg=-fuse-ld=bfd", "-o", filepath.Join(t.TempDir(), "ledger"), "src/ledger.rs")
	if code != 0 || stderr != "" {
		t.Errorf("rustc exits %d: %s", code, stderr)
	}
}
