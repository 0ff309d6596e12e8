package symbolize

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/internal/oracle"
)

// TestFolders finds a program by its build id among other files.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(oracle.Root(t), "testdata", "mip", "all.elf")
	program := readFile(t, file)
	for name, data := range map[string][]byte{
		"a/program": program, "b/twin": program, "b/damaged": program[:100], "b/text": []byte("text"),
		"b/program.class": []byte("\xca\xfe\xba\xbe\x00\x00\x00\x34"), "b/empty": nil,
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	id := open(t, file, Options{}).BuildID()
	digits := hex.EncodeToString(id)
	folders := NewFolders([]string{dir}, "")
	want := []string{
		filepath.Join(dir, ".build-id", digits[:2], digits[2:]+".debug"), filepath.Join(dir, ".build-id", digits[:2], digits[2:]),
		filepath.Join(dir, "a", "program"), filepath.Join(dir, "b", "twin"),
	}
	for range 2 { // the folders are gone through once
		var got []string
		for path, err := range folders.Find(id) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
	}
	for n := 1; n <= len(want); n++ {
		taken := 0
		for range folders.Find(id) {
			if taken++; taken == n {
				break
			}
		}
	}
	for path, err := range folders.Find(nil) {
		t.Errorf("without a build id %s, %v", path, err)
	}
	other := 0
	for range folders.Find([]byte{1, 2, 3}) {
		other++
	}
	if other != 2 {
		t.Errorf("%d places for a build id that no program has", other)
	}
	missing := NewFolders([]string{filepath.Join(dir, "missing")}, "")
	var last error
	for _, err := range missing.Find(id) {
		last = err
	}
	if !errors.Is(last, fs.ErrNotExist) {
		t.Errorf("a folder that is missing: %v", last)
	}
	bundle := filepath.Join(dir, "app.dSYM")
	if err := os.Mkdir(bundle, 0o777); err != nil {
		t.Fatal(err)
	}
	if !IsFolder(dir) || IsFolder(bundle) || IsFolder(filepath.Join(dir, "a", "program")) {
		t.Error("what is a folder and what is not")
	}
}
