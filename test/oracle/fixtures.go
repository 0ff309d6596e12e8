package oracle

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A Fixture is one profile of testdata/irpgo, as fixtures.json describes it. The script that makes the profiles
// found ReadableBy, WarnedBy and Error by running each llvm-profdata on each file.
type Fixture struct {
	// Path is relative to testdata/irpgo, with slashes: clang22/ir-run1.profraw.
	Path string `json:"path"`
	// Producer names the folder: the tool and version that wrote the file, or "text" for the text profiles.
	Producer string `json:"producer"`
	// Variant says how it was made; README.md explains each one. The runs of one
	// program share it: ir-run for ir-run1, ir-run2 and ir-run3.
	Variant string `json:"variant"`
	// Format is "raw", "indexed", "text", or "empty" for a file of zero bytes.
	Format string `json:"format"`
	// Version is the format version in the header without its flag bits, 0 for text.
	Version int `json:"version"`
	// ReadableBy lists the LLVM releases whose "llvm-profdata merge" of this one file ends with exit code 0.
	ReadableBy []int `json:"readable_by"`
	// WarnedBy lists the releases of ReadableBy that print a warning.
	WarnedBy []int `json:"warned_by"`
	// Error is what LLVM 22 says when it refuses the file, without the program's and the file's name. Empty when it reads it.
	Error string `json:"error,omitempty"`

	dir string
}

// File returns the path of the fixture for opening it.
func (f Fixture) File() string { return filepath.Join(f.dir, filepath.FromSlash(f.Path)) }

// Readable reports whether llvm-profdata of the LLVM release reads the file.
func (f Fixture) Readable(version int) bool { return slices.Contains(f.ReadableBy, version) }

// Bytes returns the contents of the fixture.
func (f Fixture) Bytes(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(f.File())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Fixtures returns every profile of testdata/irpgo, sorted by path. The
// profiles are part of the repository: when they cannot be read the test fails.
func Fixtures(t testing.TB) []Fixture {
	t.Helper()
	dir := filepath.Join(Root(t), "testdata", "irpgo")
	b, err := os.ReadFile(filepath.Join(dir, "fixtures.json"))
	if err != nil {
		t.Fatal(err)
	}
	var fixtures []Fixture
	if err := json.Unmarshal(b, &fixtures); err != nil {
		t.Fatalf("fixtures.json: %v", err)
	}
	for i := range fixtures {
		fixtures[i].dir = dir
	}
	return fixtures
}

// Written returns what write writes.
func Written(write func(w io.Writer) error) ([]byte, error) {
	var b bytes.Buffer
	err := write(&b)
	return b.Bytes(), err
}
