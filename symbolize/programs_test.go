package symbolize

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestFindPrograms finds a program by its build id among other files.
func TestFindPrograms(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(oracle.Root(t), "testdata", "mip", "all.elf")
	program := oracle.ReadFile(t, file)
	for name, data := range map[string][]byte{
		"a/program": program, "b/twin": program, "b/damaged": program[:100], "b/text": []byte("text"),
		"b/program.class": []byte("\xca\xfe\xba\xbe\x00\x00\x00\x34"), "b/empty": nil,
	} {
		name = filepath.Join(dir, name)
		oracle.WriteFile(t, name, data)
	}
	id := open(t, file, Options{}).BuildID
	programs, err := OpenPrograms([]string{dir, file}, Options{})
	oracle.NoError(t, err)
	defer programs.Close()
	want := []string{file, filepath.Join(dir, "a", "program"), filepath.Join(dir, "b", "twin")}
	find := func(id []byte) (paths []string, err error) {
		for f, err := range programs.Find(id) {
			if err != nil {
				return paths, err
			}
			paths = append(paths, f.Name)
		}
		return paths, nil
	}
	for range 2 { // the folders are gone through once
		if got, err := find(id); !slices.Equal(got, want) || err != nil {
			t.Errorf("found %q, %v, want %q", got, err, want)
		}
	}
	if got, err := programs.ByID(); len(got[""]) > 0 || !slices.Contains(got[string(id)], want[1]) || err != nil {
		t.Errorf("by build id: %q, %v", got, err)
	}
	for n := 1; n <= len(want); n++ {
		taken := 0
		for range programs.Find(id) {
			if taken++; taken == n {
				break
			}
		}
	}
	for _, none := range [][]byte{nil, {1, 2, 3}} {
		if got, err := find(none); got != nil || err != nil {
			t.Errorf("of build id %x there are %q, %v", none, got, err)
		}
	}
	if names := programs.Names; !slices.Equal(names, []string{file}) || len(programs.Files) != 1 || programs.Files[0].Name != file {
		t.Errorf("%d files of the names %q", len(programs.Files), names)
	}
	if got := programs.Folders; !slices.Equal(got, []string{dir}) {
		t.Errorf("the folders are %q", got)
	}

	// A name by the build id comes first, and a file counts once.
	digits := hex.EncodeToString(id)
	place := filepath.Join(dir, ".build-id", digits[:2], digits[2:]+".debug")
	oracle.WriteFile(t, place, program)
	if programs, err = OpenPrograms([]string{dir}, Options{}); err != nil {
		t.Fatal(err)
	}
	defer programs.Close()
	if got, err := find(id); !slices.Equal(got, append([]string{place}, want[1:]...)) || err != nil {
		t.Errorf("found %q, %v", got, err)
	}

	oracle.NoError(t, os.RemoveAll(filepath.Join(dir, "b")))
	gone := filepath.Join(dir, "gone")
	oracle.NoError(t, os.Mkdir(gone, 0o777))
	if programs, err = OpenPrograms([]string{gone}, Options{}); err != nil {
		t.Fatal(err)
	}
	defer programs.Close()
	oracle.NoError(t, os.Remove(gone))
	if _, err := find(id); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that has gone: %v", err)
	}
}

// TestOpenProgramsFails: what is given by name has to be there and a program; a bundle is no folder.
func TestOpenProgramsFails(t *testing.T) {
	dir := t.TempDir()
	bundle := filepath.Join(dir, "app.dSYM")
	oracle.NoError(t, os.Mkdir(bundle, 0o777))
	text := filepath.Join(dir, "text")
	oracle.WriteFile(t, text, []byte("text"))
	program := filepath.Join(oracle.Root(t), "testdata", "mip", "all.elf")
	for _, path := range []string{bundle, text, filepath.Join(dir, "missing")} {
		if p, err := OpenPrograms([]string{program, path}, Options{}); err == nil || p != nil {
			t.Errorf("%s is taken for a program", path)
		}
	}
	for range (&Programs{}).Find([]byte{1}) {
		t.Error("no programs have one")
	}
}
