package store_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/files/store"
	"github.com/profuse-pgo/profuse/internal/files/store/storetest"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	storetest.Run(t, func(*testing.T) store.Store { return store.NewFolder(dir) })
}

// TestFolderStays: keys do not lead out of the folder.
func TestFolderStays(t *testing.T) {
	dir := t.TempDir()
	s := store.NewFolder(filepath.Join(dir, "in"))
	for _, key := range []string{"../out", "a/../../out", "/out", "", ".", "a//b", "a/"} {
		for _, err := range []error{
			s.Put(t.Context(), key, strings.NewReader("x")),
			s.Create(t.Context(), key, []byte("x")),
			s.Delete(t.Context(), key),
			func() error { _, err := s.Stat(t.Context(), key); return err }(),
			func() error { _, err := s.Open(t.Context(), store.Object{Key: key}, 0, -1); return err }(),
		} {
			if e := (*store.Error)(nil); !errors.As(err, &e) || !e.Fatal {
				t.Errorf("%q: %v", key, err)
			}
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestLocations opens stores by the words of a command line.
func TestLocations(t *testing.T) {
	dir := t.TempDir()
	for location, want := range map[string]string{
		dir:                        dir,
		"file://" + dir:            dir,
		"file://localhost" + dir:   dir,
		"relative/x":               filepath.Join("relative", "x"),
		`C:\profiles`:              `C:\profiles`,
		"file://host/x":            "file:///",
		"s3://bucket/x":            "profuse-fleet",
		"s3://key:secret@bucket/x": "must not contain credentials",
	} {
		s, key, err := store.Drivers(nil).Open(t.Context(), location)
		got := ""
		if err != nil {
			if got = err.Error(); strings.Contains(got, "secret") {
				t.Errorf("%s: %v", location, err)
			}
		} else {
			got = s.URL(key)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", location, got, want)
		}
	}
}

// TestFileURLs: file:// names a file, a folder, or a pattern, as paths do.
func TestFileURLs(t *testing.T) {
	dir := t.TempDir()
	a := store.NewAccess(t.Context(), nil)
	for _, name := range []string{"x/1", "x/y/2", "x-3"} {
		oracle.NoError(t, store.NewFolder(dir).Put(t.Context(), name, strings.NewReader(name)))
	}
	for location, want := range map[string]string{"/x/1": "[1]", "/x": "[1 y/2]", "/x/": "[1 y/2]", "/x*": "[x-3]", "/*/1": "[x/1]", "/z": "[]"} {
		found, err := a.Find("file://" + filepath.ToSlash(dir) + location)
		var paths []string
		for _, f := range found {
			paths = append(paths, f.Path)
		}
		if got := fmt.Sprint(paths); got != want || (err == nil) != (want != "[]") {
			t.Errorf("%s: %s, want %s (%v)", location, got, want, err)
		}
	}
	out, err := a.Create("file://" + filepath.ToSlash(dir) + "/new/4")
	if err == nil {
		_, err = out.WriteString("4")
	}
	if err == nil {
		err = out.Commit()
	}
	if data, readErr := os.ReadFile(filepath.Join(dir, "new", "4")); err != nil || string(data) != "4" {
		t.Error(err, readErr)
	}
}

// TestNoPermission: the reason of a failure is in the error.
func TestNoPermission(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may do everything")
	}
	dir := t.TempDir()
	oracle.NoError(t, os.Chmod(dir, 0o500))
	if err := store.NewFolder(dir).Put(t.Context(), "a/b", strings.NewReader("x")); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
}

func TestBelow(t *testing.T) {
	for location, want := range map[string]string{
		"a":                   "a/x",
		"a/":                  "a/x",
		"s3://b":              "s3://b/x",
		"s3://b/p/":           "s3://b/p/x",
		"s3://b/p?region=eu":  "s3://b/p/x?region=eu",
		"s3://b/p/?region=eu": "s3://b/p/x?region=eu",
	} {
		if got := filepath.ToSlash(store.Below(location, "x")); got != want {
			t.Errorf("%s: %s, want %s", location, got, want)
		}
		if store.IsPrefix(location) != strings.Contains(location+"?", "/?") {
			t.Errorf("%s: prefix %v", location, store.IsPrefix(location))
		}
	}
}
