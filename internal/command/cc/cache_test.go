package cc

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestCacheDir: what the environment says comes first, and what would depend on
// the folder of the build does not count.
func TestCacheDir(t *testing.T) {
	t.Setenv("HOME", "/home/user")
	t.Setenv("XDG_CACHE_HOME", "")
	own, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	xdg := filepath.Join(t.TempDir(), "xdg")
	for _, c := range []struct {
		profuse, xdg, want string
	}{
		{"", "", filepath.Join(own, "profuse")},
		{"", xdg, filepath.Join(xdg, "profuse")},
		{"", "relative", filepath.Join(own, "profuse")},
		{"mine", xdg, "mine"},
	} {
		d := &driver{temp: "temp", env: Env{Getenv: func(name string) string {
			return map[string]string{"PROFUSE_CACHE": c.profuse, "XDG_CACHE_HOME": c.xdg}[name]
		}}}
		if got := d.cacheDir(); got != c.want {
			t.Errorf("PROFUSE_CACHE %q, XDG_CACHE_HOME %q: %q, want %q", c.profuse, c.xdg, got, c.want)
		}
	}
}

// TestStoreFails: what cannot be stored leaves nothing in the cache.
func TestStoreFails(t *testing.T) {
	dir := t.TempDir()
	oracle.WriteFile(t, filepath.Join(dir, "file"), []byte("old"))
	if err := os.MkdirAll(filepath.Join(dir, "taken", "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file/runtime.o", "taken"} {
		if err := store(filepath.Join(dir, name), []byte("new")); err == nil {
			t.Errorf("%s was stored", name)
		}
	}
	if err := store(filepath.Join(dir, "new", "runtime.o"), []byte("new")); err != nil {
		t.Error(err)
	}
	var left string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left += e.Name() + " "
	}
	if left != "file new taken " {
		t.Errorf("left %s", left)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(data) != "old" {
		t.Errorf("%q, %v", data, err)
	}
}
