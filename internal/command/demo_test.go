package command

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestDemoFiles: the files of "profuse demo" are the fixtures that the compiler made.
func TestDemoFiles(t *testing.T) {
	fixtures := filepath.Join(oracle.Root(t), "testdata", "irpgo")
	files := 0
	err := fs.WalkDir(demoFiles, "demo", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		fixture := strings.TrimPrefix(name, "demo/")
		if strings.HasSuffix(name, ".profraw") {
			fixture = "clang22/ir-" + fixture
		}
		have, err := demoFiles.ReadFile(name)
		if err != nil {
			return err
		}
		want, err := os.ReadFile(filepath.Join(fixtures, filepath.FromSlash(fixture)))
		if err != nil {
			return err
		}
		if !bytes.Equal(have, want) {
			t.Errorf("%s differs from %s", name, fixture)
		}
		return nil
	})
	if err != nil || files != 7 {
		t.Errorf("%d files, %v", files, err)
	}
}
