package mipdata

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestBinaryFile resolves dSYM bundles.
func TestBinaryFile(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "app.dSYM")
	dir := filepath.Join(bundle, "Contents", "Resources", "DWARF")
	if _, err := binaryFile(bundle); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		got, err := binaryFile(bundle)
		if n == 1 {
			if want := filepath.Join(dir, "app0"); err != nil || got != want {
				t.Errorf("got %s, error %v; want %s", got, err, want)
			}
		} else if want := fmt.Sprintf("Cannot handle %d objects in %s", n, bundle); !errors.Is(err, profile.ErrUnsupported) ||
			!slices.Equal(llvmerr.MIPMessages(err), []string{want}) {
			t.Errorf("%d objects: %v %q", n, err, llvmerr.MIPMessages(err))
		}
		file := filepath.Join(dir, fmt.Sprint("app", n))
		oracle.WriteFile(t, file, nil)
		if got, err := binaryFile(file); err != nil || got != file {
			t.Errorf("got %s, error %v; want the file itself", got, err)
		}
	}
}
