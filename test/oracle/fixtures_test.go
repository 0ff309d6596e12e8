package oracle

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The repository carries every fixture, so they stay small.
const (
	maxFixture = 16 << 10
	maxTotal   = 1500 << 10
)

// TestFixturesListTheFolder: fixtures.json and the folder name the same files, and each file is what its entry says.
func TestFixturesListTheFolder(t *testing.T) {
	listed := map[string]bool{}
	total := 0
	for _, f := range Fixtures(t) {
		if listed[f.Path] {
			t.Errorf("%s is listed twice", f.Path)
		}
		listed[f.Path] = true
		b := f.Bytes(t)
		total += len(b)
		if len(b) > maxFixture {
			t.Errorf("%s has %d bytes, more than %d", f.Path, len(b), maxFixture)
		}
		if format, version := identify(b); format != f.Format || version != f.Version {
			t.Errorf("%s is %s version %d, listed as %s version %d", f.Path, format, version, f.Format, f.Version)
		}
		if want := path.Dir(f.Path); f.Producer != want {
			t.Errorf("%s: producer %q, want %q", f.Path, f.Producer, want)
		}
		if f.Variant == "" || !strings.HasPrefix(path.Base(f.Path), f.Variant) {
			t.Errorf("%s: variant %q is not the beginning of its name", f.Path, f.Variant)
		}
		if (f.Error == "") != f.Readable(22) {
			t.Errorf("%s: read by %v, but LLVM 22 says %q", f.Path, f.ReadableBy, f.Error)
		}
	}
	if total > maxTotal {
		t.Errorf("the fixtures have %d bytes together, more than %d", total, maxTotal)
	}

	dir := filepath.Join(Root(t), "testdata", "irpgo")
	for _, folder := range []string{"clang*", "rustc*", "llvm*", "text"} {
		files := Must(filepath.Glob(filepath.Join(dir, folder, "*")))(t)
		for _, file := range files {
			rel, _ := filepath.Rel(dir, file)
			if !listed[filepath.ToSlash(rel)] {
				t.Errorf("%s is not in fixtures.json: run build/scripts/make-irpgo-testdata.sh", rel)
			}
		}
	}
}

// identify reads format and version from the first bytes; the fixtures are all little-endian.
func identify(b []byte) (format string, version int) {
	if len(b) == 0 {
		return "empty", 0
	}
	if len(b) < 16 {
		return "text", 0
	}
	version = int(binary.LittleEndian.Uint32(b[8:]))
	switch binary.LittleEndian.Uint64(b) {
	case 0xff6c70726f667281, 0xff6c70726f665281:
		return "raw", version
	case 0x8169666f72706cff:
		return "indexed", version
	}
	return "text", 0
}

// TestFixturesNameNoMachinePaths: a path of the machine that made a fixture would make it differ from machine to machine.
func TestFixturesNameNoMachinePaths(t *testing.T) {
	for _, f := range Fixtures(t) {
		for _, dir := range []string{"/tmp/", "/home/", "/root/"} {
			if strings.Contains(string(f.Bytes(t)), dir) {
				t.Errorf("%s contains %s", f.Path, dir)
			}
		}
	}
}

// TestFixturesNotReadBy repeats what fixtures.json claims of profiles that a tool does not read, and of empty ones,
// with the tools that are installed here. TestFixtureBytes of package irpgo merges those that it reads.
func TestFixturesNotReadBy(t *testing.T) {
	for _, version := range []int{14, 16, 19, 22} {
		t.Run(fmt.Sprintf("llvm%d", version), func(t *testing.T) {
			Slow(t)
			t.Parallel()
			profdata := LLVM(t, version)
			out := filepath.Join(t.TempDir(), "merged.profdata")
			for _, f := range Fixtures(t) {
				if f.Readable(version) && f.Format != "empty" {
					continue
				}
				_, stderr, code := Run(t, profdata, "merge", f.File(), "-o", out)
				if (code == 0) != f.Readable(version) {
					t.Errorf("%s: exit code %d, listed as read by %v\n%s", f.Path, code, f.ReadableBy, stderr)
				}
				warned := code == 0 && stderr != ""
				if warned != slices.Contains(f.WarnedBy, version) {
					t.Errorf("%s: warned is %t, listed as warned by %v\n%s", f.Path, warned, f.WarnedBy, stderr)
				}
				if version == 22 && f.Error != "" && !strings.Contains(stderr, f.Error) {
					t.Errorf("%s: LLVM 22 said %q, listed as %q", f.Path, stderr, f.Error)
				}
			}
		})
	}
}

// TestSamplesFollowTheFolder: Samples skips without the folder, even where tools are required, and returns it otherwise.
func TestSamplesFollowTheFolder(t *testing.T) {
	t.Setenv(RequireEnv, "1")
	_, err := fs.Stat(os.DirFS(filepath.Dir(Root(t))), "shared/samples")
	p := ends(t, func(t testing.TB) { Samples(t) })
	if p.failed != "" {
		t.Errorf("Samples failed: %s", p.failed)
	}
	if skipped := p.skipped != ""; skipped != (err != nil) {
		t.Errorf("Samples skipped with %q; the folder: %v", p.skipped, err)
	}
}
