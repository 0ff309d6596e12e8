package sourcepath

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestBelow(t *testing.T) {
	for _, c := range []struct {
		file, dir, rest string
		ok              bool
	}{
		{"/src/a.c", "/src", "a.c", true},
		{"/src/a.c", "/src/", "a.c", true},
		{"/src/a.c", "/", "src/a.c", true},
		{"/srcs/a.c", "/src", "/srcs/a.c", false},
		{"/SRC/a.c", "/src", "/SRC/a.c", false},
		{"/src", "/src", "/src", false},
		{"src/a.c", "/src", "src/a.c", false},
		{`C:\Work\x\a.c`, `c:/work`, "x/a.c", true},
		{`C:\Work\x\a.c`, `c:\wor`, `C:\Work\x\a.c`, false},
		{`\\server\share\a.c`, `\\SERVER\share\`, "a.c", true},
	} {
		if rest, ok := Below(c.file, c.dir); rest != c.rest || ok != c.ok {
			t.Errorf("%s below %s: %s, %t", c.file, c.dir, rest, ok)
		}
	}
}

func TestClean(t *testing.T) {
	for file, want := range map[string]string{
		"/repo/build/../src//a.c": "/repo/src/a.c", "a.c": "a.c", `C:\repo\build\..\a.c`: `C:\repo\a.c`, `\\server\a.c`: `\\server\a.c`,
	} {
		if got := Clean(file); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

// TestRepositories has a repository with a submodule, a worktree, a nested repository, and links to them.
func TestRepositories(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	oracle.NoError(t, err)
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, name := range []string{"app/.git/x", "app/src/a.c", "app/sub/a.c", "app/deps/nested/.git/x", "tree/src/a.c", "other/.hg/x", "build/gen.c", "app/odd/a.c"} {
		oracle.NoError(t, os.MkdirAll(filepath.Dir(at(name)), 0o777))
		oracle.WriteFile(t, at(name), nil)
	}
	oracle.WriteFile(t, at("app/sub/.git"), []byte("gitdir: ../.git/modules/sub\n"))
	oracle.WriteFile(t, at("tree/.git"), []byte("gitdir: "+at("app/.git/worktrees/tree")+"\n"))
	oracle.WriteFile(t, at("app/odd/.git"), []byte("gitdir: /x/.git/modules/odd/worktrees/odd\n")) // the worktree of a submodule
	oracle.NoError(t, os.Symlink(at("app"), at("link")))
	for _, c := range []struct {
		in    string // current folder
		files []string
		want  []string
	}{
		{"build", []string{"app/src/a.c", "app/gone/b.c", "other/a.c", "build/gen.c"}, []string{"app"}},
		{"build", []string{"app/sub/a.c"}, []string{"app"}},
		{"build", []string{"app/deps/nested/a.c"}, []string{"app/deps/nested"}},
		{"app/src", []string{"app/deps/nested/a.c", "app/deps/nested/b.c", "app/src/a.c"}, []string{"app"}},
		{"build", []string{"tree/src/a.c"}, []string{"tree"}},
		{"build", []string{"app/odd/a.c"}, []string{"app/odd"}},
		{"other", []string{"app/src/a.c", "app/src/b.c", "other/a.c"}, []string{"other"}},
		{"link/src", []string{"app/src/a.c", "link/src/b.c", "other/a.c"}, []string{"app", "link"}},
		{"build", []string{"build/gen.c", "nowhere/a.c"}, nil},
		{"build", nil, nil},
	} {
		t.Run("", func(t *testing.T) {
			t.Chdir(at(c.in))
			var files, want []string
			for _, file := range c.files {
				files = append(files, at(file))
			}
			for _, root := range c.want {
				want = append(want, at(root))
			}
			if got := Repositories(append(files, "src/a.c", "")); !reflect.DeepEqual(got, want) {
				t.Errorf("%v in %s: %v, want %v", c.files, c.in, got, want)
			}
		})
	}
}
